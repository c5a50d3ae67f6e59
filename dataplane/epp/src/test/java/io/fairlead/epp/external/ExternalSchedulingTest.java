package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.external.Advice;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.PlainPool;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.external.ExternalCounts.Result;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** In virtual time, on a line that the test holds the other end of. */
class ExternalSchedulingTest {

  private static final SchedulerMessage HELLO =
      SchedulerMessage.newBuilder().setHello(SchedulerHello.newBuilder().setVersion(1)).build();

  private long now = 1;
  private final EmbeddedChannel loop = new EmbeddedChannel();
  private final PoolCore core = new PoolCore();
  private final HeldLine line = new HeldLine();
  private final ExternalCounts counts = new ExternalCounts();
  private final List<Optional<Advice>> told = new ArrayList<>();
  private final ExternalScheduling scheduling = scheduling(line);

  private ExternalScheduling scheduling(HeldLine asked) {
    return new ExternalScheduling(
        new ExternalScheduler(
            "here:1",
            Duration.ofMillis(20),
            Duration.ofMillis(1),
            3,
            Duration.ofSeconds(1),
            true,
            true,
            List.of(),
            false,
            ""),
        "ns/pool",
        null,
        new CoreView(core),
        SchedulerLoop.of(loop.eventLoop()),
        () -> now,
        counts,
        asked);
  }

  @BeforeEach
  void configure() {
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                new PoolConfig(
                    "ns",
                    "pool",
                    Map.of(),
                    List.of(1),
                    "http",
                    List.of(),
                    SchedulerConfig.DEFAULT)));
    endpoints("a", "b");
    loop.freezeTime();
  }

  private void endpoints(String... names) {
    List<EndpointSpec> all = new ArrayList<>();
    for (String name : names) {
      all.add(new EndpointSpec(name, name + "-uid", "10.0.0.1", 1 + all.size(), Map.of()));
    }
    core.endpoints(now, all);
    scheduling.endpointsChanged();
  }

  private void pass(Duration time) {
    now += time.toNanos();
    loop.advanceTimeBy(time.toNanos(), TimeUnit.NANOSECONDS);
    loop.runScheduledPendingTasks();
  }

  private ExternalScheduling.@Nullable Asked ask() {
    RequestFacts facts = new RequestFacts("m", 1, new long[0], 100, -1, 400);
    return scheduling.ask(
        facts,
        word -> {
          told(word);
          word.sent("a");
        });
  }

  private void told(Word word) {
    told.add(Optional.ofNullable(word.advice()));
  }

  private void open() {
    line.to().opened();
    line.to().came(HELLO);
    line.sent.clear();
  }

  private static Decision.Builder decision(Request request) {
    return Decision.newBuilder().setRequest(request.getId());
  }

  @Test
  void nobodyWaitsBeforeItHasSaidHello() {
    assertThat(ask()).isNull();
    line.to().opened();
    assertThat(line.sent.getFirst().getHello().getPool()).isEqualTo("ns/pool");
    assertThat(ask()).isNull();
    assertThat(told).containsExactly(Optional.empty(), Optional.empty());
    assertThat(counts.of(Result.UNAVAILABLE)).isEqualTo(2);
    line.to().came(HELLO);
    assertThat(line.sent.getLast().getEndpointsList()).hasSize(2);
    assertThat(ask()).isNotNull();
  }

  /** The core has the config by then: it would be refused, and run with the endpoints before it. */
  @Test
  void aConfigHasItsEndpointsAlthoughSomethingThrowsThatIsTold() {
    open();
    var _ =
        scheduling.ask(
            new RequestFacts("m", 1, new long[0], 100, -1, 400),
            word -> {
              throw new IllegalStateException("told that it is asked no more");
            });
    PoolLoop pool =
        new PoolLoop(core, ImmediateEventExecutor.INSTANCE, () -> now, new Telemetry(() -> 0));
    pool.asks(scheduling);
    EndpointSpec other = new EndpointSpec("c", "c-uid", "10.0.0.1", 1, Map.of());
    Future<?> applied =
        pool.configure(new ConfigCompiler(List.of()).compile(PlainPool.config()), List.of(other));
    assertThat(applied.cause()).isNull();
    assertThat(pool.externalReports()).isEmpty();
    assertThat(core.snapshot()).extracting(EndpointSnapshot::name).containsExactly("c");
  }

  @Test
  void aBatchGoesAtOnceWhenAllBeforeItIsAnswered() {
    open();
    ask();
    Request first = line.sent.getLast().getRequests(0);
    ask();
    ask();
    assertThat(line.sent).hasSize(1);

    line.to()
        .came(SchedulerMessage.newBuilder().addDecisions(decision(first).addEndpoints(1)).build());
    assertThat(line.sent).hasSize(2);
    List<Request> next = line.sent.getLast().getRequestsList();
    assertThat(next).hasSize(2);
    ask();
    line.to().came(SchedulerMessage.newBuilder().addDecisions(decision(next.getFirst())).build());
    assertThat(line.sent).as("one of two is being answered").hasSize(2);
    line.to().came(SchedulerMessage.newBuilder().addDecisions(decision(next.getLast())).build());
    assertThat(line.sent).hasSize(3);
  }

  @Test
  void aBatchGoesWhenItIsFullOrOld() {
    open();
    ask();
    line.sent.clear();
    ask();
    ask();
    assertThat(line.sent).isEmpty();
    pass(Duration.ofMillis(1));
    assertThat(line.sent).hasSize(1);
    assertThat(line.sent.getFirst().getRequestsList()).hasSize(2);
    ask();
    ask();
    ask();
    assertThat(line.sent).hasSize(2);
  }

  @Test
  void eachIsToldOnceWhateverComesWhen() {
    open();
    ask();
    pass(Duration.ofMillis(1));
    Request request = line.sent.getFirst().getRequests(0);
    pass(Duration.ofMillis(18));
    assertThat(told).isEmpty();
    pass(Duration.ofMillis(1));
    assertThat(told).containsExactly(Optional.empty());
    assertThat(counts.of(Result.LATE)).isEqualTo(1);

    line.to()
        .came(
            SchedulerMessage.newBuilder().addDecisions(decision(request).addEndpoints(1)).build());
    line.to().broken("gone");
    scheduling.close();
    assertThat(told).hasSize(1);
    assertThat(counts.of(Result.UNEXPECTED)).isEqualTo(1);
  }

  @Test
  void whoWaitsWhenItBreaksIsToldAtOnceAndWhoHasGoneIsNot() {
    open();
    ask();
    Objects.requireNonNull(ask()).withdraw();
    line.to().broken("gone");
    assertThat(told).containsExactly(Optional.empty());
    assertThat(scheduling.asked()).isZero();
    assertThat(counts.of(Result.WITHDRAWN)).isEqualTo(1);
    pass(Duration.ofSeconds(1));
    assertThat(told).hasSize(1);
    assertThat(scheduling.report().problem()).isEqualTo("gone");
  }

  @Test
  void aNumberIsNeverOfAnotherEndpoint() {
    open();
    endpoints("b", "c");
    ask();
    pass(Duration.ofMillis(1));
    PickerMessage message = line.sent.getLast();
    assertThat(message.getRemovedList()).hasSize(2);
    assertThat(message.getEndpointsList())
        .as("b has another port, and is another endpoint")
        .allMatch(endpoint -> endpoint.getNumber() > 2)
        .hasSize(2);
    Request request = message.getRequests(0);
    line.to()
        .came(
            SchedulerMessage.newBuilder().addDecisions(decision(request).addEndpoints(1)).build());
    assertThat(told).containsExactly(Optional.empty());
    assertThat(counts.of(Result.OVERRULED))
        .as("that it has gone meanwhile is not the scheduler's fault")
        .isEqualTo(1);
  }

  @Test
  void anEndpointWithOtherLabelsKeepsItsNumber() {
    open();
    core.endpoints(
        now,
        List.of(
            new EndpointSpec("a", "a-uid", "10.0.0.1", 1, Map.of("zone", "west")),
            new EndpointSpec("b", "b-uid", "10.0.0.1", 2, Map.of())));
    scheduling.endpointsChanged();
    ask();
    pass(Duration.ofMillis(1));
    PickerMessage message = line.sent.getLast();
    assertThat(message.getRemovedList()).isEmpty();
    assertThat(message.getEndpointsList()).hasSize(1);
    assertThat(message.getEndpoints(0).getNumber()).isEqualTo(1);
    assertThat(message.getEndpoints(0).getLabelsMap()).isEqualTo(Map.of("zone", "west"));
  }

  @Test
  void ofThoseNamedTheOnesThatAreThereCount() {
    open();
    Request request = asked();
    endpoints("b", "c");
    ask();
    pass(Duration.ofMillis(1));
    int there = line.sent.getLast().getEndpoints(0).getNumber();
    answer(decision(request).addEndpoints(1).addEndpoints(there));
    assertThat(told.getFirst().orElseThrow().endpoints()).containsExactly(Advice.identity("b"));
  }

  @Test
  void whatHasNotChangedIsNotTold() {
    open();
    scheduling.changed("a");
    ask();
    pass(Duration.ofMillis(1));
    assertThat(line.sent.getLast().getStatesList()).isEmpty();
  }

  @Test
  void aLargePoolComesInPieces() {
    List<EndpointSpec> all = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      all.add(new EndpointSpec("e" + i, "uid", "10.0.0.1", 1, Map.of("l", "x".repeat(400))));
    }
    core.endpoints(now, all);
    line.to().opened();
    line.to().came(HELLO);
    assertThat(line.sent).hasSizeGreaterThan(3);
    assertThat(line.sent).allMatch(message -> message.getSerializedSize() < 4 << 20);
    assertThat(line.sent.stream().mapToInt(PickerMessage::getEndpointsCount).sum())
        .isEqualTo(all.size());
    assertThat(line.sent.stream().mapToInt(PickerMessage::getStatesCount).sum())
        .isEqualTo(all.size());
  }

  @Test
  void aStreamThatTakesNothingGetsOnlyWhoStillWaits() {
    open();
    line.ready = false;
    for (int i = 0; i < 10; i++) {
      ask();
    }
    pass(Duration.ofMillis(20));
    assertThat(told).hasSize(10);
    ask();
    pass(Duration.ofMillis(1));
    assertThat(line.sent).isEmpty();
    line.ready = true;
    line.to().ready();
    assertThat(line.sent.getLast().getRequestsList()).hasSize(1);
  }

  @Test
  void whatHasComeTogetherWhileTheStreamTookNothingGoesInBatchesToo() {
    open();
    line.ready = false;
    for (int i = 0; i < 10; i++) {
      ask();
    }
    line.ready = true;
    line.to().ready();
    assertThat(line.sent).extracting(PickerMessage::getRequestsCount).containsExactly(3, 3, 3, 1);
  }

  /** It would be slowed down, and be late ever after. */
  @Test
  void anAnswerThatIsLateIsNoFlood() {
    open();
    Request late = asked();
    pass(Duration.ofMillis(20));
    ask();
    pass(Duration.ofMillis(1));
    assertThat(line.sent.getLast().getRequestsCount()).isEqualTo(1);
    SchedulerMessage answer =
        SchedulerMessage.newBuilder().addDecisions(decision(late).addEndpoints(1)).build();
    assertThat(line.to().came(answer)).isPositive();
    assertThat(line.to().came(answer)).as("there is no other that may be late").isNegative();
    assertThat(counts.of(Result.UNEXPECTED)).isEqualTo(2);

    Request again = asked();
    pass(Duration.ofMillis(20));
    line.to().broken("gone");
    open();
    assertThat(line.to().came(SchedulerMessage.newBuilder().addDecisions(decision(again)).build()))
        .as("nothing of before was asked in this stream")
        .isNegative();
  }

  @Test
  void aFloodIsCountedAndOfNoUse() {
    open();
    SchedulerMessage.Builder flood = SchedulerMessage.newBuilder();
    for (int i = 0; i < 100_000; i++) {
      flood.addDecisions(Decision.newBuilder().setRequest(1_000_000 + i));
    }
    assertThat(line.to().came(flood.build())).isEqualTo(-100_000);
    assertThat(counts.of(Result.UNEXPECTED)).isEqualTo(100_000);
    Decision.Builder answer = decision(asked()).addEndpoints(1);
    assertThat(line.to().came(flood.addDecisions(answer).build()))
        .as("an answer among them makes it no better")
        .isEqualTo(1 - 100_000);
    assertThat(told).hasSize(1);
    assertThat(line.to().came(SchedulerMessage.getDefaultInstance())).isNegative();
    answer = decision(asked()).addEndpoints(1);
    assertThat(line.to().came(SchedulerMessage.newBuilder().addDecisions(answer).build()))
        .isPositive();
  }

  @Test
  void anAnswerThatNamesAnEndpointTwiceIsInvalid() {
    open();
    answer(decision(asked()).addEndpoints(1).addEndpoints(2).addEndpoints(1));
    assertThat(told).containsExactly(Optional.empty());
    assertThat(counts.of(Result.INVALID)).isEqualTo(1);
    answer(decision(asked()).addEndpoints(1).addEndpoints(2));
    assertThat(told.getLast()).isPresent();
  }

  @Test
  void anAnswerThatNamesMoreThanThereAreIsInvalid() {
    open();
    Decision.Builder decision = decision(asked());
    for (int i = 0; i < 1_000_000; i++) {
      decision.addEndpoints(1);
    }
    answer(decision);
    assertThat(counts.of(Result.INVALID)).isEqualTo(1);
  }

  @Test
  void onePauseOpensNothingAndLatenessAgainAndAgainDoes() {
    open();
    for (int i = 0; i < 100; i++) {
      ask();
    }
    pass(Duration.ofMillis(20));
    assertThat(counts.of(Result.LATE)).isEqualTo(100);
    assertThat(scheduling.report().problem()).isNull();
    for (int i = 0; i < 10; i++) {
      ask();
      pass(Duration.ofMillis(20));
    }
    assertThat(scheduling.report().problem()).contains("late");
    assertThat(ask()).isNull();

    now += 2 * ExternalScheduling.SILENCE_NANOS; // nobody asks: it owes what it was asked before
    scheduling.tick(now);
    scheduling.tick(now);
    assertThat(line.resets).isEqualTo(1);
    open();
    now += 2 * ExternalScheduling.SILENCE_NANOS;
    scheduling.tick(now);
    assertThat(line.resets).as("nothing was asked since").isEqualTo(1);

    for (int i = 0; i < 4; i++) {
      now += CircuitBreaker.TRIAL_NANOS;
      assertThat(ask()).as("asked on trial, and not waited for").isNull();
      pass(Duration.ofMillis(1));
      answer(decision(line.sent.getLast().getRequests(0)).addEndpoints(1));
    }
    assertThat(scheduling.report().problem()).isNull();
    assertThat(ask()).isNotNull();
  }

  /** Whoever waits for it waits for nothing, as with one that is late. */
  @Test
  void oneWhoseAnswersMakeNoSenseAgainAndAgainIsNotWaitedFor() {
    open();
    for (int i = 0; i < CircuitBreaker.LATE; i++) {
      assertThat(scheduling.report().problem()).isNull();
      Request request = asked();
      pass(Duration.ofMillis(14));
      answer(decision(request).addEndpoints(1).addScores(Double.NaN));
    }
    assertThat(told).containsOnly(Optional.empty());
    assertThat(scheduling.report().problem()).contains("no sense");
    assertThat(scheduling.report().late()).as("more time would not help").isFalse();
    assertThat(ask()).isNull();
    line.to().broken("gone");
    open();
    assertThat(scheduling.report().problem()).contains("no sense");

    for (int i = 0; i < CircuitBreaker.IN_TIME; i++) {
      now += CircuitBreaker.TRIAL_NANOS;
      ask();
      pass(Duration.ofMillis(1));
      answer(decision(line.sent.getLast().getRequests(0)));
    }
    assertThat(scheduling.report().problem()).isNull();
    assertThat(ask()).isNotNull();
  }

  /** What came last may be the one exception. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void itIsSaidWhatItsAnswersWereMostly(boolean late) {
    open();
    for (int i = 0; i < CircuitBreaker.LATE; i++) {
      assertThat(scheduling.report().problem()).isNull();
      boolean last = i == CircuitBreaker.LATE - 1;
      Request request = asked();
      pass(Duration.ofMillis(late == last ? 14 : 20));
      if (late == last) {
        answer(decision(request).addEndpoints(1).addScores(Double.NaN));
      }
    }
    assertThat(scheduling.report().problem()).contains(late ? "it is late" : "no sense");
    assertThat(scheduling.report().late()).isEqualTo(late);
  }

  /** Its name and its reasons are whatever it likes. */
  @Test
  void whatItCallsItselfAndWhyItHasGoneAreOneShortLine() {
    String forged = "a\nERROR \u001b[31mall is lost\u2028\u202e";
    SchedulerHello.Builder hello = HELLO.getHello().toBuilder().setName(forged + "x".repeat(5_000));
    List<String> logged =
        logged(
            () -> {
              line.to().opened();
              line.to().came(SchedulerMessage.newBuilder().setHello(hello).build());
              line.to().broken("UNAVAILABLE, " + forged + "y".repeat(5_000));
            });
    assertThat(logged)
        .hasSize(2)
        .allSatisfy(
            text ->
                assertThat(text)
                    .contains("a?ERROR ?[31mall is lost??")
                    .doesNotContainPattern("[\\p{C}\u2028]")
                    .hasSizeLessThan(500));
    assertThat(scheduling.report().problem()).startsWith("UNAVAILABLE, a?ERROR");
  }

  private static List<String> logged(Runnable meanwhile) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(ExternalScheduling.class);
    logger.addAppender(log);
    logger.setLevel(Level.INFO);
    try {
      meanwhile.run();
    } finally {
      logger.setLevel(null);
      logger.detachAppender(log);
    }
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  @Test
  void whoWaitsForRoomIsAskedAboutAgain() {
    open();
    for (long ticket = 1; ticket <= 3; ticket++) {
      waits(ticket, null);
    }
    scheduling.waitsNoMore(2);
    scheduling.tick(now);
    pass(Duration.ofMillis(1));
    assertThat(line.sent).isEmpty();
    pass(Duration.ofSeconds(1));
    scheduling.tick(now);
    scheduling.tick(now);
    pass(Duration.ofMillis(1));
    List<Request> again =
        line.sent.stream().flatMap(message -> message.getRequestsList().stream()).toList();
    assertThat(again).hasSize(2);
    scheduling.waitsNoMore(1);
    answer(decision(again.get(0)).addEndpoints(1));
    answer(decision(again.get(1)).addEndpoints(2));
    assertThat(told).hasSize(1);
    assertThat(told.getFirst().orElseThrow().endpoints()).containsExactly(Advice.identity("b"));

    line.to().broken("gone");
    pass(Duration.ofSeconds(1));
    scheduling.tick(now);
    assertThat(counts.of(Result.UNAVAILABLE)).as("nobody is asked").isZero();
  }

  private void waits(long ticket, @Nullable Advice said) {
    RequestFacts facts = new RequestFacts("m", 1, new long[0], 100, -1, 400);
    Word word = said == null ? Word.none(counts, Result.LEFT) : Word.of(counts, said);
    scheduling.waits(ticket, facts, word, this::told);
  }

  /** What the scheduler is to know of a request takes time, in which others' requests come. */
  @Test
  void aFewOfThoseWhoWaitAreAskedAboutInOneTurnOfTheLoop() {
    open();
    for (int ticket = 1; ticket <= 100; ticket++) {
      waits(ticket, null);
    }
    pass(Duration.ofSeconds(1));
    scheduling.tick(now);
    assertThat(scheduling.asked()).isEqualTo(ExternalScheduling.MOST_AGAIN_AT_ONCE);
    scheduling.tick(now);
    assertThat(scheduling.asked()).isEqualTo(ExternalScheduling.MOST_AGAIN_AT_ONCE);
    loop.runPendingTasks();
    assertThat(scheduling.asked()).isEqualTo(100);
  }

  private static Advice advice() {
    return new Advice(new long[] {Advice.identity("a")}, new double[] {1});
  }

  @Test
  void theWordOfASchedulerThatIsGoneIsTakenBackOnce() {
    open();
    waits(1, advice());
    waits(2, null);
    waits(3, advice());
    scheduling.waitsNoMore(3);
    line.to().broken("gone");
    assertThat(told).as("of who has one, and still waits").containsExactly(Optional.empty());
    line.to().broken("gone still");
    scheduling.close();
    assertThat(told).hasSize(1);
  }

  @Test
  void theNewestWordIsTakenBackToo() {
    open();
    waits(1, null);
    pass(Duration.ofSeconds(1));
    scheduling.tick(now);
    pass(Duration.ofMillis(1));
    answer(decision(line.sent.getLast().getRequests(0)).addEndpoints(1));
    line.to().broken("gone");
    assertThat(told).hasSize(2);
    assertThat(told.getLast()).isEmpty();
  }

  @Test
  void theWordOfASchedulerThatIsRemovedFromTheConfigIsTakenBack() {
    open();
    waits(1, advice());
    scheduling.close();
    assertThat(told).containsExactly(Optional.empty());
  }

  @Test
  void theWordOfASchedulerThatIsOftenLateIsTakenBack() {
    open();
    waits(1, advice());
    for (int i = 0; i < 20; i++) {
      ask();
      pass(Duration.ofMillis(20));
    }
    assertThat(scheduling.report().late()).isTrue();
    told.clear();
    scheduling.tick(now);
    scheduling.tick(now);
    assertThat(told).containsExactly(Optional.empty());
  }

  @Test
  void theWordStaysWhereAnotherIsAskedInItsPlace() {
    open();
    waits(1, advice());
    HeldLine other = new HeldLine();
    ExternalScheduling next = scheduling(other);
    next.takeWaiting(scheduling);
    scheduling.close();
    assertThat(told).isEmpty();
    other.to().broken("not there");
    assertThat(told).containsExactly(Optional.empty());
  }

  /** Asks, and has it sent. */
  private Request asked() {
    ask();
    pass(Duration.ofMillis(1));
    return line.sent.getLast().getRequests(0);
  }

  private void answer(Decision.Builder decision) {
    line.to().came(SchedulerMessage.newBuilder().addDecisions(decision).build());
  }

  @Test
  void askedOnceMoreThanThereIsRoomForNobodyWaits() {
    open();
    for (int i = 0; i < ExternalScheduling.MOST_ASKED; i++) {
      assertThat(ask()).isNotNull();
    }
    assertThat(ask()).isNull();
    assertThat(counts.of(Result.OVERFLOW)).isEqualTo(1);
    assertThat(scheduling.asked()).isEqualTo(ExternalScheduling.MOST_ASKED);
  }

  @Test
  void oneThatSaysNothingGetsAnotherStream() {
    line.to().opened();
    now += ExternalScheduling.SILENCE_NANOS - 1;
    scheduling.tick(now);
    assertThat(line.resets).isZero();
    now++;
    scheduling.tick(now);
    assertThat(line.resets).isEqualTo(1);
    open();
    now += 2 * ExternalScheduling.SILENCE_NANOS;
    scheduling.tick(now);
    assertThat(line.resets).as("it is silent when nobody asks, too").isEqualTo(1);
  }

  /** It has answered all, and is stopped then: nothing that it owes says so. */
  @Test
  void aStreamThatTakesNothingForLongIsGivenUp() {
    open();
    answer(decision(asked()).addEndpoints(1));
    line.ready = false;
    ask();
    now += ExternalScheduling.SILENCE_NANOS - 1;
    scheduling.tick(now);
    assertThat(line.resets).isZero();
    now++;
    scheduling.tick(now);
    assertThat(line.resets).isEqualTo(1);

    line.to().broken("it has taken nothing for 10 s");
    line.ready = true;
    open();
    now += 2 * ExternalScheduling.SILENCE_NANOS;
    scheduling.tick(now);
    assertThat(line.resets).as("another stream begins anew").isEqualTo(1);
  }

  @Test
  void aStreamThatTakesSomethingNowAndThenIsKept() {
    open();
    for (int i = 0; i < 4; i++) {
      line.ready = false;
      scheduling.changed("a");
      endpoints("a", "b", "c" + i);
      scheduling.tick(now);
      pass(Duration.ofNanos(ExternalScheduling.SILENCE_NANOS - 1));
      line.ready = true;
      line.to().ready();
      scheduling.tick(now);
    }
    now += 2 * ExternalScheduling.SILENCE_NANOS;
    scheduling.tick(now);
    assertThat(line.resets).isZero();
  }
}
