package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What scorers are told of prefixes that requests in flight share, and whom a queue keeps away. */
class SharedPrefixTest {

  private static final int TOKENS = 16;

  private long told;

  @Test
  void aSharedPrefixTakesRoomOnceForAsLongAsBothAreThere() {
    Pool pool = new Pool();
    pool.core.configure(
        0,
        new ConfigCompiler(List.of(spy()))
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(new PluginConfig("spy", "spy", Map.of())), List.of(), null))));
    pool.endpoints("a");
    long[] first = LongStream.range(100, 140).toArray();
    long[] second = first.clone();
    second[35] = 1;
    second[36] = 2;
    second[37] = 3;
    second[38] = 4;
    second[39] = 5;

    long one = pool.arrive("m", first);
    pool.arrive("m", second);
    assertThat(repeated(pool)).isEqualTo(32 * TOKENS);
    pool.core.firstByte(pool.now, one);
    pool.core.ended(pool.now, one, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(repeated(pool)).isZero();
  }

  @Test
  void aFreshPickerLeavesAQueueOfOthersAlone() {
    Pool pool = new Pool();
    pool.core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    new SchedulerConfig(
                        List.of(), List.of(new ProfileConfig("cost", List.of())), null))));
    pool.endpoints("queued", "free");
    pool.now = 1_000_000;
    pool.core.scraped(
        pool.now,
        Pool.endpoint("queued"),
        pool.now,
        new EndpointMetrics(200, 256, 0.9, 16, 20_000));
    pool.core.scraped(
        pool.now, Pool.endpoint("free"), pool.now, new EndpointMetrics(0, 0, 0, 16, 20_000));
    for (int i = 0; i < 200; i++) {
      pool.now += 10_000_000;
      pool.arrive("m", i);
    }
    assertThat(pool.routes.stream().filter(route -> route.endpoint().equals("queued")).count())
        .isLessThanOrEqualTo(10);
  }

  /** As a request finds it that shares nothing. */
  private long repeated(Pool pool) {
    told = -1;
    long asks = pool.arrive("m");
    pool.core.ended(pool.now, asks, Outcome.DISCONNECTED, Usage.UNKNOWN);
    return told;
  }

  private PluginFactory spy() {
    return new PluginFactory() {
      @Override
      public String type() {
        return "spy";
      }

      @Override
      public Plugin create(Parameters parameters) {
        return (Scorer)
            (request, candidates, scores) -> told = candidates.get(0).repeatedInFlightTokens();
      }
    };
  }
}
