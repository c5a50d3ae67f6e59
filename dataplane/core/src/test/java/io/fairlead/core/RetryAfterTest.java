package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
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

  private final PoolCore core = new PoolCore();
  private final EventQueue events = new EventQueue();
  private final SplittableRandom random = new SplittableRandom(7);
  private final Set<Long> again = new HashSet<>();
  private final List<Boolean> secondTries = new ArrayList<>();
  private long now;

  /** Whether the request that arrives, of which nothing was told yet, was refused before. */
  private boolean arrivesAgain;

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
    long next = now + exponential(1 / perSecond);
    if (next < until) {
      at(
          next,
          () -> {
            arrive(false);
            traffic(perSecond, until);
          });
    }
  }

  private void arrive(boolean comesAgain) {
    arrivesAgain = comesAgain;
    core.arrive(now, Pool.request("m", random.nextLong(), 1, 2, 3), this);
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
    if (isSecondTry(request)) {
      again.add(request);
    }
  }

  @Override
  public void send(long request, Route route) {
    if (isSecondTry(request)) {
      secondTries.add(true);
    }
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
    if (isSecondTry(request)) {
      secondTries.add(false);
    } else {
      int seconds = rejection.retryAfterSeconds();
      at(now + seconds * SECOND, () -> arrive(true));
    }
  }

  /**
   * More than can be served, for so long; before and after, and for those who come again, there is
   * room for three of ten more.
   */
  @ParameterizedTest
  @CsvSource({"1.25,20", "1.25,60", "1.5,20", "1.5,60", "2,20", "3,5", "5,5"})
  void whoWaitsAsLongAsItIsToldIsAdmittedThen(double factor, int seconds) {
    core.configure(now, Pool.withRoom(ROOM, Pool.model("m", Criticality.STANDARD)));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    tick();
    traffic(CALM * ROOM, 30 * SECOND);
    run(30 * SECOND);
    traffic(factor * ROOM, (30 + seconds) * SECOND);
    run((30 + seconds) * SECOND);
    traffic(CALM * ROOM, (230 + seconds) * SECOND);
    run((200 + seconds) * SECOND);
    assertThat(secondTries).hasSizeGreaterThan(10);
    long admitted = secondTries.stream().filter(ok -> ok).count();
    System.out.printf(
        "%s x for %d s: %d came again, %d %% admitted%n",
        factor, seconds, secondTries.size(), 100 * admitted / secondTries.size());
    assertThat(admitted).isGreaterThanOrEqualTo(secondTries.size() * 4L / 5);
  }
}
