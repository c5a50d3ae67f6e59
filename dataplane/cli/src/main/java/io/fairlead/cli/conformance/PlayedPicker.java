package io.fairlead.cli.conformance;

import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.EndpointState;
import io.fairlead.scheduler.v1.PickerHello;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A picker's side of one stream, on a connection of its own. Looks at all that comes: an answer to
 * a request that waits for none, and an endpoint that is not there, fail whatever case it is.
 */
final class PlayedPicker implements AutoCloseable {

  private static final int VERSION = 1;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** The stream ended, as a message that none sends. */
  private static final SchedulerMessage END =
      SchedulerMessage.newBuilder().addDecisions(Decision.newBuilder().setRequest(-1)).build();

  private record Came(SchedulerMessage message, long at) {}

  private final ManagedChannel connection;
  private final long patience;
  private final BlockingQueue<Came> came = new LinkedBlockingQueue<>();
  private final Map<Integer, String> endpoints = new HashMap<>();

  /** When each was asked about. */
  private final Map<Long, Long> waiting = new HashMap<>();

  private final Set<Long> answered = new HashSet<>();
  private final List<Long> nanos = new ArrayList<>();
  private @Nullable Decision last;
  private volatile @Nullable ClientCallStreamObserver<PickerMessage> call;
  private volatile String end = "";

  PlayedPicker(SchedulerUnderTest scheduler) {
    patience = scheduler.patience().toNanos();
    connection = scheduler.connect();
    var _ =
        SchedulerGrpc.newStub(connection)
            .schedule(
                new ClientResponseObserver<PickerMessage, SchedulerMessage>() {
                  @Override
                  public void beforeStart(ClientCallStreamObserver<PickerMessage> started) {
                    call = started;
                  }

                  @Override
                  public void onNext(SchedulerMessage message) {
                    came.add(new Came(message, System.nanoTime()));
                  }

                  @Override
                  public void onError(Throwable thrown) {
                    end = "the stream broke: " + said(Status.fromThrowable(thrown));
                    came.add(new Came(END, 0));
                  }

                  @Override
                  public void onCompleted() {
                    end = "the scheduler ended the stream";
                    came.add(new Came(END, 0));
                  }
                });
  }

  static String said(Status status) {
    Throwable cause = status.getCause();
    String why =
        cause == null || cause.getMessage() == null ? status.getDescription() : cause.getMessage();
    return why == null ? status.getCode().toString() : status.getCode() + ", " + why;
  }

  /** Says hello and has it answered. */
  PlayedPicker greet(int version) throws FailedCaseException {
    send(
        PickerMessage.newBuilder()
            .setHello(
                PickerHello.newBuilder()
                    .setVersion(version)
                    .setPool("default/conformance")
                    .setTimeoutMicros(20_000)));
    Came first = next(patience);
    if (first == null) {
      throw new FailedCaseException(
          "nothing came for %d ms after the picker's hello; answer it with a hello at once"
              .formatted(patience / NANOS_PER_MILLI));
    }
    if (!first.message.hasHello()) {
      throw new FailedCaseException("its first message has no hello; a picker asks it nothing");
    }
    int spoken = first.message.getHello().getVersion();
    if (spoken != VERSION) {
      throw new FailedCaseException(
          "it speaks version %d; say the one that is spoken from here on: %d"
              .formatted(spoken, VERSION));
    }
    take(first);
    return this;
  }

  PlayedPicker greet() throws FailedCaseException {
    return greet(VERSION);
  }

  /** Endpoints with these numbers and names, as they are when nobody has come yet. */
  static PickerMessage.Builder there(int from, int to) {
    PickerMessage.Builder message = PickerMessage.newBuilder();
    for (int number = from; number <= to; number++) {
      message
          .addEndpoints(
              Endpoint.newBuilder()
                  .setNumber(number)
                  .setName("server-" + number)
                  .setAddress("10.0.0.1")
                  .setPort(8_000)
                  .putLabels("app", "model-server"))
          .addStates(state(number));
    }
    return message;
  }

  static EndpointState.Builder state(int number) {
    return EndpointState.newBuilder()
        .setEndpoint(number)
        .setInUse(true)
        .setKvUsage(0.25)
        .setKvCapacityTokens(400_000);
  }

  static Request.Builder request(long id) {
    return Request.newBuilder()
        .setId(id)
        .setModel("llama")
        .setTargetModel("llama-v1")
        .setPromptTokens(500)
        .setMaxOutputTokens(100)
        .setPriority(1)
        .setStreamed(true);
  }

  /** Sends it, and remembers what it says. */
  void send(PickerMessage.Builder message) {
    message.getRemovedList().forEach(endpoints::remove);
    message.getEndpointsList().forEach(one -> endpoints.put(one.getNumber(), one.getName()));
    long now = System.nanoTime();
    message.getRequestsList().forEach(one -> waiting.put(one.getId(), now));
    Objects.requireNonNull(call).onNext(message.build());
  }

  /** All that were asked about are answered. */
  void awaitAnswers() throws FailedCaseException {
    long until = System.nanoTime() + patience;
    while (!waiting.isEmpty()) {
      Came next = next(until - System.nanoTime());
      if (next == null) {
        throw new FailedCaseException(
            "%d of %d requests were not answered within %d ms; answer each, without endpoints if you have no opinion"
                .formatted(
                    waiting.size(), waiting.size() + answered.size(), patience / NANOS_PER_MILLI));
      }
      take(next);
    }
  }

  /** Nothing that nobody waits for comes in a while. */
  void awaitSilence(long nanosOfIt) throws FailedCaseException {
    long until = System.nanoTime() + nanosOfIt;
    for (Came next = next(until - System.nanoTime());
        next != null;
        next = next(until - System.nanoTime())) {
      take(next);
    }
  }

  private void take(Came next) throws FailedCaseException {
    for (Decision decision : next.message.getDecisionsList()) {
      Long asked = waiting.remove(decision.getRequest());
      if (asked == null) {
        throw new FailedCaseException(
            answered.contains(decision.getRequest())
                ? "request " + decision.getRequest() + " was answered twice; answer each once"
                : "it decides on request "
                    + Long.toUnsignedString(decision.getRequest())
                    + ", which was not asked; give back the id as it came");
      }
      answered.add(decision.getRequest());
      nanos.add(next.at - asked);
      look(decision);
    }
  }

  private void look(Decision decision) throws FailedCaseException {
    Set<Integer> named = new HashSet<>();
    for (int number : decision.getEndpointsList()) {
      if (!endpoints.containsKey(number)) {
        throw new FailedCaseException(
            "it names endpoint %d, and there are %s in this stream; forget those that were removed, and all of other streams"
                .formatted(number, endpoints.size() > 8 ? "others" : endpoints.keySet()));
      }
      if (!named.add(number)) {
        throw new FailedCaseException("it names endpoint " + number + " twice; name each once");
      }
    }
    int scores = decision.getScoresCount();
    if (scores != 0 && scores != named.size()) {
      throw new FailedCaseException(
          "%d scores came with %d endpoints; give one for each, or none"
              .formatted(scores, named.size()));
    }
    for (double score : decision.getScoresList()) {
      if (!Double.isFinite(score)) {
        throw new FailedCaseException("a score is " + score + "; give finite ones");
      }
    }
    last = decision;
  }

  /** The decision that came last. */
  Decision last() {
    return Objects.requireNonNull(last);
  }

  /** Waits for it, and fails with the stream. */
  private @Nullable Came next(long nanosOfIt) throws FailedCaseException {
    try {
      Came next = came.poll(Math.max(0, nanosOfIt), TimeUnit.NANOSECONDS);
      if (next != null && next.message.equals(END)) {
        throw new FailedCaseException(end + "; keep it open until the picker ends it");
      }
      return next;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new FailedCaseException("interrupted");
    }
  }

  /** The picker needs it no more: the scheduler is to end the stream, too. */
  void finish() throws FailedCaseException {
    Objects.requireNonNull(call).onCompleted();
    long until = System.nanoTime() + patience;
    try {
      for (Came next = came.poll(patience, TimeUnit.NANOSECONDS);
          next != null;
          next = came.poll(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        if (next.message.equals(END)) {
          return;
        }
        take(next);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    throw new FailedCaseException(
        "%d ms after the picker ended the stream, the scheduler has not; end it, or it leaks"
            .formatted(patience / NANOS_PER_MILLI));
  }

  /** How long the answers took, the shortest first. */
  long[] sorted() {
    long[] all = nanos.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(all);
    return all;
  }

  /** As of a picker that is killed. */
  @Override
  public void close() {
    connection.shutdownNow();
  }
}
