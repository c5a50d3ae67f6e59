package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What an endpoint is believed to hold, from its config, its scrapes and its responses. */
class PrefixMemoryTest {

  private static final long[] PROMPT = LongStream.range(1, 101).toArray();

  private final Pool pool = new Pool();

  @Test
  void holdsAsManyBlocksAsTheConfigSays() {
    configure(Map.of("lruCapacityPerServer", 30L));
    pool.endpoints("a");
    assertThat(matchedAfterSending()).isEqualTo(30);

    configure(Map.of("lruCapacityPerServer", 20L));
    assertThat(matched()).as("a smaller one takes at once").isEqualTo(20);
  }

  @Test
  void matchesNoMoreOfAPromptThanTheConfigSays() {
    configure(Map.of("maxPrefixBlocksToMatch", 40L));
    pool.endpoints("a");
    assertThat(matchedAfterSending()).isEqualTo(40);
  }

  @Test
  void aWholeMatchOfWhatMayBeMatchedIsAWholeMatch() {
    configure(Map.of("maxPrefixBlocksToMatch", 40L));
    pool.endpoints("a", "b");
    matchedAfterSending();
    for (int seed = 0; seed < 20; seed++) {
      matched();
      assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(40);
    }
  }

  @Test
  void anErrorOfTheServerIsNoComputedPrompt() {
    configure(Map.of());
    pool.endpoints("a");
    long ticket = pool.arrive("m", PROMPT);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(matched()).as("a 4xx has no first token").isZero();
  }

  @Test
  void theServersOwnSizeCounts() {
    configure(Map.of());
    pool.endpoints("a");
    scrape(50);
    assertThat(matchedAfterSending()).isEqualTo(50);
  }

  @Test
  void oneOddScrapeForgetsNothing() {
    configure(Map.of());
    pool.endpoints("a");
    scrape(90);
    assertThat(matchedAfterSending()).isEqualTo(90);
    scrape(1);
    scrape(90);
    pool.core.scraped(pool.now, Pool.endpoint("a"), pool.now, EndpointMetrics.UNKNOWN);
    assertThat(matched()).isEqualTo(90);
    scrape(10);
    scrape(10);
    assertThat(matched()).as("two that agree are believed").isEqualTo(10);
  }

  @Test
  void aPromptThatWasNeverComputedIsWithdrawn() {
    configure(Map.of());
    pool.endpoints("a");
    long ticket = pool.arrive("m", PROMPT);
    pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(matched()).isZero();

    ticket = pool.arrive("m", PROMPT);
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(matched()).as("its first token says that it was").isEqualTo(100);
  }

  @Test
  void aFirstTokenBringsBackWhatAnotherRequestWithdrew() {
    configure(Map.of());
    pool.endpoints("a");
    long failed = pool.arrive("m", PROMPT);
    long other = pool.arrive("m", PROMPT);
    pool.core.ended(pool.now, failed, Outcome.FAILED, Usage.UNKNOWN);
    pool.core.firstByte(pool.now, other);
    assertThat(matched()).isEqualTo(100);
  }

  /** Whoever knows how can have a server refuse a prompt that is as large as its cache. */
  @ParameterizedTest(name = "cache of {0} blocks, prompt of {1}")
  @CsvSource({"40_000, 20_000", "40_000, 60_000", "0, 60_000", "0, 65_536"})
  void aPromptThatIsRefusedDrivesOutNothing(int cache, int refused) {
    configure(Map.of());
    pool.endpoints("a");
    if (cache > 0) {
      scrape(cache);
    }
    List<long[]> others = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      others.add(unique(i, 200));
      pool.serve("m", others.getLast());
    }
    long ticket = pool.arrive("m", unique(-1, refused));
    assertThat(pool.rejections).isEmpty();
    assertThat(matched(others.getFirst())).as("while it is there").isEqualTo(200);
    pool.core.ended(pool.now += 50_000_000, ticket, Outcome.INVALID, Usage.UNKNOWN);
    assertThat(others).allSatisfy(each -> assertThat(matched(each)).isEqualTo(200));
  }

  @Test
  void aPromptDrivesOutOthersOnceItIsComputed() {
    configure(Map.of("lruCapacityPerServer", 150L));
    pool.endpoints("a");
    assertThat(matchedAfterSending()).isEqualTo(100);
    long[] streamed = unique(1, 120);
    long ticket = pool.arrive("m", streamed);
    assertThat(matched()).isEqualTo(100);
    pool.core.firstByte(pool.now, ticket);
    assertThat(matched()).isEqualTo(30);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);

    long whole = pool.core.arrive(pool.now, whole(unique(2, 120)), pool);
    pool.core.tick(pool.now += 2_000_000_000L);
    assertThat(matched(streamed)).as("presumed").isEqualTo(30);
    pool.core.ended(pool.now, whole, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  private static RequestFacts whole(long[] blocks) {
    return RequestFactsBuilder.of("m", 0, blocks).streamed(false).build();
  }

  private static long[] unique(long seed, int blocks) {
    return new SplittableRandom(seed).longs(blocks).toArray();
  }

  private void configure(Map<String, Object> producer) {
    PluginConfig plugin = new PluginConfig("prefix", "approx-prefix-cache-producer", producer);
    PluginConfig scorer = new PluginConfig("scorer", "prefix-cache-scorer", Map.of());
    SchedulerConfig scheduler = new SchedulerConfig(List.of(plugin, scorer), List.of(), null);
    pool.core.configure(pool.now, new ConfigCompiler(List.of()).compile(Pool.config(scheduler)));
  }

  private void scrape(int blocks) {
    pool.core.scraped(
        pool.now, Pool.endpoint("a"), pool.now, new EndpointMetrics(0, 0, 0.1, 16, blocks));
  }

  private int matchedAfterSending() {
    pool.serve("m", PROMPT);
    return matched();
  }

  /** How much of the prompt the next request for it is believed to find; it withdraws nothing. */
  private int matched() {
    return matched(PROMPT);
  }

  private int matched(long[] prompt) {
    long ticket = pool.arrive("m", prompt);
    int matched = pool.lastRoute().matchedBlocks();
    pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    return matched;
  }
}
