package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.prefix.EngineCache;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What engines tell of their caches decides, and what was sent is guessed by where they don't. */
class ExactCachesTest {

  private static final int GRAIN = 16;
  private static final int BLOCKS = 20;

  private Pool pool = new Pool();
  private final EngineCache engineOfA = new EngineCache(GRAIN, 10_000);
  private final EngineCache engineOfB = new EngineCache(GRAIN, 10_000);

  @BeforeEach
  void configure() {
    pool.configure(
        Pool.atOnce(
            List.of(new PluginConfig("prefix", "prefix-cache-scorer", Map.of())),
            List.of(
                new ProfileConfig(
                    "default", List.of(new ProfileConfig.PluginReference("prefix", 1.0))))));
    pool.endpoints("a", "b");
  }

  @Test
  void aPromptThatOthersHaveSentGoesWhereItIs() {
    told("b", engineOfB, stored(1), true);

    for (int i = 0; i < 10; i++) {
      Route route = serve(1);
      assertThat(route.endpoint()).isEqualTo("b");
      // The block of the last token is computed in any case.
      assertThat(route.expectedCachedTokens()).isEqualTo((BLOCKS - 1) * GRAIN);
      assertThat(route.promptTokens()).isEqualTo(BLOCKS * GRAIN);
    }
  }

  @Test
  void whatWasSentAndIsGoneAgainIsNotBelieved() {
    told("a", engineOfA, List.of(), true);
    told("b", engineOfB, List.of(), true);
    String at = serve(1).endpoint();
    EngineCache engine = at.equals("a") ? engineOfA : engineOfB;
    told(at, engine, stored(1), true);
    assertThat(serve(1).expectedCachedTokens()).isPositive();

    told(at, engine, List.of(new CacheEvent.Removed(hashes(1))), true);

    assertThat(serve(1).expectedCachedTokens()).isZero();
  }

  /** What the cache scorers are shown decides, so it is what a receipt has to hold. */
  @Test
  void aReceiptHoldsWhatTheDecisionWasTold() {
    List<List<Integer>> shown = new ArrayList<>();
    Scorer spy =
        (request, candidates, scores) -> {
          for (int i = 0; i < candidates.size(); i++) {
            shown.add(List.of(candidates.matchedBlocks(i), candidates.cachedTokens(i)));
          }
        };
    Pool watched =
        new Pool(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 1 << 20)).endpoints("a", "b", "c");
    watched.core.configure(
        0,
        new ConfigCompiler(List.of(new PluginOf("spy", spy)))
            .compile(
                Pool.config(
                    Pool.atOnce(
                        List.of(new PluginConfig("spy", "spy", Map.of())),
                        List.of(
                            new ProfileConfig(
                                "default",
                                List.of(new ProfileConfig.PluginReference("spy", 1.0))))))));
    // One tells all, one a part, one nothing.
    pool = watched;
    arrive(1);
    arrive(1);
    arrive(1);
    told("a", engineOfA, List.of(), true);
    told("b", engineOfB, stored(2), false);
    for (int kind = 1; kind <= 2; kind++) {
      shown.clear();
      long ticket = arrive(kind);
      var decision =
          Objects.requireNonNull(watched.core.receipts().find("request-" + ticket))
              .decisions()
              .getLast();
      assertThat(IntStream.range(0, 3).mapToObj(i -> Objects.requireNonNull(decision.facts(i))))
          .extracting(facts -> List.of(facts.matchedBlocks(), facts.cachedTokens()))
          .isEqualTo(shown);
    }
  }

  @Test
  void aBurstFindsWhatIsOnItsWayAndAFailedRequestLeavesNothing() {
    told("a", engineOfA, List.of(), true);
    told("b", engineOfB, List.of(), true);
    long first = arrive(1);
    String at = pool.lastRoute().endpoint();

    long second = arrive(1);
    assertThat(pool.lastRoute().endpoint()).isEqualTo(at);
    assertThat(pool.lastRoute().expectedCachedTokens()).isEqualTo((BLOCKS - 1) * GRAIN);

    pool.core.ended(pool.now, first, Outcome.DISCONNECTED, Usage.UNKNOWN);
    pool.core.ended(pool.now, second, Outcome.DISCONNECTED, Usage.UNKNOWN);
    arrive(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).isZero();
  }

  @Test
  void ofAnEngineThatHasNotToldAllTheGuessCountsWhereItIsMore() {
    String at = serve(1).endpoint();
    told(at, at.equals("a") ? engineOfA : engineOfB, stored(2), false);

    assertThat(serve(1).endpoint()).isEqualTo(at);
    assertThat(pool.lastRoute().expectedCachedTokens()).isPositive();
    assertThat(serve(2).endpoint()).isEqualTo(at);
  }

  @Test
  void whatElseIsNotThereIsKnownOnceAllIsToldWithoutAnotherChange() {
    String at = serve(1).endpoint();
    EngineCache engine = at.equals("a") ? engineOfA : engineOfB;
    told(at, engine, stored(2), false);
    serve(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).as("a guess").isPositive();

    CacheChange nothing = new CacheChange();
    engine.unchanged(nothing);
    assertThat(pool.core.cacheChanged(Pool.endpoint(at), GRAIN, nothing.whole(true))).isTrue();

    assertThat(nothing.blocks()).isEqualTo(BLOCKS);
    assertThat(serve(2).endpoint()).isEqualTo(at);
    assertThat(pool.lastRoute().expectedCachedTokens()).isEqualTo((BLOCKS - 1) * GRAIN);
    serve(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).isZero();
  }

  @Test
  void anEngineThatIsEmptyIsForgottenAlsoByTheGuess() {
    String at = serve(1).endpoint();
    EngineCache engine = at.equals("a") ? engineOfA : engineOfB;
    told(at, engine, List.of(new CacheEvent.Cleared()), false);

    serve(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).isZero();
  }

  @Test
  void anEngineThatTellsNothingAnyMoreIsGuessedAgain() {
    told("a", engineOfA, List.of(), true);
    told("b", engineOfB, List.of(), true);
    serve(1);
    serve(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).isZero();

    pool.core.cacheChanged(Pool.endpoint("a"), GRAIN, CacheChange.ofLoss());
    pool.core.cacheChanged(Pool.endpoint("b"), GRAIN, CacheChange.ofLoss());
    serve(3);
    serve(3);
    assertThat(pool.lastRoute().expectedCachedTokens()).isPositive();
  }

  @Test
  void whatAnEngineThatHasLeftTellsIsIgnored() {
    told("b", engineOfB, stored(1), true);
    pool.core.endpoints(pool.now, List.of(Pool.endpoint("a"), Pool.endpoint("b", "2")));
    told("b", engineOfB, stored(1), true); // of its former incarnation

    serve(1);
    assertThat(pool.lastRoute().expectedCachedTokens()).isZero();
  }

  @Test
  void aRequestWithoutTokensIsGuessed() {
    told("a", engineOfA, List.of(), true);
    told("b", engineOfB, List.of(), true);
    pool.serve("m", blocks(1));
    String at = pool.lastRoute().endpoint();

    pool.serve("m", blocks(1));

    assertThat(pool.lastRoute().endpoint()).isEqualTo(at);
    assertThat(pool.lastRoute().expectedCachedTokens()).isPositive();
  }

  @Test
  void aPartOfTheCacheIsOthersAndIsNotBelieved() {
    CacheShare share = new CacheShare();
    assertThat(share.share()).isEqualTo(1);

    for (int i = 0; i < 100; i++) {
      share.sent(400);
      share.stored(1_000, 10_000);
    }
    assertThat(share.share()).isBetween(0.35, 0.45);

    for (int i = 0; i < 100; i++) {
      share.stored(1_000, 10_000);
    }
    assertThat(share.share()).isLessThan(0.1).isPositive();
    share.unknown();
    assertThat(share.share()).isEqualTo(1);
  }

  @Test
  void anEngineThatDoesNotTellItsSizeSharesNothing() {
    CacheShare share = new CacheShare();

    share.stored(1_000, 0);

    assertThat(share.share()).isEqualTo(1);
  }

  private void told(String name, EngineCache engine, List<CacheEvent> events, boolean all) {
    CacheChange change = new CacheChange();
    events.forEach(event -> assertThat(engine.apply(event, change)).isTrue());
    assertThat(pool.core.cacheChanged(Pool.endpoint(name), GRAIN, change.whole(all))).isTrue();
  }

  private Route serve(int kind) {
    long ticket = arrive(kind);
    Route route = pool.lastRoute();
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    return route;
  }

  private long arrive(int kind) {
    RequestFacts facts =
        Pool.request("m", pool.effects.size(), blocks(kind))
            .with(PromptTokens.of(tokens(kind), GRAIN));
    return pool.core.arrive(pool.now, facts, pool);
  }

  private record PluginOf(String type, Plugin plugin) implements PluginFactory {

    @Override
    public Plugin create(Parameters parameters) {
      return plugin;
    }
  }

  private static List<CacheEvent> stored(int kind) {
    return List.of(new CacheEvent.Stored(hashes(kind), false, 0, tokens(kind), GRAIN, "", false));
  }

  private static long[] hashes(int kind) {
    return LongStream.range(0, BLOCKS).map(i -> kind * 1_000L + i + 1).toArray();
  }

  private static long[] blocks(int kind) {
    return LongStream.range(0, BLOCKS).map(i -> kind * 7_919L + i * 31 + 5).toArray();
  }

  private static int[] tokens(int kind) {
    return IntStream.range(0, BLOCKS * GRAIN).map(i -> kind * 10_007 + i).toArray();
  }
}
