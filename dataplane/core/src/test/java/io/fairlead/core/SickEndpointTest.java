package io.fairlead.core;

import static io.fairlead.core.VirtualPool.MILLI;
import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One sick endpoint of two, event by event. */
class SickEndpointTest {

  private final List<Probe> probes = new ArrayList<>();

  private final Pool pool =
      new Pool(
          new PoolListener() {
            @Override
            public boolean probe(Probe probe) {
              probes.add(probe);
              return true;
            }

            @Override
            public void healthChanged(HealthChange change) {}
          });

  private void configure(int retryBudgetPercent) {
    SchedulerConfig scheduler =
        Pool.atOnce(List.of(new PluginConfig("queue", "queue-scorer", Map.of())), List.of());
    RequestsConfig requests =
        new RequestsConfig(Criticality.STANDARD, TimeoutsConfig.UNSET, false, retryBudgetPercent);
    pool.core.configure(0, new ConfigCompiler(List.of()).compile(Pool.config(requests, scheduler)));
    pool.endpoints("a", "b");
    serveUntilBothHave();
  }

  private void serveUntilBothHave() {
    while (pool.snapshot("a").sent() == 0 || pool.snapshot("b").sent() == 0) {
      pool.serve("m", 1);
    }
  }

  private HealthState state(String endpoint) {
    return pool.snapshot(endpoint).health().state();
  }

  /** A request that goes to this endpoint: others are served at once where they are. */
  private long sentTo(String endpoint) {
    return sentTo(endpoint, Timeouts.UNSET);
  }

  private long sentTo(String endpoint, Timeouts timeouts) {
    for (int i = 0; i < 1_000; i++) {
      RequestFacts facts = Pool.request("m", pool.effects.size(), 1);
      RequestFactsBuilder request = RequestFactsBuilder.like(facts).timeouts(timeouts);
      long ticket = pool.core.arrive(pool.now, request.build(), pool);
      if (pool.lastRoute().endpoint().equals(endpoint)) {
        return ticket;
      }
      complete(ticket);
    }
    throw new AssertionError("none of 1,000 goes to " + endpoint);
  }

  private void complete(long ticket) {
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  private void ticksUntil(long time) {
    while (pool.now < time) {
      pool.now += 100 * MILLI;
      pool.core.tick(pool.now);
    }
  }

  /** Time passes until the endpoint is probed, and it answers. */
  private void answersProbe(String endpoint) {
    probes.clear();
    for (int i = 0; i < 600; i++) {
      ticksUntil(pool.now + 100 * MILLI);
      for (Probe probe : probes) {
        if (probe.endpoint().name().equals(endpoint)) {
          pool.core.probed(pool.now, probe.id());
          return;
        }
      }
    }
    throw new AssertionError("nobody has probed " + endpoint + " for a minute");
  }

  /** A freeze of four seconds costs nobody an answer where it can't be had elsewhere. */
  @Test
  void whatCannotBeSentAgainWaitsForAFrozenServer() {
    configure(0);
    long waits = sentTo("a");
    long begun = pool.now;
    ticksUntil(begun + 8 * SECOND);
    assertThat(state("a")).isEqualTo(HealthState.OUT);
    assertThat(pool.rejections).as("after eight seconds").isEmpty();
    complete(waits);
    assertThat(state("a")).as("it says something again").isEqualTo(HealthState.IN_USE);

    sentTo("a");
    ticksUntil(pool.now + 60 * SECOND);
    assertThat(pool.rejections)
        .as("it is not waited for for ever")
        .extracting(Rejection::reason)
        .containsExactly(Rejection.Reason.FIRST_BYTE_TIMEOUT);
  }

  /**
   * Never three in a row: behind a proxy each costs its client an answer. What a client asks may be
   * to blame; what a probe asks is not.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void oneThatFailsEveryOtherRequestIsOutIfItFailsAProbe(boolean failsProbe) {
    configure(0);
    for (int i = 0; i < 30 && probes.isEmpty(); i++) {
      pool.now += MILLI;
      complete(sentTo("a"));
      fail(sentTo("a"));
    }
    Probe probe = probes.getFirst();
    assertThat(probe.endpoint().name()).isEqualTo("a");
    if (failsProbe) {
      pool.core.probeFailed(pool.now, probe.id(), Failure.ERROR);
    } else {
      pool.core.probed(pool.now, probe.id());
    }
    assertThat(state("a")).isEqualTo(failsProbe ? HealthState.OUT : HealthState.IN_USE);
  }

  /** A model may fail wherever it is asked for: a probe asks for what the server has served. */
  @Test
  void aProbeAsksForAModelThatWasServed() {
    configure(0);
    for (int i = 0; i < 100 && probes.isEmpty(); i++) {
      long failing = pool.arrive("broken", 1);
      pool.core.attemptFailed(pool.now, failing, Failure.ERROR);
      pool.core.ended(pool.now, failing, Outcome.FAILED, Usage.UNKNOWN);
    }
    assertThat(probes.getFirst().model()).isEqualTo("m");
  }

  /** What it did before it came back says nothing. */
  @Test
  void oneThatIsBackIsNotOutForOneErrorMore() {
    configure(0);
    for (int i = 0; i < 100 && state("a") != HealthState.OUT; i++) {
      ticksUntil(pool.now + 2 * SECOND);
      fail(sentTo("a"));
    }
    answersProbe("a");
    assertThat(state("a")).isEqualTo(HealthState.ON_TRIAL);
    long tried = sentTo("a");
    pool.core.firstByte(pool.now, tried);
    assertThat(state("a")).isEqualTo(HealthState.IN_USE);
    probes.clear();
    fail(sentTo("a"));
    assertThat(state("a")).isEqualTo(HealthState.IN_USE);
    assertThat(probes).as("one error is not asked about").isEmpty();
  }

  @Test
  void oneThatFailsEachFourthIsUsedLess() {
    configure(0);
    for (int i = 0; i < 60; i++) {
      for (int served = 0; served < 3; served++) {
        pool.now += MILLI;
        complete(sentTo("a"));
      }
      fail(sentTo("a"));
      assertThat(state("a")).as("round %d", i).isEqualTo(HealthState.IN_USE);
    }
  }

  /** Nobody says then whether the request was at fault. */
  @Test
  void anErrorCountsAlsoWhereTheNextServerDoesNotAnswer() {
    configure(100);
    Timeouts second = new Timeouts(null, null, Duration.ofSeconds(1));
    long ticket = sentTo("a", second);
    pool.core.attemptFailed(pool.now, ticket, Failure.ERROR);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("b");
    assertThat(pool.snapshot("a").health().failing()).as("nobody knows yet").isZero();
    ticksUntil(pool.now + 3 * SECOND);
    assertThat(pool.rejections).hasSize(1);
    assertThat(pool.snapshot("a").health().failing()).isPositive();
  }

  private void fail(long ticket) {
    pool.now += MILLI;
    pool.core.attemptFailed(pool.now, ticket, Failure.ERROR);
    pool.core.ended(pool.now, ticket, Outcome.FAILED, Usage.UNKNOWN);
  }

  /** What it was sent on its first trial goes on, and says nothing of the second one. */
  @Test
  void aStreamOfAnEarlierTrialHoldsUpNoLaterOne() {
    configure(100);
    pool.core.attemptFailed(pool.now, sentTo("a"), Failure.REFUSED);
    assertThat(state("a")).isEqualTo(HealthState.OUT);
    answersProbe("a");
    assertThat(state("a")).isEqualTo(HealthState.ON_TRIAL);
    long stream = sentTo("a");
    pool.core.firstByte(pool.now, stream);
    assertThat(state("a")).isEqualTo(HealthState.IN_USE);

    pool.now += SECOND;
    pool.core.attemptFailed(pool.now, sentTo("a"), Failure.REFUSED);
    assertThat(state("a")).as("a relapse").isEqualTo(HealthState.OUT);
    answersProbe("a");
    assertThat(state("a")).isEqualTo(HealthState.ON_TRIAL);
    long second = sentTo("a");
    pool.core.ended(pool.now, stream, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(state("a")).as("nothing is known of the trial").isEqualTo(HealthState.ON_TRIAL);
    complete(second);
    assertThat(state("a")).isEqualTo(HealthState.IN_USE);
    assertThat(pool.snapshot("a").inFlight()).isZero();
  }

  /** Its answer comes in one piece, in minutes: nothing else tells that it is worked on. */
  @Test
  void oneThatIsSeenToComputeForATrialsRequestHasPassed() {
    configure(100);
    page("a", 100);
    pool.core.attemptFailed(pool.now, sentTo("a"), Failure.REFUSED);
    answersProbe("a");
    sentTo("a");
    page("a", 130);
    assertThat(state("a")).as("that was the probe").isEqualTo(HealthState.ON_TRIAL);
    ticksUntil(pool.now + 1_200 * MILLI);
    Probe probe = probes.getLast();
    page("a", 140);
    assertThat(state("a")).as("another probe is there").isEqualTo(HealthState.ON_TRIAL);
    pool.core.probed(pool.now, probe.id());
    page("a", 150);
    assertThat(state("a")).as("it may have been for that").isEqualTo(HealthState.ON_TRIAL);
    page("a", 160);
    assertThat(state("a")).isEqualTo(HealthState.IN_USE);
  }

  @Test
  void whatItHadForLongTellsNothingOfATrial() {
    configure(100);
    page("a", 100);
    sentTo("b");
    sentTo("a");
    sentTo("b");
    pool.core.attemptFailed(pool.now, sentTo("a"), Failure.REFUSED);
    answersProbe("a");
    sentTo("a");
    for (int i = 2; i < 10; i++) {
      page("a", 100 * i);
    }
    assertThat(state("a")).isEqualTo(HealthState.ON_TRIAL);
  }

  /** Nobody can tell how its request fares; it answers probes, though. */
  @Test
  void oneThatCountsNoTokensHasMoreAndMoreOnTrial() {
    configure(100);
    pool.core.attemptFailed(pool.now, sentTo("a"), Failure.REFUSED);
    answersProbe("a");
    List<Integer> had = new ArrayList<>();
    for (int step = 0; step < 4; step++) {
      for (int i = 0; i < 100; i++) {
        long ticket = pool.arrive("m", 1);
        if (!pool.lastRoute().endpoint().equals("a")) {
          complete(ticket);
        }
      }
      had.add(pool.snapshot("a").inFlight());
      for (int second = 0; second < 5; second++) {
        answersProbe("a");
      }
    }
    assertThat(state("a")).isEqualTo(HealthState.ON_TRIAL);
    assertThat(had).containsExactly(1, 2, 4, 8);
  }

  private void page(String endpoint, double progress) {
    pool.now += 100 * MILLI;
    pool.core.scraped(
        pool.now,
        Pool.endpoint(endpoint),
        pool.now,
        new EndpointMetrics(
            0, 1, 0.1, 16, 1_000, "", -1, List.of(), List.of(), Map.of(), Double.NaN, progress));
  }

  /** One of the two has to be used: rather the one that fails some than the one that is mute. */
  @Test
  void oneThatSaysNothingIsTheLastToBeUsed() {
    configure(0);
    long mute = sentTo("a");
    ticksUntil(pool.now + 5 * SECOND);
    assertThat(state("a")).isEqualTo(HealthState.OUT);
    for (int i = 0; i < 10; i++) {
      long failing = pool.arrive("m", 1);
      assertThat(pool.lastRoute().endpoint()).isEqualTo("b");
      pool.core.attemptFailed(pool.now, failing, Failure.ERROR);
      pool.core.ended(pool.now, failing, Outcome.FAILED, Usage.UNKNOWN);
    }
    assertThat(state("b")).isEqualTo(HealthState.OUT);
    for (int i = 0; i < 10; i++) {
      complete(pool.arrive("m", 1));
      assertThat(pool.lastRoute().endpoint()).isEqualTo("b");
    }
    complete(mute);
    assertThat(Objects.requireNonNull(pool.core.load("a")).inFlight()).isZero();
  }

  /**
   * A proxy that holds an answer back for its client shows no more of it than a server that hangs.
   */
  @Test
  void answersThatStopBehindAProxyAreTheServersFaultOnlyInARow() {
    configure(0);
    for (int i = 0; i < 1_000; i++) {
      complete(pool.arrive("m", 1));
    }
    int stopped = 0;
    while (state("a") == HealthState.IN_USE) {
      stopped++;
      String where = "";
      while (!where.equals("a")) {
        long ticket = pool.core.arrive(pool.now, behindAProxy(pool.effects.size()), pool);
        where = pool.lastRoute().endpoint();
        pool.core.firstByte(pool.now, ticket);
        if (!where.equals("a")) {
          pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
        }
      }
      for (int i = 0; i < 1_300; i++) {
        ticksUntil(pool.now + 100 * MILLI);
        probes.forEach(probe -> pool.core.probed(pool.now, probe.id()));
        probes.clear();
      }
      assertThat(pool.rejections).hasSize(stopped);
    }
    assertThat(stopped).as("so many in a row are not by chance").isBetween(3, 6);
  }

  /** Eight at once, of a user interface that is closed say: any server loses them in one moment. */
  @Test
  void whatOneClientDropsTogetherBehindAProxyIsNoServersFault() {
    configure(0);
    for (int i = 0; i < 1_000; i++) {
      complete(pool.arrive("m", 1));
    }
    for (int client = 1; client <= 5; client++) {
      dropsTogether("a", 8);
      assertThat(state("a")).isEqualTo(HealthState.IN_USE);
      assertThat(probes).extracting(probe -> probe.endpoint().name()).containsExactly("a");
      pool.core.probed(pool.now, probes.removeFirst().id());
      assertThat(state("a")).as("client %d", client).isEqualTo(HealthState.IN_USE);
      pool.now += SECOND;
      complete(sentTo("a"));
    }
  }

  @Test
  void aServerThatIsGoneShowsByTheProbe() {
    configure(0);
    for (int i = 0; i < 1_000; i++) {
      complete(pool.arrive("m", 1));
    }
    dropsTogether("a", 8);
    pool.core.probeFailed(pool.now, probes.getLast().id(), Failure.FIRST_BYTE_LATE);
    assertThat(state("a")).as("it may be busy").isEqualTo(HealthState.IN_USE);
    pool.now += SECOND;
    complete(sentTo("a"));
    dropsTogether("a", 8);
    pool.core.probeFailed(pool.now, probes.getLast().id(), Failure.DIED);
    assertThat(state("a")).isEqualTo(HealthState.OUT);
  }

  /** The answer to a probe of its life before tells nothing: another is asked, and none is late. */
  @Test
  void whoComesBackIsProbedAnew() {
    configure(0);
    for (int i = 0; i < 1_000; i++) {
      complete(pool.arrive("m", 1));
    }
    dropsTogether("a", 8);
    long open = sentTo("a");
    assertThat(probes).hasSize(1);
    pool.endpoints("b");
    pool.core.probed(pool.now, probes.removeFirst().id());
    pool.endpoints("a", "b");
    complete(open);
    complete(sentTo("a"));
    dropsTogether("a", 8);
    assertThat(probes).hasSize(1);
  }

  /** So many requests there are cut within some milliseconds, while others go on. */
  private void dropsTogether(String endpoint, int count) {
    List<Long> dropped = new ArrayList<>();
    List<Long> others = new ArrayList<>();
    while (dropped.size() < count) {
      long ticket = pool.core.arrive(pool.now, behindAProxy(pool.effects.size()), pool);
      pool.core.firstByte(pool.now, ticket);
      (pool.lastRoute().endpoint().equals(endpoint) ? dropped : others).add(ticket);
    }
    probes.clear();
    for (long ticket : dropped) {
      pool.now += 5 * MILLI;
      pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    }
    for (long ticket : others) {
      pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
  }

  private static RequestFacts behindAProxy(long seed) {
    return RequestFactsBuilder.of("m", seed, 1)
        .delivery(new RequestFacts.Delivery(true, false))
        .build();
  }
}
