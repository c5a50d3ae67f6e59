package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A client that is refused and waits exactly as long as it is told is served when it comes again.
 */
class RetryAfterTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;
  private static final long TICK = SECOND / 10;

  /** Requests that one endpoint serves at a time, in a second each in the mean. */
  private static final int ROOM = 50;

  private static final double CALM = 0.7;

  /** When more begins to come. */
  private static final long BEGIN = 60 * SECOND;

  private final PoolCore core = new PoolCore();
  private final EventQueue events = new EventQueue();
  private SplittableRandom random = new SplittableRandom(0);
  private final Map<Long, RequestFacts> waiting = new HashMap<>();
  private final Set<Long> again = new HashSet<>();
  private final List<Boolean> secondTries = new ArrayList<>();

  /** Seconds that those were told who come again. */
  private final List<Integer> told = new ArrayList<>();

  /** Which part of those who are refused comes again. */
  private double comeBack = 1;

  private long lastAt;
  private long now;

  /** Whether the request that arrives, of which nothing was told yet, was refused before. */
  private boolean arrivesAgain;

  private RequestFacts arriving = Pool.request("m", 0);

  private void at(long time, Runnable run) {
    events.add(time, run);
  }

  private void run(long until) {
    events.run(until, time -> now = time);
  }

  private void tick() {
    core.tick(now);
    at(now + TICK, this::tick);
  }

  private long exponential(double mean) {
    return (long) (-Math.log(1 - random.nextDouble()) * mean * SECOND);
  }

  private void traffic(double perSecond, long until) {
    if (perSecond == 0) {
      return;
    }
    long next = now + exponential(1 / perSecond);
    if (next < until) {
      at(
          next,
          () -> {
            arrive(Pool.request("m", random.nextLong(), 1, 2, random.nextLong()), false);
            traffic(perSecond, until);
          });
    }
  }

  private void arrive(RequestFacts request, boolean comesAgain) {
    arrivesAgain = comesAgain;
    arriving = request;
    core.arrive(now, request, this);
    arrivesAgain = false;
  }

  /** Whether it came again, at first or as one that waited since. */
  private boolean isSecondTry(long request) {
    boolean first = arrivesAgain;
    arrivesAgain = false;
    return first || again.remove(request);
  }

  @Override
  public void waits(long request, Criticality criticality) {
    waiting.put(request, arriving);
    if (isSecondTry(request)) {
      again.add(request);
    }
  }

  @Override
  public void send(long request, Route route) {
    if (isSecondTry(request)) {
      secondTries.add(true);
      lastAt = now;
    }
    waiting.remove(request);
    at(
        now + exponential(1),
        () -> {
          core.firstByte(now, request);
          core.ended(now, request, Outcome.COMPLETED, new Usage(48, 10, 0));
        });
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    RequestFacts facts = waiting.getOrDefault(request, arriving);
    waiting.remove(request);
    if (isSecondTry(request)) {
      secondTries.add(false);
    } else if (comeBack == 1 || random.nextDouble() < comeBack) {
      int seconds = rejection.retryAfterSeconds();
      told.add(seconds);
      at(now + seconds * SECOND, () -> arrive(sameAs(facts), true));
    }
  }

  /** What a client sends again; that it is the same shows in nothing that is drawn for it. */
  private RequestFacts sameAs(RequestFacts facts) {
    long last = facts.blocks()[facts.blocks().length - 1];
    return Pool.request("m", random.nextLong(), 1, 2, last);
  }

  private void run(long seed, double before, double factor, int seconds, double after) {
    random = new SplittableRandom(seed);
    core.configure(now, Pool.withRoom(ROOM, Pool.model("m", Criticality.STANDARD)));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    tick();
    traffic(before * ROOM, BEGIN);
    run(BEGIN);
    overload(factor, seconds, after);
  }

  private void overload(double factor, int seconds, double after) {
    long end = now + seconds * SECOND;
    traffic(factor * ROOM, end);
    run(end);
    traffic(after * ROOM, end + 180 * SECOND);
    run(end + 180 * SECOND);
    assertThat(secondTries).hasSizeGreaterThan(10);
  }

  private int admittedPercent() {
    return (int) (100 * secondTries.stream().filter(ok -> ok).count() / secondTries.size());
  }

  /**
   * More than can be served, for so long; before and after, and for those who come again, there is
   * room for three of ten more.
   */
  @ParameterizedTest
  @CsvSource({
    "1.25,20,11",
    "1.25,20,12",
    "1.25,20,13",
    "1.25,60,14",
    "1.5,20,15",
    "1.5,60,16",
    "2,20,17",
    "2,60,18",
    "3,5,19",
    "3,20,20",
    "5,5,21"
  })
  void whoWaitsAsLongAsItIsToldIsAdmittedThen(double factor, int seconds, long seed) {
    run(seed, CALM, factor, seconds, CALM);
    assertThat(admittedPercent()).isGreaterThanOrEqualTo(90);
  }

  /** What could not be served in time is, as soon as there is room for it. */
  @ParameterizedTest
  @CsvSource({"3,10,11", "3,15,12", "3,20,13", "2,20,14"})
  void nobodyIsToldToWaitLongWhereNothingElseComes(double factor, int seconds, long seed) {
    run(seed, 0, factor, seconds, 0);
    assertThat(admittedPercent()).isGreaterThanOrEqualTo(95);
    double work = (factor - 1) * seconds;
    assertThat((lastAt - BEGIN) / (double) SECOND - seconds).isLessThan(1.25 * work + 2);
  }

  /**
   * Of what can't be served nine of ten never come again, who shall be in nobody's way: it is as
   * where only the tenth is too much that does.
   */
  @ParameterizedTest
  @CsvSource({"3,60,32", "3,120,33", "5,60,35", "5,120,34", "8,120,36"})
  void whoNeverComesAgainIsInNobodysWay(double factor, int seconds, long seed) {
    RetryAfterTest without = new RetryAfterTest();
    without.run(seed, CALM, 1 + (factor - 1) / 10, seconds, CALM);
    comeBack = 0.1;
    run(seed, CALM, factor, seconds, CALM);
    System.out.printf(
        "factor %.0f, %d s: told %.1f s in the mean, %.1f s without those who never come again;"
            + " admitted %d %%%n",
        factor, seconds, mean(told), mean(without.told), admittedPercent());
    assertThat(mean(told)).isLessThan(2 * mean(without.told));
    assertThat(admittedPercent()).isGreaterThanOrEqualTo(80);
  }

  /** A short overload is over before anybody is known not to come: the next one is not. */
  @Test
  void norInTheNextOverload() {
    RetryAfterTest without = new RetryAfterTest();
    without.run(41, CALM, 1.2, 20, CALM);
    comeBack = 0.1;
    run(41, CALM, 3, 20, CALM);
    told.clear();
    secondTries.clear();
    overload(3, 20, CALM);
    assertThat(mean(told)).isLessThan(2 * mean(without.told));
    assertThat(admittedPercent()).isGreaterThanOrEqualTo(80);
  }

  private static double mean(List<Integer> seconds) {
    return seconds.stream().mapToInt(Integer::intValue).average().orElseThrow();
  }
}
