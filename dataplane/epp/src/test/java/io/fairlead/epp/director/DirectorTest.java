package io.fairlead.epp.director;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.receipt.DecidedRequest;
import io.fairlead.core.receipt.KeptRequest;
import io.fairlead.core.receipt.ReceiptFilter;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.capture.CaptureFields;
import io.fairlead.epp.tokens.PromptTokenizers;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.netty.util.concurrent.AbstractEventExecutor;
import io.netty.util.concurrent.DefaultEventExecutor;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Any interleaving of frontend and pool, drawn from a seed, leaves the accounts straight. */
class DirectorTest {

  private static final long SECOND = 1_000_000_000;
  private static final Rejection EVICTION =
      new Rejection(Rejection.Reason.EVICTED_IN_FLIGHT, Criticality.SHEDDABLE, "make room");
  private static final Failure[] FAILURES = Failure.values();

  /** With room for receipts. */
  private static final PoolLimits LIMITS =
      new PoolLimits(4, 1 << 16, 1 << 20, 1 << 28, Long.MAX_VALUE, 1 << 20);

  private final Logger log = (Logger) LoggerFactory.getLogger(PoolLoop.class);

  /** Thousands of plugins fail here, and each pool would tell of its first. */
  @BeforeEach
  void quiet() {
    log.setLevel(Level.OFF);
  }

  /** Nobody waits for room. */
  private static final SchedulerConfig AT_ONCE =
      new SchedulerConfig(
          List.of(), List.of(), null, Map.of("flowControl", false), null, null, List.of());

  @AfterEach
  void loud() {
    log.setLevel(null);
  }

  @Test
  void everyInterleavingEndsEachRequestOnce() {
    for (long seed = 0; seed < 20_000; seed++) {
      run(seed);
    }
  }

  @Test
  void whatSaysThatTheMachineIsInTroubleIsThrownOnOnceTheRequestIsAnswered() {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    core.configure(
        0,
        compiled(
            List.of(
                new Throwing(
                    () -> {
                      throw new OutOfMemoryError("a plugin's");
                    })),
            new SchedulerConfig(
                List.of(new PluginConfig("throwing", "throwing", Map.of())), List.of(), null)));
    core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())));
    Frontend frontend = new Frontend(0);
    frontend.director = new Director(new PoolLoop(core, loop, () -> 0, terminal), home, frontend);

    home.act(() -> frontend.director.submit(new RequestFacts("m", 0, new long[0], 1, -1, 1)));
    loop.step();
    home.step();

    assertThat(loop.fatal).isEqualTo(1);
    assertThat(frontend.over).as("answered").isTrue();
    assertThat(terminal.calls).isEqualTo(1);
    assertThat(core.active()).isZero();
  }

  /** A page of decisions that nobody's request is among looks at all that are kept. */
  @Test
  void aSearchOfDecisionsIsNoLongTaskOfTheLoop() {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 1 << 20));
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, new Terminal());
    core.configure(0, compiled(List.of(), AT_ONCE));
    core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())));
    for (int i = 0; i < 1_000; i++) {
      submitted(pool, home, true);
      while (loop.step() || home.step()) {
        // until both are quiet
      }
    }
    assertThat(core.receipts().size()).isEqualTo(1_000);

    for (Supplier<Future<?>> asked :
        List.<Supplier<Future<?>>>of(
            () -> pool.decision("nobody's", 1),
            () -> pool.decisions(new ReceiptFilter("other", null, null), 10),
            () -> pool.decisions(ReceiptFilter.ANY, 9_999))) {
      Future<?> found = asked.get();
      int tasks = 0;
      while (!found.isDone()) {
        loop.step();
        tasks++;
      }
      assertThat(tasks).isEqualTo(4);
    }
  }

  @Test
  void theCoreAndItsCaptureAreToldOfTheSameMoment(@TempDir Path folder) throws IOException {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 1 << 20));
    long[] now = {0};
    LongSupplier movesAtEachLook = () -> now[0] += SECOND;
    try (Capture capture =
        Capture.open(
            CaptureConfig.to(folder),
            PoolLimits.DEFAULT,
            () -> 0,
            InstantSource.fixed(Instant.EPOCH))) {
      PoolLoop pool = new PoolLoop(core, loop, movesAtEachLook, new Terminal(), capture);
      core.configure(0, compiled(List.of(), AT_ONCE));
      core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())));
      submitted(pool, home, true);
      while (loop.step() || home.step()) {
        // until both are quiet
      }
      capture.seal();
    }

    long told = core.receipts().newest(ReceiptFilter.ANY, 1).getFirst().arrivedAt();
    try (Stream<Path> files = Files.list(folder)) {
      Path requests =
          files
              .filter(file -> file.toString().endsWith(CaptureFields.REQUESTS_SUFFIX))
              .findAny()
              .orElseThrow();
      assertThat(Files.readString(requests))
          .contains("\"at\":%d,\"event\":\"%s\"".formatted(told, CaptureFields.ARRIVED));
    }
  }

  @Test
  void asManyWaitForADecisionAsMayAndTheNextIsRefused() {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, terminal);
    core.configure(0, compiled(List.of(), AT_ONCE));
    core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())));
    List<Frontend> taken = new ArrayList<>();
    for (int i = 0; i < PoolLoop.MOST_WAITING; i++) {
      taken.add(submitted(pool, home, true));
    }
    Frontend refused = submitted(pool, home, false);

    loop.step();
    taken.add(submitted(pool, home, true));
    Frontend alsoRefused = submitted(pool, home, false);
    while (home.step() || loop.step()) {
      // until both are quiet
    }
    assertThat(taken).allSatisfy(frontend -> assertThat(frontend.routes).hasSize(1));
    assertThat(List.of(refused, alsoRefused))
        .allSatisfy(frontend -> assertThat(frontend.routes).isEmpty());
    assertThat(core.active()).isEqualTo(taken.size());

    for (Frontend frontend : List.of(refused, taken.getFirst())) {
      home.act(() -> frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    }
    while (loop.step()) {
      // what was refused has nothing to tell
    }
    assertThat(core.active()).isEqualTo(taken.size() - 1);
    assertThat(terminal.calls).isEqualTo(1);
  }

  private static Frontend submitted(PoolLoop pool, Steps home, boolean expected) {
    Frontend frontend = new Frontend(0);
    frontend.director = new Director(pool, home, frontend);
    home.act(
        () ->
            assertThat(frontend.director.submit(new RequestFacts("m", 0, new long[0], 1, -1, 1)))
                .isEqualTo(expected));
    return frontend;
  }

  @Test
  void whoseClientGoesWhileItsPromptIsCutIntoTokensIsCounted(@TempDir Path folder)
      throws Exception {
    Files.writeString(folder.resolve("stub-tokenizer"), "");
    PluginConfig events = new PluginConfig("events", "precise-prefix-cache-producer", Map.of());
    PluginConfig tokens =
        new PluginConfig(
            "tokens", "token-producer", Map.of("modelName", "m", "path", folder.toString()));
    CompiledConfig config =
        compiled(List.of(), new SchedulerConfig(List.of(events, tokens), List.of(), null));
    DefaultEventExecutor home = new DefaultEventExecutor();
    Steps loop = new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, terminal);
    core.configure(0, config);
    core.endpoints(0, List.of(new EndpointSpec("e", "1", "10.0.0.1", 1, Map.of())));
    try (PromptTokenizers tokenizers = pool.tokenizers()) {
      tokenizers.configured(config);
      await().until(() -> tokenizers.knows("m"));
      Frontend frontend = new Frontend(0);
      frontend.director = new Director(pool, home, frontend);
      byte[] body = "{\"prompt\":\"so long\"}".getBytes(StandardCharsets.UTF_8);
      home.submit(
              () -> {
                RequestFacts facts = new RequestFacts("m", 0, new long[0], 1, -1, body.length);
                assertThat(frontend.director.submit(facts, "/v1/completions", () -> body)).isTrue();
                frontend.director.end(Outcome.DISCONNECTED, Usage.UNKNOWN);
              })
          .sync();
      while (loop.step()) {
        // until it is quiet
      }
    } finally {
      home.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
    assertThat(terminal.arrived).containsExactly("m");
    assertThat(terminal.calls).as("its client gave up").isEqualTo(1);
    assertThat(core.active()).isZero();
  }

  /** Its client has nothing of that answer, and gets the next one. */
  @Test
  void theHeadOfAFormerAttemptChangesNothing() {
    Scene scene = new Scene(2);
    scene.sent();
    scene.pass(2);
    scene.home.act(() -> scene.frontend.director.head());
    scene.quiet();
    assertThat(scene.frontend.routes).extracting(Route::attempt).containsExactly(1, 2);
    assertThat(scene.frontend.over).isFalse();
    assertThat(scene.core.active()).isOne();
  }

  /** Both have news for the other: the core sends it elsewhere, and its answer begins. */
  @Test
  void anAnswerThatHasBegunIsNotLeftForAnEndpointChosenSince() {
    Scene scene = new Scene(2);
    Route first = scene.sent();

    scene.pass(2);
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    assertThat(scene.frontend.routes).containsExactly(first);
    assertThat(scene.terminal.sentAgain).hasSize(1);
    assertThat(scene.core.snapshot())
        .as("whoever was chosen since never gets it, and has not answered")
        .allMatch(endpoint -> endpoint.inFlight() == 0);
    assertThat(scene.outcome())
        .as("its client is there")
        .isEqualTo(DecidedRequest.ANSWERED_BY_FORMER);

    scene.pass(2);
    scene.quiet();
    assertThat(scene.frontend.over).as("its first byte was told").isFalse();
    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.outcomes).containsExactly(Outcome.COMPLETED);
    assertThat(scene.core.active()).isZero();
    assertThat(scene.core.snapshot()).allMatch(endpoint -> endpoint.inFlight() == 0);
  }

  /** The whole of an answer may come in the moment in which the request is sent elsewhere. */
  @Test
  void theAnswerOfAFormerAttemptIsNoClientThatLeft() {
    Map<Outcome, String> told =
        Map.of(
            Outcome.COMPLETED,
            DecidedRequest.ANSWERED_BY_FORMER,
            Outcome.DISCONNECTED,
            Outcome.DISCONNECTED.code());
    told.forEach(
        (outcome, expected) -> {
          Scene scene = new Scene(2);
          scene.sent();
          scene.pass(2);
          scene.home.act(() -> scene.frontend.director.end(outcome, Usage.UNKNOWN));
          scene.quiet();
          assertThat(scene.outcome()).isEqualTo(expected);
          assertThat(scene.core.active()).isZero();
        });
  }

  /** Its client has some of it, such as a comment that tells it to wait. */
  @Test
  void whatClientsHaveSomeOfIsNotSentElsewhereForWantOfAFirstByte() {
    Scene scene = new Scene(2);
    Route first = scene.sent();
    scene.home.act(() -> scene.frontend.director.answering());
    scene.quiet();

    scene.pass(2);
    scene.quiet();
    assertThat(scene.terminal.sentAgain).isEmpty();
    assertThat(scene.frontend.routes).containsExactly(first);
    assertThat(scene.frontend.over).as("it is broken off").isTrue();
    assertThat(scene.terminal.rejections).containsExactly(Rejection.Reason.FIRST_BYTE_TIMEOUT);
    assertThat(scene.core.active()).isZero();
  }

  /** Bytes of an answer are no sign of life of the endpoint that never got the request. */
  @Test
  void whatComesOfAFormerAttemptIsNotTakenForTheNext() {
    for (int kind = 0; kind < 3; kind++) {
      Scene scene = new Scene(2);
      Route first = scene.sent();
      scene.pass(2);
      String other = first.endpoint().equals("e1") ? "e2" : "e1";
      Director director = scene.frontend.director;
      Runnable late =
          List.<Runnable>of(
                  director::firstByte,
                  director::answering,
                  () -> {
                    director.answering();
                    director.heldUp(true);
                  })
              .get(kind);
      scene.home.act(late);
      scene.quiet();
      assertThat(scene.core.snapshot())
          .filteredOn(endpoint -> endpoint.name().equals(other))
          .allMatch(endpoint -> endpoint.sent() == 1 && endpoint.inFlight() == 0);
      assertThat(scene.frontend.over).isFalse();

      scene.home.act(() -> director.end(Outcome.COMPLETED, Usage.UNKNOWN));
      scene.quiet();
      assertThat(scene.terminal.calls).isOne();
    }
  }

  /** Both have news for the other: the core sends it elsewhere, and the former attempt failed. */
  @Test
  void theFailureOfAnAttemptThatWasGivenUpIsNotThatOfTheNext() {
    Scene scene = new Scene(2);
    Route first = scene.sent();

    scene.pass(2);
    scene.home.act(() -> scene.frontend.director.attemptFailed(Failure.REFUSED));
    scene.quiet();
    assertThat(scene.frontend.routes).extracting(Route::attempt).containsExactly(1, 2);
    Route second = scene.frontend.routes.getLast();
    assertThat(second.endpoint()).isNotEqualTo(first.endpoint());
    assertThat(scene.core.snapshot())
        .filteredOn(endpoint -> endpoint.inFlight() == 1)
        .extracting(EndpointSnapshot::name)
        .containsExactly(second.endpoint());
    assertThat(scene.terminal.sentAgain).as("nobody said how").containsExactly("null");
  }

  @Test
  void anAnswerIsBrokenOffWhereItStops() {
    Scene scene = new Scene(1);
    scene.sent();
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    for (int second = 0; second < 4; second++) {
      scene.pass(2);
      scene.home.act(() -> scene.frontend.director.progress());
      scene.quiet();
    }
    assertThat(scene.frontend.over).as("more of it came").isFalse();

    scene.pass(6);
    scene.quiet();
    assertThat(scene.frontend.over).isTrue();
    assertThat(scene.terminal.rejections).containsExactly(Rejection.Reason.SILENCE_TIMEOUT);
    scene.home.act(() -> scene.frontend.director.end(Outcome.FAILED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.calls).isEqualTo(1);
  }

  /** The core hears of a piece four times a second, and judges silence of less than that. */
  @Test
  void aStreamWithinAShortBoundOnSilenceIsNotBrokenOff() {
    Scene scene = new Scene(1, Duration.ofMillis(100));
    scene.sent();
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    for (int piece = 0; piece < 200; piece++) {
      scene.now += SECOND / 20;
      scene.loop.act(scene.pool::tick);
      scene.home.act(() -> scene.frontend.director.progress());
      scene.quiet();
    }
    assertThat(scene.terminal.rejections).isEmpty();

    for (int tick = 0; tick < 10; tick++) {
      scene.now += SECOND / 20;
      scene.loop.act(scene.pool::tick);
    }
    assertThat(scene.terminal.rejections).containsExactly(Rejection.Reason.SILENCE_TIMEOUT);
  }

  /** Its endpoint began an answer too late, and the next one gave none. */
  @Test
  void theStatusOfAnAttemptThatWasGivenUpIsNotThatOfTheNext() {
    Scene scene = new Scene(2);
    scene.sent();
    scene.home.act(
        () -> {
          scene.frontend.director.status(200);
          scene.frontend.director.head();
        });
    scene.quiet();
    while (scene.frontend.routes.size() < 2) {
      scene.pass(1);
      scene.quiet();
    }
    scene.home.act(() -> scene.frontend.director.attemptFailed(Failure.REFUSED));
    scene.quiet();
    DecidedRequest told = scene.core.receipts().newest(ReceiptFilter.ANY, 1).getFirst();
    KeptRequest kept = Objects.requireNonNull(scene.core.receipts().find(told.id()));
    assertThat(kept.status(1)).isZero();
  }

  /** Both have news for the other: the core has waited for long enough, and its answer begins. */
  @Test
  void anAnswerThatHasBegunIsNotBrokenOffForWantOfAFirstByte() {
    Scene scene = new Scene(1);
    scene.sent();
    scene.pass(2);
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    assertThat(scene.terminal.rejections).containsExactly(Rejection.Reason.FIRST_BYTE_TIMEOUT);
    assertThat(scene.frontend.over).as("broken off").isFalse();

    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.calls).as("counted once").isOne();
    assertThat(scene.core.active()).isZero();
  }

  /** The core has taken it off its endpoint to send it elsewhere, and found nobody. */
  @Test
  void anAnswerThatHasBegunIsNotBrokenOffSinceNobodyElseIsThere() {
    Scene scene = new Scene(1);
    scene.sent();
    Rejection nobody =
        new Rejection(Rejection.Reason.UPSTREAM_FAILED, Criticality.STANDARD, "nobody");
    scene.loop.act(() -> scene.frontend.director.reject(0, nobody));
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    assertThat(scene.frontend.over).isFalse();
    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.calls).as("counted once").isOne();
  }

  /** The core has given it up, alone or for another endpoint, just when it began. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void anAnswerThatTheCoreHasGivenUpIsBrokenOffWhereItStops(int endpoints) {
    Scene scene = new Scene(endpoints);
    Director director = scene.frontend.director;
    scene.sent();
    scene.pass(2);
    scene.home.act(director::firstByte);
    scene.quiet();
    for (int second = 0; second < 8; second++) {
      scene.pass(2);
      scene.home.act(director::progress);
      scene.quiet();
    }
    assertThat(scene.frontend.over).as("more of it came").isFalse();
    scene.home.act(() -> director.heldUp(true));
    scene.quiet();
    scene.pass(20);
    scene.quiet();
    assertThat(scene.frontend.over).as("its client takes no more").isFalse();

    scene.home.act(() -> director.heldUp(false));
    scene.quiet();
    scene.pass(5);
    scene.quiet();
    assertThat(scene.frontend.over).as("it may be silent for so long").isFalse();
    scene.pass(1);
    scene.quiet();
    assertThat(scene.frontend.over).isTrue();
    scene.home.act(() -> director.end(Outcome.FAILED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.rejections)
        .as("counted once")
        .containsExactly(
            endpoints == 1
                ? Rejection.Reason.FIRST_BYTE_TIMEOUT
                : Rejection.Reason.SILENCE_TIMEOUT);
    assertThat(scene.terminal.calls).isOne();
    assertThat(scene.core.active()).isZero();
  }

  @Test
  void anAnswerThatTheCoreHasGivenUpMayTakeNoLongerThanAnyOther() {
    Scene scene = new Scene(2);
    Director director = scene.frontend.director;
    Timeouts total = new Timeouts(null, null, Duration.ofSeconds(20));
    scene.sent(
        new RequestFacts(
            "",
            "m",
            0,
            new long[0],
            PromptSize.ofTokens(1),
            -1,
            1,
            1,
            RequestFacts.Delivery.STREAMED,
            total,
            RequestHeaders.NONE,
            null,
            null));
    scene.pass(2);
    scene.home.act(director::firstByte);
    scene.quiet();
    for (int second = 3; second <= 20; second++) {
      assertThat(scene.frontend.over).isFalse();
      scene.home.act(director::progress);
      scene.quiet();
      scene.pass(1);
      scene.quiet();
    }
    assertThat(scene.frontend.over).isTrue();
    assertThat(scene.terminal.rejections).containsExactly(Rejection.Reason.TOTAL_TIMEOUT);
  }

  @Test
  void anAnswerThatTheCoreHasGivenUpIsForgottenOnceItIsOver() {
    Scene scene = new Scene(2);
    Director director = scene.frontend.director;
    scene.sent();
    scene.pass(2);
    scene.home.act(director::firstByte);
    scene.quiet();
    scene.home.act(() -> director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    scene.pass(10);
    scene.quiet();
    assertThat(scene.frontend.over).isFalse();
    assertThat(scene.terminal.outcomes).containsExactly(Outcome.COMPLETED);
    assertThat(scene.terminal.rejections).isEmpty();
  }

  @Test
  void anAnswerIsThatOfTheEndpointThatGaveItThoughAnotherWasChosenSince() {
    Scene scene = new Scene(2);
    Route first =
        scene.sent(
            new RequestFacts(
                "",
                "m",
                0,
                new long[0],
                PromptSize.ofTokens(1),
                -1,
                1,
                1,
                RequestFacts.Delivery.STREAMED,
                Timeouts.UNSET,
                RequestHeaders.NONE,
                null,
                null));
    scene.pass(2);
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.sentAgain).hasSize(1);
    assertThat(scene.terminal.answeredBy).containsExactly(first.endpoint(), first.endpoint());
  }

  @Test
  void anAnswerOfTheEndpointsOwnIsPassedWhereNobodyElseIsLeft() {
    Scene scene = new Scene(1);
    scene.sent();
    scene.home.act(() -> scene.frontend.director.attemptFailed(Failure.ERROR));
    scene.quiet();
    assertThat(scene.frontend.answering).isTrue();
    scene.home.act(() -> scene.frontend.director.end(Outcome.FAILED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.outcomes).containsExactly(Outcome.FAILED);
  }

  @Test
  void anAnswerThatHasBegunIsNotEvicted() {
    Scene scene = new Scene(1);
    scene.sent();
    scene.home.act(() -> scene.frontend.director.answering());
    scene.evict();
    scene.quiet();
    assertThat(scene.frontend.over).isFalse();
    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, Usage.UNKNOWN));
    scene.quiet();
    assertThat(scene.terminal.outcomes).containsExactly(Outcome.COMPLETED);
    assertThat(scene.terminal.rejections).isEmpty();
  }

  @Test
  void oneThatIsEvictedIsAnsweredFirstAndThenOver() {
    Scene scene = new Scene(2);
    scene.sent();
    scene.evict();
    assertThat(scene.core.active()).isOne();
    scene.quiet();
    assertThat(scene.frontend.over).isTrue();
    assertThat(scene.core.active()).isZero();
    assertThat(scene.core.snapshot()).allMatch(endpoint -> endpoint.inFlight() == 0);
    assertThat(scene.terminal.rejections).containsExactly(EVICTION.reason());
    assertThat(scene.terminal.calls).isOne();
    assertThat(scene.core.receipts().newest(ReceiptFilter.ANY, 1))
        .as("its client did not leave")
        .extracting(DecidedRequest::outcome)
        .containsExactly(EVICTION.reason().code());
  }

  /** Four answers of 11 tokens each, one token of each every 100 ms after the first. */
  @Test
  void tokensOfSeveralAnswersComeSideBySide() {
    Scene scene = new Scene(1);
    scene.sent(
        new RequestFacts(
            "",
            "m",
            0,
            new long[0],
            PromptSize.ofTokens(1),
            -1,
            4,
            1,
            RequestFacts.Delivery.STREAMED,
            Timeouts.UNSET,
            RequestHeaders.NONE,
            null,
            null));
    scene.now += SECOND / 10;
    scene.home.act(() -> scene.frontend.director.firstByte());
    scene.quiet();
    scene.now += SECOND;
    scene.home.act(() -> scene.frontend.director.end(Outcome.COMPLETED, new Usage(1, 44, -1, 46)));
    scene.quiet();
    assertThat(scene.terminal.paces).containsExactly(0.1 * SECOND, 0.1 * SECOND);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAnswerThatItsClientHeldUpTellsNoPace(boolean held) {
    Scene scene = new Scene(1);
    Director director = scene.frontend.director;
    scene.sent();
    scene.home.act(director::firstByte);
    scene.quiet();
    scene.home.act(() -> director.heldUp(held));
    scene.quiet();
    scene.now += SECOND;
    scene.home.act(() -> director.heldUp(false));
    scene.quiet();
    scene.home.act(() -> director.end(Outcome.COMPLETED, new Usage(1, 11, -1)));
    scene.quiet();
    assertThat(scene.terminal.paces).hasSize(held ? 0 : 2);
  }

  @Test
  void ofManyPiecesTheCoreHearsNowAndThen() {
    Scene scene = new Scene(1);
    scene.sent();
    scene.home.act(
        () -> {
          scene.frontend.director.firstByte();
          for (int i = 0; i < 1_000; i++) {
            scene.now += SECOND / 1_000;
            scene.frontend.director.progress();
          }
        });
    assertThat(scene.loop.tasks).as("the first byte, and 4 times a second").hasSize(1 + 4);
  }

  /** One request in a pool with a first byte due in 2 s and 5 s of silence allowed, or less. */
  private static final class Scene {
    final Steps home = new Steps();
    final Steps loop = new Steps();
    final PoolCore core = new PoolCore(LIMITS);
    final Terminal terminal = new Terminal();
    final Frontend frontend = new Frontend(0);
    long now;
    private final PoolLoop pool = new PoolLoop(core, loop, () -> now, terminal);

    Scene(int endpoints) {
      this(endpoints, Duration.ofSeconds(5));
    }

    Scene(int endpoints, Duration silence) {
      TimeoutsConfig timeouts = new TimeoutsConfig(Duration.ofSeconds(2), silence, null);
      RequestsConfig usual = RequestsConfig.DEFAULT;
      core.configure(
          0,
          new ConfigCompiler(List.of())
              .compile(
                  new PoolConfig(
                      "n",
                      "p",
                      Map.of(),
                      List.of(1),
                      "http",
                      List.of(),
                      new RequestsConfig(
                          usual.unconfiguredModels(), timeouts, false, usual.retryBudgetPercent()),
                      SchedulerConfig.DEFAULT)));
      List<EndpointSpec> all = new ArrayList<>();
      for (int i = 1; i <= endpoints; i++) {
        all.add(new EndpointSpec("e" + i, "1", "10.0.0." + i, 1, Map.of()));
      }
      core.endpoints(0, all);
      frontend.director = new Director(pool, home, frontend);
    }

    /** Where it was sent first. */
    Route sent() {
      return sent(new RequestFacts("m", 0, new long[0], 1, -1, 1));
    }

    Route sent(RequestFacts facts) {
      home.act(() -> frontend.director.submit(facts));
      quiet();
      return frontend.routes.getFirst();
    }

    /** What people are told of its end. */
    String outcome() {
      return core.receipts().newest(ReceiptFilter.ANY, 1).getFirst().outcome();
    }

    /** The core wants room for another. */
    void evict() {
      loop.act(() -> frontend.director.evict(0, EVICTION));
    }

    /** Time passes in the pool, and its effects are on their way to the frontend. */
    void pass(int seconds) {
      for (int i = 0; i < seconds; i++) {
        now += SECOND;
        loop.act(pool::tick);
      }
    }

    void quiet() {
      while (home.step() || loop.step()) {
        // until both are quiet
      }
    }
  }

  /** A proxy has gone on by itself, and what it shows comes faster than the loops are. */
  @Test
  void whoAnswersByAProxysWordIsCountedFromTheFirstTokenOn() {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, terminal);
    core.configure(0, compiled(List.of(), AT_ONCE));
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 1, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 1, Map.of())));
    Frontend frontend = new Frontend(0);
    frontend.director = new Director(pool, home, frontend);
    home.act(() -> frontend.director.submit(new RequestFacts("m", 0, new long[0], 1, -1, 1)));
    while (home.step() || loop.step()) {
      // until it is sent
    }
    Route first = frontend.routes.getFirst();
    String other = first.endpoint().equals("a") ? "b" : "a";
    home.act(
        () -> {
          frontend.director.answeredBy(other.equals("a") ? "10.0.0.1:1" : "10.0.0.2:1");
          frontend.director.status(200);
          frontend.director.firstByte();
          frontend.director.end(Outcome.COMPLETED, new Usage(4, 2, 0, 2));
        });
    while (home.step() || loop.step()) {
      // until both are quiet
    }
    assertThat(terminal.sentAgain).containsExactly("PASSED_OVER");
    assertThat(terminal.answeredBy).containsExactly(other, other);
    assertThat(terminal.outcomes).containsExactly(Outcome.COMPLETED);
    assertThat(frontend.routes).as("the proxy has sent it").hasSize(1);
    assertThat(core.active()).isZero();
  }

  /** Nobody sees the rest of what that endpoint answers: it has done nothing wrong by that. */
  @Test
  void whoAnswersByAProxysWordIsLeftWithTheRequest() {
    Steps home = new Steps();
    Steps loop = new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    PoolLoop pool = new PoolLoop(core, loop, () -> 0, terminal);
    core.configure(0, compiled(List.of(), AT_ONCE));
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 1, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 1, Map.of())));
    Frontend frontend = new Frontend(0);
    frontend.director = new Director(pool, home, frontend);
    home.act(() -> frontend.director.submit(new RequestFacts("m", 0, new long[0], 1, -1, 1)));
    while (home.step() || loop.step()) {
      // until it is sent
    }
    Route first = frontend.routes.getFirst();
    String other = first.endpoint().equals("a") ? "b" : "a";
    home.act(
        () -> {
          frontend.director.answeredBy(other.equals("a") ? "10.0.0.1:1" : "10.0.0.2:1");
          frontend.director.answering();
          frontend.director.left();
        });
    while (home.step() || loop.step()) {
      // until both are quiet
    }
    assertThat(terminal.sentAgain).containsExactly("PASSED_OVER");
    assertThat(terminal.outcomes).isEmpty();
    assertThat(core.active()).as("counts until it must be over").isEqualTo(1);
    assertThat(core.snapshot())
        .filteredOn(endpoint -> endpoint.name().equals(other))
        .allSatisfy(endpoint -> assertThat(endpoint.inFlight()).isEqualTo(1))
        .allSatisfy(endpoint -> assertThat(endpoint.health().failing()).isZero())
        .hasSize(1);
  }

  private static void run(long seed) {
    Random random = new Random(seed);
    Steps home = new Steps();
    Steps loop = random.nextInt(4) == 0 ? home : new Steps();
    PoolCore core = new PoolCore();
    Terminal terminal = new Terminal();
    long[] now = {0};
    PoolLoop pool = new PoolLoop(core, loop, () -> now[0], terminal);
    core.configure(
        0, random.nextInt(4) == 0 ? flaky(random) : compiled(List.of(), SchedulerConfig.DEFAULT));
    List<EndpointSpec> endpoints = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      endpoints.add(new EndpointSpec("e" + i, "1", "10.0.0." + i, 1, Map.of()));
    }
    core.endpoints(0, endpoints);

    int requests = 1 + random.nextInt(3);
    List<Frontend> frontends = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      Frontend frontend = new Frontend(seed);
      frontend.director = new Director(pool, home, frontend);
      frontends.add(frontend);
      home.execute(
          () -> {
            frontend.submitted = true;
            frontend.director.submit(new RequestFacts("m", seed, new long[0], 1, -1, 1));
          });
    }
    boolean homeDies = random.nextInt(10) == 0;
    for (int step = 0; step < 60; step++) {
      Frontend frontend = frontends.get(random.nextInt(requests));
      switch (random.nextInt(9)) {
        case 8 -> {
          if (!frontend.routes.isEmpty()) {
            loop.act(() -> frontend.director.evict(0, EVICTION));
          }
        }
        case 7 -> {
          now[0] += random.nextInt(3) * SECOND;
          loop.act(pool::tick);
        }
        case 0, 1 -> home.step();
        case 2, 3 -> loop.step();
        case 4 -> home.act(() -> frontend.mayFail(FAILURES[random.nextInt(FAILURES.length)]));
        case 5 -> home.act(() -> frontend.answer(random));
        default -> home.act(() -> frontend.end(random.nextInt(6)));
      }
      if (homeDies && step == 30 && home != loop) {
        home.dead = true;
      }
    }
    while (home.step() || loop.step()) {
      // until both are quiet
    }
    if (!home.dead) {
      frontends.forEach(frontend -> home.act(() -> frontend.end(0)));
      while (home.step() || loop.step()) {
        // until both are quiet
      }
      assertThat(core.active()).as("active, seed %d", seed).isZero();
      assertThat(terminal.calls).as("terminal calls, seed %d", seed).isEqualTo(requests);
    }
  }

  private static CompiledConfig compiled(List<PluginFactory> factories, SchedulerConfig scheduler) {
    return new ConfigCompiler(factories)
        .compile(new PoolConfig("n", "p", Map.of(), List.of(1), "http", List.of(), scheduler));
  }

  /** Schedules with a plugin that throws errors of every kind, now and then. */
  private static CompiledConfig flaky(Random random) {
    return compiled(
        List.of(
            new Throwing(
                () -> {
                  switch (random.nextInt(8)) {
                    case 0 -> throw new StackOverflowError("a plugin's");
                    case 1 -> throw new NoClassDefFoundError("a plugin's");
                    case 2 -> throw new AssertionError("a plugin's");
                    case 3 -> throw new OutOfMemoryError("a plugin's");
                    default -> {}
                  }
                })),
        new SchedulerConfig(
            List.of(new PluginConfig("throwing", "throwing", Map.of())), List.of(), null));
  }

  private record Throwing(Runnable failure) implements PluginFactory {

    @Override
    public String type() {
      return "throwing";
    }

    @Override
    public ThrowingPlugin create(Parameters parameters) {
      return new ThrowingPlugin(failure);
    }
  }

  private record ThrowingPlugin(Runnable failure) implements Scorer, Observer {

    @Override
    public void score(InferenceRequest request, Candidates candidates, double[] scores) {
      failure.run();
    }

    @Override
    public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
      failure.run();
    }

    @Override
    public void completed(Completion completion) {
      failure.run();
    }
  }

  private static final class Frontend implements Exchange {
    private final List<Route> routes = new ArrayList<>();
    private final long seed;
    private Director director;
    private boolean over;
    private boolean sent;
    private boolean answering;
    private boolean submitted;

    @SuppressWarnings("NullAway.Init") // the director needs the frontend first
    Frontend(long seed) {
      this.seed = seed;
    }

    @Override
    public void send(Route route) {
      assertThat(over).as("sent after the end, seed %d", seed).isFalse();
      assertThat(answering).as("sent while it is answered, seed %d", seed).isFalse();
      sent = true;
      routes.add(route);
    }

    @Override
    public void reject(Rejection rejection) {
      assertThat(over).as("rejected after the end, seed %d", seed).isFalse();
      over = true;
    }

    @Override
    public void pass() {
      assertThat(over).as("passed after the end, seed %d", seed).isFalse();
      assertThat(answering).as("passed twice, seed %d", seed).isFalse();
      answering = true;
    }

    void mayFail(Failure how) {
      if (sent && !over && !answering) {
        sent = false;
        director.attemptFailed(how);
      }
    }

    void answer(Random random) {
      if (sent && !over) {
        if (random.nextInt(3) == 0) {
          director.answeredBy("10.0.0.%d:1".formatted(random.nextInt(4)));
        }
        if (random.nextInt(4) == 0) {
          director.head();
        }
        answering = true;
        switch (random.nextInt(3)) {
          case 0 -> director.answering();
          case 1 -> director.firstByte();
          default -> {
            director.answering();
            director.progress();
          }
        }
      }
    }

    void end(int dice) {
      if (dice == 0 && submitted) {
        over = true;
        director.end(Outcome.DISCONNECTED, Usage.UNKNOWN);
      }
    }
  }

  private static final class Terminal implements RequestObserver {
    private final List<String> sentAgain = new ArrayList<>();
    private final List<Outcome> outcomes = new ArrayList<>();
    private final List<Rejection.Reason> rejections = new ArrayList<>();
    private final List<String> arrived = new ArrayList<>();
    private final List<Double> paces = new ArrayList<>();

    /** Who is told to have sent the first token, and who the last. */
    private final List<String> answeredBy = new ArrayList<>();

    private int calls;

    @Override
    public void arrived(String model, long bodyBytes) {
      arrived.add(model);
    }

    @Override
    public void decided(long nanos) {}

    @Override
    public void paced(String model, double nanosPerToken) {
      paces.add(nanosPerToken);
    }

    @Override
    public void spread(String model, double nanosPerToken) {
      paces.add(nanosPerToken);
    }

    @Override
    public void sent(String model, Route route) {}

    @Override
    public void sentAgain(String model, Route route, @Nullable Failure failure) {
      sentAgain.add(String.valueOf(failure));
    }

    @Override
    public void firstToken(String model, Route route, long nanos) {
      answeredBy.add(route.endpoint());
    }

    @Override
    public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
      outcomes.add(outcome);
      answeredBy.add(route.endpoint());
      calls++;
    }

    @Override
    public void gaveUp(String model, Criticality criticality, long nanos) {
      calls++;
    }

    @Override
    public void rejected(String model, Rejection rejection) {
      rejections.add(rejection.reason());
      calls++;
    }
  }

  /** An executor that runs its tasks one by one, when told. */
  private static final class Steps extends AbstractEventExecutor {
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean inside;
    private boolean dead;
    private int fatal;

    boolean step() {
      Runnable task = dead ? null : tasks.poll();
      if (task != null) {
        act(task);
      }
      return task != null;
    }

    void act(Runnable task) {
      if (!dead) {
        inside = true;
        try {
          task.run();
        } catch (OutOfMemoryError e) {
          fatal++; // real loops log it and go on
        } finally {
          inside = false;
        }
      }
    }

    @Override
    public void execute(Runnable task) {
      if (dead) {
        throw new RejectedExecutionException();
      }
      tasks.add(task);
    }

    @Override
    public boolean inEventLoop(Thread thread) {
      return inside;
    }

    @Override
    public boolean isShuttingDown() {
      return dead;
    }

    @Override
    public Future<?> shutdownGracefully(long quietPeriod, long timeout, TimeUnit unit) {
      return terminationFuture();
    }

    @Override
    public Future<?> terminationFuture() {
      return new DefaultPromise<Void>(GlobalEventExecutor.INSTANCE);
    }

    @Override
    @Deprecated
    public void shutdown() {}

    @Override
    public boolean isShutdown() {
      return dead;
    }

    @Override
    public boolean isTerminated() {
      return dead;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      return dead;
    }
  }
}
