package io.fairlead.core;

import static io.fairlead.core.VirtualPool.MILLI;
import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import io.fairlead.core.VirtualPool.Server;
import io.fairlead.crds.config.Criticality;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What faults of servers cost, in virtual time: each with several seeds and both profiles. */
class EndpointHealthTest {

  private static final long FROM = 10 * SECOND;

  static Stream<Arguments> runs() {
    List<Arguments> runs = new ArrayList<>();
    for (String profile : List.of("cost", "weighted")) {
      for (long seed = 1; seed <= 5; seed++) {
        runs.add(Arguments.of(profile, seed));
      }
    }
    return runs.stream();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFailsFastCostsAGatewaysClientsNothing(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.fault(3, Manner.FAILS_FAST, FROM, 60 * SECOND);
    pool.traffic(50, 80 * SECOND);
    pool.runUntil(80 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.servers.get(3).sentAfter(FROM + 10 * SECOND) - usedAgain(pool, 3, 60 * SECOND))
        .as("requests sent there while it fails")
        .isLessThanOrEqualTo(2);
    assertThat(usedAgain(pool, 3, 60 * SECOND)).as("in use again").isPositive();
  }

  /** Their answers take minutes, and come in one piece. */
  @ParameterizedTest
  @MethodSource("runs")
  void thoseThatRestartWorkLongBeforeTheirFirstAnswerIsOver(String profile, long seed) {
    restartsAmidLongAnswers(new VirtualPool(seed, 4, profile), 10);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void thoseThatCountNoTokensGetMoreAndMore(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.servers.forEach(server -> server.progress = Double.NaN);
    restartsAmidLongAnswers(pool, 5);
  }

  private static void restartsAmidLongAnswers(VirtualPool pool, int atLeast) {
    pool.answer = 180 * SECOND;
    pool.streamed = 0;
    List<Server> restarted = pool.servers.subList(0, 3);
    double progress = restarted.getFirst().progress;
    for (Server server : restarted) {
      pool.at(FROM, () -> pool.kill(server));
      pool.at(
          FROM + 5 * SECOND,
          () -> {
            pool.restart(server);
            server.progress = progress;
          });
    }
    pool.traffic(1, 100 * SECOND);
    pool.runUntil(100 * SECOND);
    assertThat(restarted)
        .allSatisfy(
            server ->
                assertThat(server.sentAfter(FROM + 5 * SECOND))
                    .as("a quarter of 85 would be 21")
                    .isGreaterThanOrEqualTo(atLeast));
  }

  /** It has nothing in flight ever: it would look the least busy of all. */
  @ParameterizedTest
  @MethodSource("runs")
  void oneThatTurnsAllAwayGetsFew(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.fault(3, Manner.TURNS_AWAY, FROM, 60 * SECOND);
    pool.traffic(50, 80 * SECOND);
    pool.runUntil(80 * SECOND);
    assertThat(pool.failures).as("of 2,500").hasSizeLessThan(100);
    assertThat(pool.servers.get(3).sentAfter(60 * SECOND)).as("tried again").isGreaterThan(10);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatTurnsAllModelsAwayGetsFewOfAny(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.models = List.of("m", "a", "b", "c", "d", "e", "f", "g", "h", "i");
    pool.fault(3, Manner.TURNS_AWAY, FROM, 60 * SECOND);
    pool.traffic(50, 80 * SECOND);
    pool.runUntil(80 * SECOND);
    assertThat(pool.failures).as("of 2,500").hasSizeLessThan(100);
    assertThat(pool.servers.get(3).sentAfter(60 * SECOND)).as("tried again").isGreaterThan(10);
  }

  /** An adapter that failed to load there, say: what else it serves, it serves well. */
  @ParameterizedTest
  @MethodSource("runs")
  void oneThatLacksAModelGetsFewOfItsRequestsAndItsShareOfOthers(String profile, long seed) {
    long loaded = 70 * SECOND;
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.models = List.of("m", "a", "b", "c");
    Server lacking = pool.servers.get(1);
    pool.at(FROM, () -> lacking.lacks.add("a"));
    pool.at(loaded, () -> lacking.lacks.remove("a"));
    pool.traffic(80, 130 * SECOND);
    pool.runUntil(131 * SECOND);
    assertThat(pool.failures.size()).as("of 1,200, 300 of which were its share").isLessThan(60);
    for (String served : List.of("m", "b", "c")) {
      assertThat(shareOf(served, pool, lacking, FROM, loaded)).as(served).isBetween(0.22, 0.4);
    }
    assertThat(shareOf("a", pool, lacking, loaded + 20 * SECOND, 130 * SECOND))
        .as("20 s after it has the model again")
        .isBetween(0.2, 0.3);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatLacksSeveralModelsGetsItsShareOfOthers(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.models = List.of("m", "a", "b", "c", "d");
    Server lacking = pool.servers.get(1);
    pool.at(FROM, () -> lacking.lacks.addAll(List.of("a", "b", "c")));
    pool.traffic(80, 70 * SECOND);
    pool.runUntil(71 * SECOND);
    assertThat(pool.failures.size()).as("of 2,880").isLessThan(180);
    for (String served : List.of("m", "d")) {
      assertThat(shareOf(served, pool, lacking, FROM, 70 * SECOND)).as(served).isGreaterThan(0.22);
    }
  }

  @Test
  void anotherProcessLacksNothingUntilItRefusesIt() {
    VirtualPool pool = new VirtualPool(1, 4, "cost");
    pool.models = List.of("m", "a");
    Server lacking = pool.servers.get(1);
    pool.at(FROM, () -> lacking.lacks.add("a"));
    pool.at(
        60 * SECOND,
        () -> {
          lacking.lacks.clear();
          pool.restart(lacking);
        });
    pool.traffic(80, 70 * SECOND);
    pool.runUntil(71 * SECOND);
    assertThat(shareOf("a", pool, lacking, 50 * SECOND, 60 * SECOND)).isLessThan(0.1);
    assertThat(shareOf("a", pool, lacking, 61 * SECOND, 70 * SECOND)).isGreaterThan(0.2);
  }

  /** Of a model's requests in that time, those that were sent to this server. */
  private static double shareOf(String model, VirtualPool pool, Server server, long from, long to) {
    int all = pool.servers.stream().mapToInt(each -> each.sentFor(model, from, to)).sum();
    return (double) server.sentFor(model, from, to) / all;
  }

  /** Another key is asked for there, or a chat template is missing: all others serve. */
  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFindsAllInvalidGetsFew(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.fault(3, Manner.FINDS_ALL_INVALID, FROM, 60 * SECOND);
    pool.traffic(50, 110 * SECOND);
    pool.runUntil(110 * SECOND);
    assertThat(pool.failures).hasSizeLessThan(50);
    assertThat(
            pool.servers.get(3).sentAfter(FROM + 10 * SECOND)
                - pool.servers.get(3).sentAfter(60 * SECOND))
        .as("requests sent there while it finds all invalid")
        .isLessThanOrEqualTo(5);
    assertThat(pool.servers.get(3).sentAfter(90 * SECOND)).as("in use again").isGreaterThan(50);
  }

  /** Clients make mistakes, wherever they are sent: none is spared for it. */
  @ParameterizedTest
  @MethodSource("runs")
  void whereClientsMakeMistakesNoneIsSpared(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.faultOfAll(Manner.FINDS_A_THIRD_INVALID, 0, 60 * SECOND);
    pool.traffic(50, 60 * SECOND);
    pool.runUntil(60 * SECOND);
    assertThat(pool.failures).hasSizeGreaterThan(800);
    assertThat(pool.core.snapshot()).allMatch(endpoint -> endpoint.health().failing() == 0);
  }

  /** One client sends nothing but mistakes, and nobody else is there to be compared with. */
  @ParameterizedTest
  @MethodSource("runs")
  void whereAllFindAllInvalidNoneIsSpared(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.faultOfAll(Manner.FINDS_ALL_INVALID, 10 * SECOND, 40 * SECOND);
    pool.traffic(50, 40 * SECOND);
    pool.runUntil(40 * SECOND);
    assertThat(pool.failures).hasSizeGreaterThan(1_000);
    assertThat(pool.core.snapshot()).allMatch(endpoint -> endpoint.health().failing() == 0);
  }

  /**
   * All of them go to the server that holds their beginning, between what it serves to others.
   * Where that happens to be little it is out for long: in one of sixty runs for half of the time.
   */
  @ParameterizedTest
  @ValueSource(strings = {"cost", "weighted"})
  void aClientThatMakesNothingButMistakesTakesNoServersAway(String profile) {
    double away = 0;
    for (long seed = 1; seed <= 20; seed++) {
      double once = looksAtServersThatAreAway(profile, seed);
      assertThat(once).as("of 2,000 looks at a server with seed %d", seed).isLessThan(300);
      away += once / 20;
    }
    assertThat(away).as("of 2,000 looks at a server").isLessThan(80);
  }

  /**
   * A server answers some requests with an error whoever gets them, as where an image can't be
   * fetched. One client sends such, of one beginning: that takes no servers away from the others.
   */
  @ParameterizedTest
  @CsvSource({
    "80, 400, 3, 6, true",
    "80, 400, 60, 1, true",
    "16, 10000, 4, 1, true",
    "16, 10000, 8, 1, true",
    "80, 400, 20, 1, false",
    "16, 10000, 4, 4, false",
    "16, 10000, 8, 1, false",
  })
  void aClientWhoseRequestsAllServersFailTakesNoneAway(
      double others, long answerMillis, double perSecond, int atOnce, boolean gateway) {
    for (String profile : List.of("cost", "weighted")) {
      for (long seed = 1; seed <= 3; seed++) {
        VirtualPool pool = new VirtualPool(seed, 8, profile);
        pool.groups = 20;
        pool.answer = answerMillis * MILLI;
        pool.gateway = gateway;
        pool.traffic(others, 60 * SECOND);
        pool.poison(perSecond, atOnce, FROM, 60 * SECOND);
        AtomicLong away = looksAtServersAway(pool, 8);
        pool.runUntil(61 * SECOND);
        assertThat(pool.failures).hasSizeGreaterThan((int) (45 * perSecond));
        assertThat(away.get()).as("of 4,000 looks, %s, seed %d", profile, seed).isLessThan(120);
      }
    }
  }

  /** Each server is looked at ten times a second until the end of the minute. */
  private static AtomicLong looksAtServersAway(VirtualPool pool, int servers) {
    AtomicLong away = new AtomicLong();
    for (long time = FROM; time < 60 * SECOND; time += 100 * MILLI) {
      pool.at(
          time,
          () ->
              away.addAndGet(
                  IntStream.range(0, servers)
                      .filter(server -> pool.health(server) != HealthState.IN_USE)
                      .count()));
    }
    return away;
  }

  private static double looksAtServersThatAreAway(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.groups = 20;
    pool.traffic(40, 60 * SECOND);
    pool.mistakes(400, FROM, 60 * SECOND);
    AtomicLong away = looksAtServersAway(pool, 4);
    pool.runUntil(60 * SECOND);
    assertThat(pool.failures).hasSizeGreaterThan(19_000);
    return away.get();
  }

  /** Nor do they hide a server that finds all invalid. */
  @ParameterizedTest
  @MethodSource("runs")
  void amongAClientsMistakesOneThatFindsAllInvalidIsFound(String profile, long seed) {
    for (int pace : new int[] {20, 100, 400}) {
      VirtualPool pool = new VirtualPool(seed, 4, profile);
      pool.groups = 20;
      pool.traffic(40, 60 * SECOND);
      pool.mistakes(pace, 2 * SECOND, 60 * SECOND);
      pool.fault(2, Manner.FINDS_ALL_INVALID, FROM, 60 * SECOND);
      pool.runUntil(61 * SECOND);
      assertThat(pool.failures.size() - 58 * pace).as("at %d", pace).isLessThan(60);
    }
  }

  /** Rows that all endpoints had at the same time are of nobody's making in particular. */
  @ParameterizedTest
  @MethodSource("runs")
  void whereOneStillFindsAllInvalidWhenTheOthersServeAgainItIsFound(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    for (int i = 0; i < 4; i++) {
      pool.fault(i, Manner.FINDS_ALL_INVALID, FROM, (i == 3 ? 60 : 30) * SECOND);
    }
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(60 * SECOND);
    assertThat(pool.failedBetween(30 * SECOND, 60 * SECOND)).isLessThan(60);
  }

  @Test
  void aStreamThatTellsOfNoTokensShowsWhatIsServed() {
    Pool pool = new Pool().configure().endpoints("a");
    long refused = pool.arrive("m");
    pool.core.ended(pool.now, refused, Outcome.REFUSED, Usage.UNKNOWN);
    assertThat(pool.snapshot("a").health().failing()).isZero();
    long served = pool.arrive("m");
    pool.core.firstByte(pool.now, served);
    pool.core.ended(pool.now, served, Outcome.COMPLETED, Usage.UNKNOWN);
    refused = pool.arrive("m");
    pool.core.ended(pool.now, refused, Outcome.REFUSED, Usage.UNKNOWN);
    assertThat(pool.snapshot("a").health().failing()).isPositive();
  }

  /** Clients may ask for adapters by the thousand, and name each once. */
  @Test
  void whatIsServedIsKnownHoweverManyNamesThereAre() {
    Pool pool = new Pool().configure().endpoints("a", "b");
    for (int i = 0; i <= 10_000; i++) {
      complete(pool, "m-" + i);
      if (i % 5_000 == 0) {
        complete(pool, "usual");
      }
    }
    // The newest one, and one that is older than most and was answered for of late.
    assertThat(refusedByOneOfTwo(pool, "m-10000")).isPositive().isLessThan(20);
    assertThat(refusedByOneOfTwo(pool, "usual")).isPositive().isLessThan(20);
  }

  /** How many of a hundred requests go to one that refuses them. */
  private static int refusedByOneOfTwo(Pool pool, String model) {
    int refused = 0;
    for (int i = 0; i < 100; i++) {
      long ticket = pool.arrive(model);
      if (pool.lastRoute().endpoint().equals("a")) {
        refused++;
        pool.core.ended(pool.now, ticket, Outcome.REFUSED, Usage.UNKNOWN);
      } else {
        pool.core.firstByte(pool.now, ticket);
        pool.core.ended(pool.now, ticket, Outcome.COMPLETED, new Usage(12, 3, -1));
      }
    }
    return refused;
  }

  /** What a request is for that names none is not known, so nobody need serve it. */
  @Test
  void whoRefusesWhatNamesNoModelIsNotToBlame() {
    Pool pool = new Pool().configure().endpoints("a");
    complete(pool, "");
    pool.core.ended(pool.now, pool.arrive(""), Outcome.REFUSED, Usage.UNKNOWN);
    assertThat(pool.snapshot("a").health().failing()).isZero();
  }

  private static void complete(Pool pool, String model) {
    long served = pool.arrive(model);
    pool.core.firstByte(pool.now, served);
    pool.core.ended(pool.now, served, Outcome.COMPLETED, new Usage(12, 3, -1));
  }

  /** They have no answers whose tokens could be counted. */
  @Test
  void anEmbeddingShowsWhatIsServed() {
    Pool pool = new Pool().configure().endpoints("a");
    RequestFacts facts = RequestFactsBuilder.of("m", 1).streamed(false).build();
    pool.core.ended(
        pool.now, pool.core.arrive(pool.now, facts, pool), Outcome.COMPLETED, new Usage(12, 0, -1));
    pool.core.ended(
        pool.now, pool.core.arrive(pool.now, facts, pool), Outcome.REFUSED, Usage.UNKNOWN);
    assertThat(pool.snapshot("a").health().failing()).isPositive();
  }

  @Test
  void oneThatRefusesManyIsNotTakenOutForOneThatItFails() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.serve("m");
    for (int i = 0; i < 20; i++) {
      pool.core.ended(pool.now, pool.arrive("m"), Outcome.REFUSED, Usage.UNKNOWN);
    }
    pool.core.attemptFailed(pool.now, pool.arrive("m"), Failure.ERROR);
    assertThat(pool.snapshot("a").health().state()).isEqualTo(HealthState.IN_USE);
  }

  /** It answered in between. */
  @Test
  void failuresBetweenWhichItRefusedAreNotInARow() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.serve("m");
    for (int i = 0; i < 3; i++) {
      pool.now += SECOND;
      pool.core.ended(pool.now, pool.arrive("m"), Outcome.REFUSED, Usage.UNKNOWN);
      pool.now += SECOND;
      pool.core.attemptFailed(pool.now, pool.arrive("m"), Failure.ERROR);
    }
    assertThat(pool.snapshot("a").health().state()).isEqualTo(HealthState.IN_USE);
  }

  /** That is no endpoint's fault, and none is spared for it. */
  @ParameterizedTest
  @MethodSource("runs")
  void whereAllTurnAwayWhatNobodyServesNoneIsSpared(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.faultOfAll(Manner.TURNS_AWAY, 0, 20 * SECOND);
    pool.traffic(50, 20 * SECOND);
    pool.runUntil(20 * SECOND);
    assertThat(pool.servers).allMatch(server -> server.sentAfter(0) > 100);
    assertThat(pool.core.snapshot()).allMatch(endpoint -> endpoint.health().failing() == 0);
  }

  /** Requests that a server got within ten seconds after it is well again, and later. */
  private static int usedAgain(VirtualPool pool, int server, long well) {
    assertThat(pool.servers.get(server).sentAfter(well) - 0)
        .as("used within 10 s")
        .isGreaterThan(pool.servers.get(server).sentAfter(well + 10 * SECOND));
    return pool.servers.get(server).sentAfter(well);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFailsFastCostsAProxysClientsLittle(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.gateway = false;
    pool.fault(3, Manner.FAILS_FAST, FROM, 60 * SECOND);
    pool.traffic(50, 80 * SECOND);
    pool.runUntil(80 * SECOND);
    assertThat(pool.failedBetween(FROM, FROM + 10 * SECOND)).isLessThanOrEqualTo(5);
    assertThat(pool.failedBetween(FROM + 10 * SECOND, 80 * SECOND)).isLessThanOrEqualTo(3);
    usedAgain(pool, 3, 60 * SECOND);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void halfOfThePoolIsDeadFromTheStart(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.servers.get(1).manner = Manner.REFUSES;
    pool.servers.get(2).manner = Manner.REFUSES;
    pool.traffic(20, 30 * SECOND);
    pool.runUntil(31 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.servers.get(1).sent + pool.servers.get(2).sent).isLessThanOrEqualTo(6);
    assertThat(pool.health(1)).isEqualTo(HealthState.OUT);
    assertThat(pool.health(2)).isEqualTo(HealthState.OUT);
  }

  @ParameterizedTest
  @EnumSource(
      value = Manner.class,
      names = {"FREEZES", "FREEZES_ALL", "DRAINS"})
  void nothingNewGoesToAFrozenOrDrainingOne(Manner manner) {
    for (long seed = 1; seed <= 5; seed++) {
      for (boolean gateway : new boolean[] {true, false}) {
        VirtualPool pool = new VirtualPool(seed, 6, "cost");
        pool.gateway = gateway;
        pool.fault(2, manner, FROM, 40 * SECOND);
        pool.traffic(40, 60 * SECOND);
        pool.runUntil(61 * SECOND);
        Server sick = pool.servers.get(2);
        int sentWhileSick = sick.sentAfter(FROM + 2 * SECOND) - sick.sentAfter(40 * SECOND);
        assertThat(sentWhileSick).as("%s, seed %d", manner, seed).isZero();
        assertThat(sick.sentAfter(40 * SECOND) - sick.sentAfter(50 * SECOND))
            .as("used again within 10 s")
            .isPositive();
        int most = gateway ? manner == Manner.DRAINS ? 0 : 6 : 40;
        assertThat(pool.failures).as("%s, seed %d", manner, seed).hasSizeLessThanOrEqualTo(most);
      }
    }
  }

  /** Of workers that share a port, say: what one has done is no progress of the other. */
  @ParameterizedTest
  @MethodSource("runs")
  void aFrozenOneWhosePagesTwoWorkersTellInTurnIsFound(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.servers.forEach(server -> server.twoWorkers = true);
    pool.fault(2, Manner.FREEZES, FROM, 40 * SECOND);
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    Server sick = pool.servers.get(2);
    assertThat(sick.sentAfter(FROM + 3 * SECOND) - sick.sentAfter(40 * SECOND)).isZero();
    assertThat(sick.sentAfter(40 * SECOND)).as("used again").isPositive();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneWhoseConnectionsNeverComeAboutIsFound(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.fault(0, Manner.SWALLOWS, FROM, 40 * SECOND);
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    assertThat(pool.failures).isEmpty();
    Server sick = pool.servers.getFirst();
    assertThat(sick.sentAfter(FROM + 3 * SECOND) - sick.sentAfter(40 * SECOND)).isZero();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatBreaksItsAnswersOffIsOutThroughBothFrontends(String profile, long seed) {
    for (boolean gateway : new boolean[] {true, false}) {
      VirtualPool pool = new VirtualPool(seed, 6, profile);
      pool.gateway = gateway;
      pool.fault(0, Manner.BREAKS_OFF, FROM, 50 * SECOND);
      pool.traffic(20, 90 * SECOND);
      pool.runUntil(91 * SECOND);
      assertThat(pool.failures).as("gateway: %s", gateway).hasSizeLessThan(gateway ? 12 : 16);
      assertThat(pool.servers.getFirst().sentAfter(60 * SECOND)).as("used again").isPositive();
    }
  }

  /** Clients that leave are no fault of servers, however many they are. */
  @ParameterizedTest
  @MethodSource("runs")
  void clientsThatLeavePutNobodyOut(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.gateway = false;
    pool.traffic(40, 60 * SECOND);
    for (long at = SECOND; at < 60 * SECOND; at += 40 * MILLI) {
      pool.at(at, pool::hangUp);
    }
    pool.runUntil(61 * SECOND);
    assertThat(pool.disconnected).isGreaterThan(500);
    assertThat(pool.changes).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void serversThatAllTakeLongAndTellNothingAreWaitedFor(String profile, long seed) {
    for (boolean gateway : new boolean[] {true, false}) {
      VirtualPool pool = new VirtualPool(seed, 3, profile);
      pool.gateway = gateway;
      pool.streamed = 0;
      pool.faultOfAll(Manner.CRAWLS, 3 * SECOND, 60 * SECOND);
      pool.traffic(2, 40 * SECOND);
      pool.runUntil(61 * SECOND);
      assertThat(pool.failures).as("of some 75").hasSizeLessThan(8);
    }
  }

  /** What was learned of a server fades when it gets nothing: nobody else could unlearn it. */
  @ParameterizedTest
  @MethodSource("runs")
  void serversThatWereSlowerGetTheirShareAgain(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 3, profile);
    pool.fault(0, Manner.SLOW, 5 * SECOND, 25 * SECOND);
    pool.fault(1, Manner.SLOW, 5 * SECOND, 25 * SECOND);
    pool.traffic(6, 120 * SECOND);
    pool.runUntil(121 * SECOND);
    for (int i = 0; i < 3; i++) {
      assertThat(pool.servers.get(i).sentAfter(55 * SECOND))
          .as("of some 390 for three servers")
          .isGreaterThan(65);
    }
  }

  /** A client that is in a hurry says nothing of servers. */
  @ParameterizedTest
  @MethodSource("runs")
  void boundsThatNoServerKeepsToPutNobodyOut(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, profile);
    pool.timeouts = new Timeouts(Duration.ofMillis(5), Duration.ofMillis(20), null);
    pool.faultOfAll(Manner.SLOW, 0, 21 * SECOND); // pieces that are told come a second apart
    pool.traffic(20, 20 * SECOND);
    pool.runUntil(21 * SECOND);
    assertThat(pool.failures).isNotEmpty();
    assertThat(pool.changes).isEmpty();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneLongOutageMakesThePoolDeafToNoOther(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.fault(0, Manner.VANISHES, FROM, 70 * SECOND);
    pool.fault(1, Manner.FREEZES, 75 * SECOND, 95 * SECOND);
    pool.traffic(40, 100 * SECOND);
    pool.runUntil(101 * SECOND);
    Server frozen = pool.servers.get(1);
    assertThat(frozen.sentAfter(80 * SECOND) - frozen.sentAfter(95 * SECOND)).isZero();
  }

  /** Its first tokens come soon, and nobody waits for the end of what follows. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void oneThatTricklesGetsFewThoughClientsLeave(long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, "cost");
    pool.answer = 4 * SECOND;
    pool.servers.get(1).manner = Manner.TRICKLES;
    pool.traffic(10, 300 * SECOND);
    pool.runUntil(300 * SECOND);
    assertThat(pool.servers.get(1).sentAfter(240 * SECOND)).as("of 600").isLessThan(6);
  }

  /** Others look better for as long as nothing new is known of it. */
  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFailedOnceIsNotAvoidedForLong(String profile, long seed) {
    for (boolean gateway : new boolean[] {true, false}) {
      VirtualPool pool = new VirtualPool(seed, 8, profile);
      pool.gateway = gateway;
      pool.servers.getFirst().manner = Manner.FAILS_ONCE;
      pool.traffic(20, 40 * SECOND);
      pool.runUntil(41 * SECOND);
      Server once = pool.servers.getFirst();
      for (long from = 3 * SECOND; from < 39 * SECOND; from += 3 * SECOND) {
        assertThat(once.sentAfter(from) - once.sentAfter(from + 3 * SECOND))
            .as("sent there of 60 requests, from second %d", from / SECOND)
            .isPositive();
      }
    }
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFailsFromTheStartIsUsedSoonAfterItIsWell(String profile, long seed) {
    for (Manner manner : List.of(Manner.FAILS_FAST, Manner.DRAINS, Manner.REFUSES)) {
      for (boolean gateway : new boolean[] {true, false}) {
        VirtualPool pool = new VirtualPool(seed, 8, profile);
        pool.gateway = gateway;
        pool.servers.getFirst().manner = manner;
        pool.at(20 * SECOND, () -> pool.well(pool.servers.getFirst()));
        pool.traffic(50, 32 * SECOND);
        pool.runUntil(33 * SECOND);
        assertThat(pool.servers.getFirst().sentAfter(20 * SECOND)).as("%s", manner).isPositive();
        assertThat(pool.servers.getFirst().sentAfter(30 * SECOND)).as("%s", manner).isPositive();
      }
    }
  }

  /** Also where pauses are usual, so that silence says little at first. */
  @ParameterizedTest
  @MethodSource("runs")
  void nobodyWaitsForOneWhoseMachineIsGone(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.streamed = 0.5;
    pool.fault(1, Manner.SLOW, 2 * SECOND, FROM - SECOND);
    pool.fault(0, Manner.VANISHES, FROM, 40 * SECOND);
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    assertThat(pool.failures).as("what was being answered is lost").allMatch("broken off"::equals);
    assertThat(pool.longestWait).isLessThan(8 * SECOND);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void metricsThatAreGoneCostNothing(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.faultOfAll(Manner.LOSES_METRICS, FROM, 70 * SECOND);
    pool.traffic(40, 80 * SECOND);
    pool.runUntil(81 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.changes).isEmpty();
    pool.servers.forEach(s -> assertThat(s.sent).isBetween(800 / 6, 8_000 / 6));
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneIsKilledAndComesBackWithAnEmptyCache(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    Server killed = pool.servers.get(4);
    pool.at(FROM, () -> pool.kill(killed));
    pool.at(30 * SECOND, () -> pool.restart(killed));
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    assertThat(pool.failures).as("what was being answered is lost").allMatch("broken off"::equals);
    assertThat(pool.failures).hasSizeLessThan(10);
    assertThat(killed.sentAfter(30 * SECOND) - killed.sentAfter(40 * SECOND)).isPositive();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatFailsAFewIsUsedLess(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, profile);
    pool.fault(5, Manner.FAILS_SOME, 0, 400 * SECOND);
    pool.traffic(60, 400 * SECOND);
    pool.runUntil(400 * SECOND);
    int fair = pool.arrived / 8;
    assertThat(pool.servers.get(5).sent).isBetween(fair / 4, fair * 9 / 10);
    assertThat(pool.failures).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void oneThatFlapsIsLeftAloneMoreAndMoreAndNotForEver(long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, "cost");
    pool.gateway = false;
    Server flapping = pool.servers.get(1);
    for (int s = 10; s < 130; s += 2) {
      pool.at(s * SECOND, () -> flapping.manner = Manner.REFUSES);
      pool.at((s + 1) * SECOND, () -> flapping.manner = Manner.WELL);
    }
    pool.traffic(40, 200 * SECOND);
    pool.runUntil(201 * SECOND);
    assertThat(pool.failures.size()).as("of 4,800 requests").isLessThanOrEqualTo(24);
    assertThat(pool.changes.size()).as("changes in two minutes").isLessThanOrEqualTo(60);
    assertThat(flapping.sentAfter(170 * SECOND)).as("after it is well").isPositive();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whereMostLookSickItIsNotThey(long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, "cost");
    pool.faultOfAll(Manner.FAILS_FAST, FROM, 40 * SECOND);
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(40 * SECOND);
    int during = pool.servers.stream().mapToInt(s -> s.sentAfter(FROM)).sum();
    assertThat(during)
        .as("sends of 1,200 requests: a fifth more, and what is saved up")
        .isLessThan(1_200 * 14 / 10 + 200);
    assertThat(pool.servers.stream().filter(s -> s.sentAfter(20 * SECOND) > 0).count())
        .as("servers that still get requests")
        .isGreaterThanOrEqualTo(3);
    pool.runUntil(61 * SECOND);
    assertThat(pool.failedBetween(45 * SECOND, 61 * SECOND)).isZero();
    assertThat(pool.servers).allMatch(s -> s.sentAfter(50 * SECOND) > 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void halfOfThePoolIsSick(long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, "cost");
    for (int i = 0; i < 3; i++) {
      pool.fault(i, Manner.FAILS_FAST, FROM, 40 * SECOND);
    }
    pool.traffic(40, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    assertThat(pool.failures).as("failed twice before that was known").hasSizeLessThan(6);
    assertThat(pool.failedBetween(FROM + 2 * SECOND, 61 * SECOND)).isZero();
    assertThat(pool.servers).allMatch(s -> s.sentAfter(50 * SECOND) > 0);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void probesThatAreWrongLockNobodyOut(long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, "cost");
    pool.fault(1, Manner.FAILS_FAST, FROM, 15 * SECOND);
    pool.at(15 * SECOND, () -> pool.servers.get(1).manner = Manner.FAILS_PROBES);
    pool.fault(2, Manner.PASSES_PROBES, 100 * SECOND, 160 * SECOND);
    pool.traffic(20, 250 * SECOND);
    pool.runUntil(251 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.servers.get(1).sentAfter(80 * SECOND)).as("fails its probes").isPositive();
    Server passes = pool.servers.get(2);
    assertThat(passes.sentAfter(100 * SECOND) - passes.sentAfter(160 * SECOND))
        .as("passes its probes, and is tried ever more rarely")
        .isLessThan(15);
    assertThat(passes.sentAfter(200 * SECOND)).isPositive();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void withoutProbesRequestsAreTheProbes(long seed) {
    VirtualPool pool = new VirtualPool(seed, 4, "cost");
    pool.probing = false;
    pool.fault(1, Manner.FAILS_FAST, FROM, 60 * SECOND);
    pool.traffic(20, 120 * SECOND);
    pool.runUntil(121 * SECOND);
    Server sick = pool.servers.get(1);
    assertThat(pool.failures).isEmpty();
    assertThat(sick.sentAfter(FROM) - sick.sentAfter(60 * SECOND)).isLessThan(15);
    assertThat(sick.sentAfter(95 * SECOND)).isPositive();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void oneThatIsSlowForAWhileFailsNobody(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.fault(3, Manner.SLOW, FROM, 40 * SECOND);
    pool.traffic(40, 80 * SECOND);
    pool.runUntil(85 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.servers.get(3).sentAfter(60 * SECOND)).isPositive();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void answersInOnePieceAreNoSilence(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 3, profile);
    pool.streamed = 0;
    pool.servers.forEach(s -> s.manner = Manner.SLOW);
    pool.traffic(10, 60 * SECOND);
    pool.runUntil(70 * SECOND);
    assertThat(pool.failures).isEmpty();
    assertThat(pool.core.active()).isZero();
  }

  @ParameterizedTest
  @MethodSource("runs")
  void serversWithNothingWaitingTurnNobodyAway(String profile, long seed) {
    for (double streamed : new double[] {0, 1}) {
      VirtualPool pool = new VirtualPool(seed, 3, profile, Criticality.SHEDDABLE);
      pool.streamed = streamed;
      pool.servers.forEach(s -> s.manner = Manner.SLOW);
      pool.traffic(60, 40 * SECOND);
      for (int burst = 5; burst < 40; burst += 5) {
        for (int i = 0; i < 50; i++) {
          pool.at(burst * SECOND + i * (125 * MILLI / 50), pool::arrive);
        }
      }
      pool.runUntil(50 * SECOND);
      assertThat(pool.failures).isEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("runs")
  void equalIdleServersShareWhatSharesNothing(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.traffic(20, 60 * SECOND);
    pool.runUntil(61 * SECOND);
    int busiest = pool.servers.stream().mapToInt(s -> s.sent).max().orElseThrow();
    assertThat(busiest).isLessThanOrEqualTo(pool.arrived / 4);
  }

  @ParameterizedTest
  @MethodSource("runs")
  void whoComesBackGetsItsShare(String profile, long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, profile);
    pool.traffic(20, 60 * SECOND);
    pool.at(20 * SECOND, () -> pool.list(pool.servers.subList(0, 4)));
    pool.at(
        25 * SECOND,
        () -> {
          pool.servers.get(4).incarnation++;
          pool.list(pool.servers);
        });
    pool.runUntil(61 * SECOND);
    assertThat(pool.failures).isEmpty();
    for (int i = 4; i < 6; i++) {
      Server back = pool.servers.get(i);
      int within15s = back.sentAfter(25 * SECOND) - back.sentAfter(40 * SECOND);
      assertThat(within15s).as("of some 300").isGreaterThanOrEqualTo(30);
    }
  }

  /** Most of each prompt is cached: what is left of it takes some milliseconds on the others. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whoIsSlowAtShortPromptsGetsFew(long seed) {
    VirtualPool pool = new VirtualPool(seed, 8, "cost");
    pool.groups = 20;
    pool.traffic(50, 60 * SECOND);
    pool.fault(0, Manner.SLOW, 10 * SECOND, 30 * SECOND);
    pool.runUntil(61 * SECOND);
    Server slow = pool.servers.get(0);
    int sick = slow.sentAfter(15 * SECOND) - slow.sentAfter(30 * SECOND);
    assertThat(sick).as("of some 750").isLessThanOrEqualTo(750 / 8 / 3);
    assertThat(slow.sentAfter(45 * SECOND)).as("of some 750").isGreaterThanOrEqualTo(40);
  }

  /** The more is known of a server, the more must be seen to believe something else of it. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whoGetsSlowAfterALongGoodTimeIsSoonFound(long seed) {
    for (int groups : new int[] {0, 20}) {
      VirtualPool pool = new VirtualPool(seed, 8, "cost");
      pool.groups = groups;
      pool.traffic(50, 240 * SECOND);
      pool.fault(0, Manner.SLOW, 120 * SECOND, 150 * SECOND);
      pool.runUntil(241 * SECOND);
      Server slow = pool.servers.get(0);
      int sick = slow.sentAfter(125 * SECOND) - slow.sentAfter(150 * SECOND);
      int back = slow.sentAfter(210 * SECOND) - slow.sentAfter(240 * SECOND);
      assertThat(sick).as("of some 1,250").isLessThanOrEqualTo(1_250 / 100);
      assertThat(back).as("of some 1,500").isGreaterThanOrEqualTo(1_500 / 8 / 2);
    }
  }

  /** Those who stayed hold the common beginnings of all prompts by then, and are hardly busy. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void whoComesBackGetsItsShareOfPromptsThatOthersHold(long seed) {
    VirtualPool pool = new VirtualPool(seed, 6, "cost");
    pool.groups = 20;
    pool.traffic(20, 90 * SECOND);
    pool.at(40 * SECOND, () -> pool.list(pool.servers.subList(0, 4)));
    pool.at(45 * SECOND, () -> pool.list(pool.servers));
    pool.runUntil(91 * SECOND);
    for (int i = 4; i < 6; i++) {
      Server back = pool.servers.get(i);
      int within15s = back.sentAfter(45 * SECOND) - back.sentAfter(60 * SECOND);
      assertThat(within15s).as("of some 300").isGreaterThanOrEqualTo(30);
      assertThat(back.sentAfter(70 * SECOND)).as("of some 400, later").isGreaterThanOrEqualTo(40);
    }
  }

  @Test
  void aPromptThatKillsServersGoesOutTwice() {
    Pool pool = new Pool().configure().endpoints("a", "b", "c", "d");
    long ticket = pool.arrive("m");
    pool.now = 40 * SECOND;
    pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
    pool.now = 80 * SECOND;
    pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
    assertThat(pool.routes).hasSize(2);
    assertThat(pool.rejections).hasSize(1);
  }

  @Test
  void aRequestThatNobodyBeganGoesOutAsOftenAsItTakes() {
    Pool pool = new Pool().configure().endpoints("a", "b", "c", "d");
    long ticket = pool.arrive("m");
    for (int i = 0; i < 3; i++) {
      pool.now += MILLI;
      pool.core.attemptFailed(pool.now, ticket, Failure.REFUSED);
    }
    assertThat(pool.routes).extracting(Route::endpoint).doesNotHaveDuplicates().hasSize(4);
    assertThat(pool.rejections).isEmpty();
  }

  @Test
  void whereNobodyElseIsTheClientGetsTheAnswerThatThereIs() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.core.attemptFailed(pool.now, pool.arrive("m"), Failure.ERROR);
    assertThat(pool.effects).last().asString().endsWith(" passed");
    assertThat(pool.rejections).isEmpty();
  }

  /** To break off what a client has some of is worse than to wait with it. */
  @Test
  void whoTellsAClientToWaitMayGoOnDoingSo() {
    Pool pool = new Pool().configure().endpoints("a");
    long ticket = pool.arrive("m");
    pool.core.answering(pool.now, ticket);
    for (long end = pool.now + 300 * SECOND; pool.now < end; pool.now += 100 * MILLI) {
      if (pool.now % (15 * SECOND) < 100 * MILLI) {
        pool.core.progress(pool.now, ticket);
      }
      pool.core.tick(pool.now);
    }
    assertThat(pool.rejections).isEmpty();
    for (long end = pool.now + 200 * SECOND; pool.now < end; pool.now += 100 * MILLI) {
      pool.core.tick(pool.now);
    }
    assertThat(pool.rejections)
        .as("it stopped doing so")
        .extracting(Rejection::reason)
        .containsExactly(Rejection.Reason.FIRST_BYTE_TIMEOUT);
  }

  @Test
  void aFrozenServerHoldsNobodyForEver() {
    Pool pool = new Pool().configure().endpoints("a");
    pool.arrive("m");
    for (; pool.now < 700 * SECOND; pool.now += 100 * MILLI) {
      pool.core.tick(pool.now);
    }
    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Rejection.Reason.FIRST_BYTE_TIMEOUT);
    assertThat(pool.core.active()).isZero();
  }

  @Test
  void anAnswerThatStopsIsBrokenOff() {
    Pool pool = new Pool().configure().endpoints("a");
    long ticket = pool.arrive("m");
    pool.core.firstByte(pool.now, ticket);
    for (; pool.now < 130 * SECOND; pool.now += 100 * MILLI) {
      pool.core.tick(pool.now);
    }
    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Rejection.Reason.SILENCE_TIMEOUT);
  }

  /** Ticks; of this request more comes all the time. */
  private static void tickUntil(Pool pool, long end, long lively) {
    for (; pool.now < end; pool.now += 100 * MILLI) {
      pool.core.progress(pool.now, lively);
      pool.core.tick(pool.now);
    }
  }

  @Test
  void anAnswerThatItsClientHoldsUpSaysNothingOfTheEndpoint() {
    Pool pool = new Pool().configure().endpoints("a");
    long other = pool.arrive("m");
    pool.core.firstByte(pool.now, other);
    long ticket = pool.arrive("m");
    pool.core.firstByte(pool.now, ticket);
    pool.core.heldUp(pool.now, ticket, true);
    tickUntil(pool, 500 * SECOND, other);
    assertThat(pool.rejections).isEmpty();
    pool.core.heldUp(pool.now, ticket, false);
    tickUntil(pool, 619 * SECOND, other);
    assertThat(pool.rejections).as("it has its time from then on").isEmpty();
    assertThat(pool.snapshot("a").health().failing()).isZero();
    tickUntil(pool, 621 * SECOND, other);
    assertThat(pool.rejections)
        .extracting(Rejection::reason)
        .containsExactly(Rejection.Reason.SILENCE_TIMEOUT);
    assertThat(pool.snapshot("a").health().failing()).isPositive();
  }

  /** Whoever else is there learns nothing of the endpoint from it. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anAnswerThatItsClientHoldsUpIsNoSignOfLife(boolean heldUp) {
    Pool pool = new Pool().configure().endpoints("a", "b");
    List.of("m", "m", "m", "m").forEach(pool::serve);
    long answered = pool.arrive("m");
    String there = pool.lastRoute().endpoint();
    pool.core.firstByte(pool.now, answered);
    long elsewhere = pool.arrive("m");
    pool.core.firstByte(pool.now, elsewhere);
    pool.now += SECOND;
    pool.arrive("m");
    if (!pool.lastRoute().endpoint().equals(there)) {
      pool.arrive("m");
    }
    assertThat(pool.lastRoute().endpoint()).isEqualTo(there);
    for (long end = pool.now + 30 * SECOND; pool.now < end; pool.now += 100 * MILLI) {
      if (heldUp) {
        pool.core.heldUp(pool.now, answered, true);
      } else {
        pool.core.progress(pool.now, answered);
      }
      pool.core.progress(pool.now, elsewhere);
      pool.core.tick(pool.now);
    }
    assertThat(pool.lastRoute().endpoint().equals(there)).isEqualTo(!heldUp);
  }
}
