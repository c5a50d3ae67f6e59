package io.fairlead.cli.conformance;

import static io.fairlead.cli.conformance.PlayedPicker.request;
import static io.fairlead.cli.conformance.PlayedPicker.state;
import static io.fairlead.cli.conformance.PlayedPicker.there;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.fairlead.scheduler.v1.Endpoint;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.PrefixMatch;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** All that an external scheduler is held against, in the order of the table. */
final class SchedulerCases {

  private static final int UNKNOWN_FIELD = 1_000;
  private static final int BATCH = 64;
  private static final int PACED = 200;
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(300);

  /** Of answers, one in so many may be late: the machine may be busy. */
  private static final int LATE_OF = 20;

  private final SchedulerUnderTest scheduler;
  private final Set<String> only;
  private final Set<String> known = new LinkedHashSet<>();
  private final List<CaseResult> results = new ArrayList<>();

  /**
   * Nothing was played.
   *
   * @param only names of those to play; empty for all
   */
  SchedulerCases(SchedulerUnderTest scheduler, Set<String> only) {
    this.scheduler = scheduler;
    this.only = only;
  }

  private interface Case {
    void play() throws FailedCaseException;
  }

  /**
   * Plays them, each on a connection of its own.
   *
   * @throws IllegalArgumentException if none is called like one of those to play
   */
  List<CaseResult> run() {
    required("hello", "answers the picker's hello with its own", () -> picker().close());
    required("newer-picker", "speaks version 1 with a picker that knows more", this::newer);
    required("one-request", "answers a request", this::one);
    required("batch", "answers every request of a batch, each once", this::batch);
    required("many-messages", "answers requests that come one by one, each once", this::many);
    required("large-id", "gives ids of 64 bits back as they came", this::largeId);
    required("removed", "names no endpoint that was removed", this::removed);
    required("added", "takes endpoints that are added in", this::added);
    required("in-order", "takes all that a message says before its requests", this::inOrder);
    required(
        "restarted", "takes an endpoint in that has the name of one that goes", this::restarted);
    required("described-anew", "takes other labels, and a state of one", this::described);
    required("no-endpoints", "leaves requests while there are no endpoints", this::none);
    required("unknown-fields", "passes over fields that it doesn't know", this::unknown);
    required("empty-message", "passes over a message that says nothing", this::empty);
    required("large-pool", "takes 5,000 endpoints, in several messages", this::large);
    required("two-pickers", "keeps the endpoints of two streams apart", this::two);
    required("reconnect", "begins anew when a picker comes again", this::reconnect);
    required("killed-picker", "serves others after one was cut off", this::killed);
    required("deadline", "answers within the timeout, 19 times in 20", this::deadline);
    required("leave", "ends the stream when the picker does", this::leave);
    should("allowed", "names only endpoints that a request may go to", this::allowed);
    should("health", "answers grpc.health.v1.Health/Check", this::health);
    should("socket-mode", "lets other users use its socket", this::socket);
    for (String name : only) {
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "--case is " + name + "; there are " + String.join(", ", known));
      }
    }
    return results;
  }

  private void required(String name, String meaning, Case played) {
    play(name, meaning, true, played);
  }

  private void should(String name, String meaning, Case played) {
    play(name, meaning, false, played);
  }

  private void play(String name, String meaning, boolean required, Case played) {
    known.add(name);
    if (!only.isEmpty() && !only.contains(name)) {
      return;
    }
    String problem = "";
    try {
      played.play();
    } catch (FailedCaseException e) {
      problem = String.valueOf(e.getMessage());
    }
    results.add(new CaseResult(name, meaning, required, problem));
  }

  private PlayedPicker picker() throws FailedCaseException {
    PlayedPicker picker = new PlayedPicker(scheduler);
    try {
      return picker.greet();
    } catch (FailedCaseException e) {
      picker.close();
      throw e;
    }
  }

  private void newer() throws FailedCaseException {
    try (PlayedPicker picker = new PlayedPicker(scheduler)) {
      picker.greet(7);
    }
  }

  private void one() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 3));
      ask(picker, 1, 1);
    }
  }

  /** Asks, in one message, and has all answered. */
  private static void ask(PlayedPicker picker, long firstId, int count) throws FailedCaseException {
    PickerMessage.Builder batch = PickerMessage.newBuilder();
    for (int i = 0; i < count; i++) {
      batch.addRequests(
          request(firstId + i)
              .addPrefixMatches(PrefixMatch.newBuilder().setEndpoint(2).setCachedTokens(320)));
    }
    picker.send(batch);
    picker.awaitAnswers();
  }

  private void batch() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 3));
      ask(picker, 1, BATCH);
      picker.awaitSilence(QUIET_NANOS);
    }
  }

  private void many() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 3));
      for (int i = 1; i <= PACED; i++) {
        picker.send(PickerMessage.newBuilder().addRequests(request(i)));
      }
      picker.awaitAnswers();
      picker.awaitSilence(QUIET_NANOS);
    }
  }

  private void largeId() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 1));
      ask(picker, (1L << 53) + 1, 1);
      ask(picker, -2, 1); // 2^64 - 2
    }
  }

  private void removed() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 4));
      ask(picker, 1, BATCH);
      picker.send(PickerMessage.newBuilder().addRemoved(1).addRemoved(2).addRemoved(3));
      ask(picker, 1_000, BATCH);
    }
  }

  private void added() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 2));
      ask(picker, 1, 4);
      picker.send(there(7, 7).addRemoved(1).addRemoved(2));
      ask(picker, 100, BATCH);
      mustChoose(picker);
    }
  }

  /** As a picker sends it that has both to tell. */
  private void inOrder() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 2).addRequests(request(1)));
      picker.awaitAnswers();
      mustChoose(picker);
      picker.send(there(3, 3).addRemoved(1).addRemoved(2).addRequests(request(2)));
      picker.awaitAnswers();
      mustChoose(picker);
    }
  }

  /** A pod of a StatefulSet comes back under its name, and is another endpoint. */
  private void restarted() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 1));
      ask(picker, 1, 1);
      PickerMessage.Builder again = there(2, 2).addRemoved(1);
      again.getEndpointsBuilder(0).setName("server-1");
      picker.send(again);
      ask(picker, 2, 1);
      mustChoose(picker);
    }
  }

  private static void mustChoose(PlayedPicker picker) throws FailedCaseException {
    if (picker.last().getEndpointsCount() == 0) {
      throw new FailedCaseException(
          "it leaves a request though an endpoint is there, idle and in use; name it");
    }
  }

  private void described() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 2));
      ask(picker, 1, 1);
      picker.send(
          PickerMessage.newBuilder()
              .addEndpoints(
                  Endpoint.newBuilder()
                      .setNumber(1)
                      .setName("server-1")
                      .setAddress("10.0.0.1")
                      .setPort(8_000)
                      .putLabels("zone", "west"))
              .addStates(state(2).setWaiting(9).setRunning(200).setKvUsage(-1)));
      ask(picker, 2, BATCH);
    }
  }

  private void none() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      ask(picker, 1, 1);
      picker.send(there(1, 1));
      ask(picker, 2, 1);
      picker.send(PickerMessage.newBuilder().addRemoved(1));
      ask(picker, 3, 1);
    }
  }

  private void unknown() throws FailedCaseException {
    UnknownFieldSet later =
        UnknownFieldSet.newBuilder()
            .addField(
                UNKNOWN_FIELD,
                UnknownFieldSet.Field.newBuilder()
                    .addLengthDelimited(ByteString.copyFromUtf8("of a later version"))
                    .build())
            .build();
    try (PlayedPicker picker = picker()) {
      PickerMessage.Builder message = there(1, 2).setUnknownFields(later);
      message.getEndpointsBuilder(0).setUnknownFields(later);
      message.getStatesBuilder(0).setUnknownFields(later);
      picker.send(message);
      picker.send(PickerMessage.newBuilder().addRequests(request(1).setUnknownFields(later)));
      picker.awaitAnswers();
    }
  }

  private void empty() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(PickerMessage.newBuilder());
      picker.send(there(1, 1));
      picker.send(PickerMessage.newBuilder());
      ask(picker, 1, 1);
    }
  }

  private void large() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      for (int from = 1; from < 5_000; from += 1_000) {
        picker.send(there(from, from + 999));
      }
      ask(picker, 1, BATCH);
    }
  }

  private void two() throws FailedCaseException {
    try (PlayedPicker one = picker();
        PlayedPicker other = picker()) {
      one.send(there(1, 3));
      other.send(there(11, 13));
      for (int round = 0; round < 8; round++) {
        ask(one, 1 + round * BATCH, BATCH);
        ask(other, 1 + round * BATCH, BATCH);
      }
    }
  }

  private void reconnect() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 3));
      ask(picker, 1, BATCH);
      picker.finish();
    }
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 1));
      ask(picker, 1, BATCH);
      mustChoose(picker);
    }
  }

  private void killed() throws FailedCaseException {
    for (int i = 0; i < 5; i++) {
      try (PlayedPicker picker = picker()) {
        picker.send(there(1, 3));
        PickerMessage.Builder batch = PickerMessage.newBuilder();
        for (int id = 1; id <= BATCH; id++) {
          batch.addRequests(request(id));
        }
        picker.send(batch);
      }
    }
    one();
  }

  private void deadline() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 16));
      ask(picker, 1, BATCH); // the first ones find it cold
      for (int i = 0; i < 10; i++) {
        ask(picker, 1_000 + i, 1);
      }
    }
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 16));
      for (int i = 1; i <= PACED; i++) {
        ask(picker, i, 1);
      }
      long[] took = picker.sorted();
      long limit = scheduler.timeout().toNanos();
      int late = 0;
      for (long nanos : took) {
        late += nanos > limit ? 1 : 0;
      }
      if (late * LATE_OF > took.length) {
        throw new FailedCaseException(
            "%d of %d answers came after %d ms, half of them after %.1f ms; a picker has decided by then: be quicker, or give its config a longer timeout (and --timeout)"
                .formatted(
                    late,
                    took.length,
                    scheduler.timeout().toMillis(),
                    took[took.length / 2] / 1e6));
      }
    }
  }

  private void leave() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 3));
      ask(picker, 1, 4);
      picker.finish();
    }
  }

  private void allowed() throws FailedCaseException {
    try (PlayedPicker picker = picker()) {
      picker.send(there(1, 8));
      for (int i = 1; i <= 8; i++) {
        picker.send(PickerMessage.newBuilder().addRequests(request(i).addAllowed(i)));
        picker.awaitAnswers();
        for (int named : picker.last().getEndpointsList()) {
          if (named != i) {
            throw new FailedCaseException(
                "it names endpoint %d for a request whose gateway allows %d alone; the picker passes over it"
                    .formatted(named, i));
          }
        }
      }
    }
  }

  private void health() throws FailedCaseException {
    ManagedChannel connection = scheduler.connect();
    try {
      ServingStatus status =
          HealthGrpc.newBlockingStub(connection)
              .withDeadlineAfter(scheduler.patience())
              .check(HealthCheckRequest.getDefaultInstance())
              .getStatus();
      if (status != ServingStatus.SERVING) {
        throw new FailedCaseException("its health is " + status + "; say SERVING");
      }
    } catch (StatusRuntimeException e) {
      throw new FailedCaseException(
          "it can't be asked after its health, %s; a readiness probe of Kubernetes needs it"
              .formatted(PlayedPicker.said(e.getStatus())));
    } finally {
      connection.shutdownNow();
    }
  }

  private void socket() throws FailedCaseException {
    Path socket = scheduler.socket();
    if (socket == null) {
      return;
    }
    try {
      Set<PosixFilePermission> mode = Files.getPosixFilePermissions(socket);
      if (!mode.contains(PosixFilePermission.OTHERS_WRITE)) {
        throw new FailedCaseException(
            socket + " is closed to other users, and a picker beside it is one; chmod 0777 it");
      }
    } catch (IOException e) {
      throw new FailedCaseException("the socket can't be looked at: " + e);
    }
  }
}
