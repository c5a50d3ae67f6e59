package io.fairlead.core;

import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What faults of servers cost where few requests come, in virtual time. */
class QuietPoolHealthTest {

  static Stream<Arguments> pools() {
    List<Arguments> pools = new ArrayList<>();
    for (String profile : List.of("cost", "weighted")) {
      for (int size : new int[] {4, 8, 100}) {
        // Of a hundred each gets one in minutes as it is; hours of their scrapes take long to play.
        for (double perSecond : size == 100 ? new double[] {0.5} : new double[] {0.05, 0.2, 0.5}) {
          pools.add(Arguments.of(profile, size, perSecond));
        }
      }
    }
    return pools.stream();
  }

  /** To try it again is no reason to send it what others serve. */
  @ParameterizedTest
  @MethodSource("pools")
  void oneThatLacksAModelGetsNoMoreOfItsRequestsThanItsShare(
      String profile, int size, double perSecond) {
    VirtualPool pool = new VirtualPool(1, size, profile);
    pool.servers.get(1).lacks.add("a");
    pool.models = List.of("a");
    assertThatItGetsNoMoreThanItsShare(pool, perSecond);
  }

  @ParameterizedTest
  @MethodSource("pools")
  void oneThatFailsAFewGetsNoMoreThanItsShare(String profile, int size, double perSecond) {
    VirtualPool pool = new VirtualPool(1, size, profile);
    pool.servers.get(1).manner = Manner.FAILS_SOME;
    assertThatItGetsNoMoreThanItsShare(pool, perSecond);
  }

  @ParameterizedTest
  @MethodSource("pools")
  void oneThatFailsAllButProbesGetsNoMoreThanItsShare(String profile, int size, double perSecond) {
    VirtualPool pool = new VirtualPool(1, size, profile);
    pool.servers.get(1).manner = Manner.PASSES_PROBES;
    assertThatItGetsNoMoreThanItsShare(pool, perSecond);
  }

  private static void assertThatItGetsNoMoreThanItsShare(VirtualPool pool, double perSecond) {
    long end = (long) (400 / perSecond * SECOND);
    pool.traffic(perSecond, end);
    pool.runUntil(end);
    double fair = (double) pool.arrived / pool.servers.size();
    assertThat((double) pool.servers.get(1).sent)
        .as("of %d, fair are %.0f", pool.arrived, fair)
        .isLessThanOrEqualTo(fair + 3 * Math.sqrt(fair));
  }

  /** They are all as good as they were: their caches count as before. */
  @Test
  void oneFailureOfEachServerCostsFewCaches() {
    for (String profile : List.of("cost", "weighted")) {
      assertThat(hitRate(profile, true)).as(profile).isGreaterThan(hitRate(profile, false) - 0.1);
    }
  }

  /** Of prompts' blocks in the two minutes after each server has failed once, if it does. */
  private static double hitRate(String profile, boolean fail) {
    return LongStream.rangeClosed(1, 5)
        .mapToDouble(seed -> hitRate(new VirtualPool(seed, 8, profile), fail))
        .average()
        .orElseThrow();
  }

  private static double hitRate(VirtualPool pool, boolean fail) {
    long from = 600 * SECOND;
    if (fail) {
      pool.at(from, () -> pool.servers.forEach(server -> server.manner = Manner.FAILS_ONCE));
    }
    pool.groups = 40;
    pool.traffic(1, from + 120 * SECOND);
    pool.runUntil(from);
    long held = blocks(pool, true);
    long all = blocks(pool, false);
    pool.runUntil(from + 120 * SECOND);
    return (double) (blocks(pool, true) - held) / (blocks(pool, false) - all);
  }

  private static long blocks(VirtualPool pool, boolean matched) {
    return pool.core.snapshot().stream()
        .mapToLong(endpoint -> matched ? endpoint.matchedBlocks() : endpoint.promptBlocks())
        .sum();
  }
}
