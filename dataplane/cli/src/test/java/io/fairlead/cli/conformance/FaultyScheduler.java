package io.fairlead.cli.conformance;

import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** Names every endpoint for every request, with one fault that people make. */
final class FaultyScheduler extends SchedulerGrpc.SchedulerImplBase implements AutoCloseable {

  enum Fault {
    SAYS_NO_HELLO("hello"),
    BEGINS_WITH_AN_ANSWER("hello"),
    ECHOES_THE_VERSION("newer-picker"),
    NEVER_ANSWERS("one-request"),
    ANSWERS_NAN("one-request"),
    ANSWERS_TOO_FEW_SCORES("one-request"),
    ANSWERS_THE_FIRST_OF_A_BATCH("batch"),
    ANSWERS_AGAIN_LATER("batch"),
    ANSWERS_ALL_THERE_EVER_WERE("many-messages"),
    COUNTS_IDS_IN_DOUBLES("large-id"),
    KEEPS_THE_REMOVED("removed"),
    LEARNS_ONCE("added"),
    DECIDES_BEFORE_IT_LEARNS("in-order"),
    FORGETS_BY_NAME("restarted"),
    TAKES_UNKNOWN_USAGE_FOR_A_NUMBER("described-anew"),
    NEEDS_AN_ENDPOINT("no-endpoints"),
    IS_STRICT("unknown-fields"),
    ENDS_AT_NOTHING("empty-message"),
    HAS_ROOM_FOR_A_THOUSAND("large-pool"),
    SHARES_ENDPOINTS("two-pickers"),
    REMEMBERS_THE_LAST_STREAM("reconnect"),
    DIES_WITH_A_PICKER("killed-picker"),
    IS_SLOW("deadline"),
    NEVER_ENDS("leave"),
    PASSES_OVER_ALLOWED("allowed"),
    HAS_NO_HEALTH("health"),
    CLOSES_ITS_SOCKET("socket-mode");

    /** The case that has to tell. */
    final String failing;

    Fault(String failing) {
      this.failing = failing;
    }
  }

  private final Fault fault;
  private final Map<Integer, EndpointState> shared = new TreeMap<>();
  private final ScheduledExecutorService later = Executors.newSingleThreadScheduledExecutor();
  private volatile boolean dead;

  FaultyScheduler(Fault fault) {
    this.fault = fault;
  }

  @Override
  public void close() {
    later.shutdownNow();
  }

  @Override
  public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> picker) {
    boolean shares = fault == Fault.SHARES_ENDPOINTS || fault == Fault.REMEMBERS_THE_LAST_STREAM;
    return new Stream(picker, shares ? shared : new TreeMap<>());
  }

  /** On the one thread of the server. */
  private final class Stream implements StreamObserver<PickerMessage> {
    private final StreamObserver<SchedulerMessage> picker;
    private final Map<Integer, EndpointState> endpoints;
    private final SchedulerMessage.Builder ever = SchedulerMessage.newBuilder();
    private final Map<Integer, String> names = new TreeMap<>();
    private boolean learnt;
    private boolean over;

    Stream(StreamObserver<SchedulerMessage> picker, Map<Integer, EndpointState> endpoints) {
      this.picker = picker;
      this.endpoints = endpoints;
    }

    @Override
    public void onNext(PickerMessage message) {
      if (over) {
        return;
      }
      try {
        take(message);
      } catch (RuntimeException e) {
        over = true;
        picker.onError(Status.INTERNAL.withDescription(String.valueOf(e)).asException());
      }
    }

    private void take(PickerMessage message) {
      refuse(fault == Fault.DIES_WITH_A_PICKER && dead);
      refuse(fault == Fault.IS_STRICT && !message.getUnknownFields().asMap().isEmpty());
      refuse(fault == Fault.ENDS_AT_NOTHING && message.equals(PickerMessage.getDefaultInstance()));
      SchedulerMessage.Builder answer = SchedulerMessage.newBuilder();
      if (message.hasHello()) {
        hello(message, answer);
      }
      if (fault != Fault.DECIDES_BEFORE_IT_LEARNS) {
        learn(message);
      }
      int count = message.getRequestsCount();
      for (int i = 0; i < count; i++) {
        if (fault != Fault.NEVER_ANSWERS
            && (i == 0 || fault != Fault.ANSWERS_THE_FIRST_OF_A_BATCH)) {
          answer.addDecisions(decide(message.getRequests(i)));
        }
      }
      if (fault == Fault.DECIDES_BEFORE_IT_LEARNS) {
        learn(message);
      }
      if (!answer.hasHello() && answer.getDecisionsCount() == 0) {
        return;
      }
      SchedulerMessage built = answer.build();
      if (fault == Fault.IS_SLOW && built.getDecisionsCount() > 0) {
        var _ = later.schedule(() -> picker.onNext(built), 60, TimeUnit.MILLISECONDS);
      } else {
        picker.onNext(built);
      }
      if (fault == Fault.ANSWERS_AGAIN_LATER && count > 1) {
        var _ = later.schedule(() -> picker.onNext(built), 50, TimeUnit.MILLISECONDS);
      }
    }

    private static void refuse(boolean that) {
      if (that) {
        throw new IllegalStateException("not for me");
      }
    }

    private void hello(PickerMessage message, SchedulerMessage.Builder answer) {
      switch (fault) {
        case SAYS_NO_HELLO -> {}
        case BEGINS_WITH_AN_ANSWER -> answer.addDecisions(Decision.newBuilder().setRequest(1));
        case ECHOES_THE_VERSION ->
            answer.setHello(
                SchedulerHello.newBuilder().setVersion(message.getHello().getVersion()));
        default -> answer.setHello(SchedulerHello.newBuilder().setVersion(1).setName("faulty"));
      }
    }

    private void learn(PickerMessage message) {
      if (fault != Fault.KEEPS_THE_REMOVED) {
        message.getRemovedList().forEach(endpoints::remove);
      }
      if (fault == Fault.LEARNS_ONCE && learnt) {
        return;
      }
      for (Endpoint endpoint : message.getEndpointsList()) {
        learnt = true;
        endpoints.putIfAbsent(endpoint.getNumber(), EndpointState.getDefaultInstance());
        names.put(endpoint.getNumber(), endpoint.getName());
      }
      if (fault == Fault.FORGETS_BY_NAME) {
        message.getRemovedList().stream()
            .map(names::get)
            .forEach(gone -> endpoints.keySet().removeIf(number -> gone.equals(names.get(number))));
      }
      refuse(fault == Fault.HAS_ROOM_FOR_A_THOUSAND && endpoints.size() > 1_000);
      for (EndpointState state : message.getStatesList()) {
        endpoints.computeIfPresent(state.getEndpoint(), (number, before) -> state);
      }
    }

    private Decision decide(Request request) {
      refuse(fault == Fault.NEEDS_AN_ENDPOINT && endpoints.isEmpty());
      long id = request.getId();
      Decision.Builder decision =
          Decision.newBuilder()
              .setRequest(fault == Fault.COUNTS_IDS_IN_DOUBLES ? (long) (double) id : id);
      endpoints.forEach(
          (number, state) -> {
            boolean allowed =
                request.getAllowedCount() == 0 || request.getAllowedList().contains(number);
            if (allowed || fault == Fault.PASSES_OVER_ALLOWED) {
              decision.addEndpoints(number).addScores(score(state));
            }
          });
      if (fault == Fault.ANSWERS_TOO_FEW_SCORES) {
        decision.clearScores().addScores(1);
      }
      if (fault == Fault.ANSWERS_ALL_THERE_EVER_WERE) {
        ever.addDecisions(decision);
        ever.getDecisionsList().forEach(one -> picker.onNext(only(one)));
      }
      return decision.build();
    }

    private static SchedulerMessage only(Decision one) {
      return SchedulerMessage.newBuilder().addDecisions(one).build();
    }

    private double score(EndpointState state) {
      return switch (fault) {
        case ANSWERS_NAN -> Double.NaN;
        case TAKES_UNKNOWN_USAGE_FOR_A_NUMBER -> Math.sqrt(state.getKvUsage());
        default -> -state.getInFlight();
      };
    }

    @Override
    public void onError(Throwable thrown) {
      over = true;
      dead = true;
    }

    @Override
    public void onCompleted() {
      if (!over && fault != Fault.NEVER_ENDS) {
        over = true;
        picker.onCompleted();
      }
    }
  }
}
