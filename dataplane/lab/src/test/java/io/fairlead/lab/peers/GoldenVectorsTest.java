package io.fairlead.lab.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Scorer;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What the peers' own tests assert, for the same loads and prompts: numbers and choices, at the
 * versions that each rule's Javadoc names. Where they have none, the rule as it is published.
 */
class GoldenVectorsTest {

  // sgl-model-gateway/src/policies/cache_aware.rs

  @Test
  void sglangSendsTheSamePromptAndItsBeginningToTheSame() {
    FakePool pool = FakePool.of("sglang-cache-aware-picker", Map.of(), 2);
    int first = pool.send("hello world");
    assertThat(pool.send("hello world")).isEqualTo(first);
    assertThat(pool.send("hello")).isEqualTo(first);
  }

  @Test
  void sglangGoesByLoadWhereThatIsFarFromEven() {
    FakePool pool =
        FakePool.of(
            "sglang-cache-aware-picker",
            Map.of("balanceAbsThreshold", 5L, "balanceRelThreshold", 2.0, "maxTreeSize", 10_000L),
            2);
    pool.inFlight(20, 0);
    for (int i = 0; i < 5; i++) {
      assertThat(pool.send("test")).isEqualTo(1);
    }
  }

  @Test
  void sglangForgetsTheLeafThatWasUsedLeastRecently() {
    FakePool pool =
        FakePool.of(
            "sglang-cache-aware-picker",
            Map.of("maxTreeSize", 64L * 6, "evictionIntervalSeconds", 30.0),
            2);
    assertThat(pool.send("abcd")).isZero();
    pool.now += 1;
    assertThat(pool.send("wxyz")).isZero();
    pool.now += 30_000_000_000L;
    pool.inFlight(1, 0);
    // Of 8 blocks 6 stay: half of the older prompt is not more than half.
    assertThat(pool.send("abcd")).isEqualTo(1);
    assertThat(pool.send("wxyz")).isZero();
  }

  // sgl-model-gateway/src/policies/power_of_two.rs

  @Test
  void ofTwoDrawnTheLessLoadedGetsIt() {
    FakePool pool = FakePool.of("power-of-two-picker", Map.of(), 3).inFlight(10, 5, 0);
    int[] counts = new int[3];
    for (int i = 0; i < 100; i++) {
      counts[pool.send("x")]++;
    }
    assertThat(counts[2]).isGreaterThan(counts[1]);
    assertThat(counts[1]).isGreaterThan(counts[0]);
  }

  @ParameterizedTest
  @CsvSource({"0,5,0", "10,2,1", "2,10,0", "5,3,1"})
  void ofTwoServersTheLessLoadedGetsAll(int first, int second, int expected) {
    FakePool pool = FakePool.of("power-of-two-picker", Map.of(), 2).inFlight(first, second);
    for (int i = 0; i < 20; i++) {
      assertThat(pool.send("x")).isEqualTo(expected);
    }
    assertThat(FakePool.of("power-of-two-picker", Map.of(), 1).send("x")).isZero();
  }

  // lib/kv-router/src/scheduling/selector.rs

  private static DynamoCost cost(double credit, double decay, double scale, double request) {
    return new DynamoCost(credit, decay, scale, request, 16);
  }

  @Test
  void dynamoCreditsNoMoreThanThereIsToCompute() {
    var worker = new DynamoCost.Worker(16, 2 + 3, 0, 96);
    assertThat(cost(1, 0, 2, 0).of(worker, 64, 0)).isEqualTo(7);
  }

  @Test
  void dynamoCanChargeRunningRequests() {
    var worker = new DynamoCost.Worker(0, 100, 4, 0);
    assertThat(cost(1, 0, 1, 0).of(worker, 0, 0)).isEqualTo(100);
    assertThat(cost(1, 0, 1, 32).of(worker, 0, 0)).isEqualTo(228);
  }

  @Test
  void dynamoScalesPrefillAfterItsCredit() {
    DynamoCost scaled = cost(1, 0, 2, 0);
    double cached = scaled.of(new DynamoCost.Worker(0, 3, 0, 32), 64, 0);
    double cold = scaled.of(new DynamoCost.Worker(0, 0, 0, 0), 64, 0);
    assertThat(cached).isLessThan(cold);
  }

  @Test
  void dynamoCreditsMoreThanABlockOnlyIfToldTo() {
    var warm = new DynamoCost.Worker(0, 5, 0, 64);
    var cold = new DynamoCost.Worker(0, 0, 0, 0);
    assertThat(cost(1, 0, 1, 0).of(warm, 128, 0)).isGreaterThan(cost(1, 0, 1, 0).of(cold, 128, 0));
    assertThat(cost(1.5, 0, 1, 0).of(warm, 128, 0)).isLessThan(cost(1.5, 0, 1, 0).of(cold, 128, 0));
  }

  @Test
  void dynamoCreditsLessWherePrefillWaits() {
    var warm = new DynamoCost.Worker(48, 0, 0, 64);
    var cold = new DynamoCost.Worker(0, 0, 0, 0);
    assertThat(cost(1, 0, 1, 0).of(warm, 64, 0)).isLessThan(cost(1, 0, 1, 0).of(cold, 64, 0));
    assertThat(cost(1, 1, 1, 0).of(warm, 64, 0)).isGreaterThan(cost(1, 1, 1, 0).of(cold, 64, 0));
  }

  @Test
  void dynamoDrawsBySoftmaxOverTheRange() {
    double[] costs = {0, 3, 9};
    double total = 1 + Math.exp(-1 / 3.0) + Math.exp(-1);
    double middle = (1 + Math.exp(-1 / 3.0) / 2) / total;
    assertThat(DynamoCost.softmax(costs, 3, 1, 0.5 / total)).isZero();
    assertThat(DynamoCost.softmax(costs, 3, 1, middle)).isEqualTo(1);
    assertThat(DynamoCost.softmax(costs, 3, 1, 0.999)).isEqualTo(2);
    assertThat(DynamoCost.softmax(new double[] {2, 2}, 2, 1, 0.6)).isEqualTo(1);
  }

  @Test
  void dynamoDrawsAmongEquals() {
    FakePool pool = FakePool.of("dynamo-picker", Map.of(), 3);
    boolean[] seen = new boolean[3];
    for (int i = 0; i < 120; i++) {
      seen[pool.send("x")] = true;
    }
    assertThat(seen).containsOnly(true);
  }

  @Test
  void dynamoWeighsBlocksToComputeAgainstBlocksInUse() {
    FakePool pool = FakePool.of("dynamo-picker", Map.of(), 2);
    int home = pool.sendAndHold("abcdefgh");
    pool.servers.get(home).matchedBlocks = 6;
    // There 2 to compute and 10 in use, as 6 are shared; elsewhere 8 and 8.
    assertThat(pool.sendAndHold("abcdefXY")).isEqualTo(home);
    // There 8 to compute and 18 in use, as nothing is shared.
    pool.servers.get(home).matchedBlocks = 0;
    assertThat(pool.send("stuvwxyz")).isNotEqualTo(home);
    // Its requests have ended: it is as good as the other one, and has a block.
    pool.servers.get(home).inFlight = 0;
    pool.servers.get(home).matchedBlocks = 1;
    assertThat(pool.send("stuvwxyz")).isEqualTo(home);
  }

  // pkg/plugins/gateway/algorithms/prefix_cache_test.go; a character of theirs is a block here

  @Test
  void aibrixGoesByPrefixWithinADeviationOfTheMean() {
    FakePool pool = FakePool.of("aibrix-prefix-cache-picker", Map.of(), 4);
    int p4 = pool.sendAndHold("abcdegfh");
    int p3 = pool.sendAndHold("wxyz");
    assertThat(p3).isNotEqualTo(p4);
    assertThat(pool.sendAndHold("abcdegfh")).isEqualTo(p4);
    int p2 = pool.sendAndHold("abcd");
    assertThat(p2).isNotIn(p4, p3);
    assertThat(pool.sendAndHold("abcdefghijkl")).isEqualTo(p2);
    int sixth = pool.sendAndHold("abcdefgh");
    assertThat(sixth).isIn(p2, p4);
    pool.servers.get(sixth).inFlight += 6;
    assertThat(pool.send("abcdefgh")).isNotIn(p2, p3, p4);
  }

  @Test
  void aibrixLooksOnlyAtTheLeastBusyWhereOneIsFarAhead() {
    FakePool pool = FakePool.of("aibrix-prefix-cache-picker", Map.of(), 3);
    int holder = pool.send("abcd");
    // 9 is more than 2 × (mean of 3 + 1), and the gap is 9.
    pool.servers.get(holder).inFlight = 9;
    assertThat(pool.send("abcd")).isNotEqualTo(holder);
  }

  // internal/loadbalancer/balance_chwbl.go: its tests assert no choices of a hash

  @ParameterizedTest
  @CsvSource({
    "7,0,4,true",
    "0,3,4,true",
    "1,3,4,false",
    "0,1,8,false",
    "4,15,4,true",
    "5,15,4,false"
  })
  void kubeAiBoundsLoadByTheMeanWithThisRequest(long load, long total, int servers, boolean fits) {
    assertThat(new KubeAiHashPicker(1.25, 256, 64).loadFits(load, total, servers)).isEqualTo(fits);
  }

  @Test
  void kubeAiKeepsAPrefixAtItsOwnerUntilThatIsFull() {
    FakePool pool = FakePool.of("kubeai-prefix-hash-picker", Map.of("prefixTokens", 64L), 4);
    int owner = pool.send("abcd");
    assertThat(pool.send("abcdxyz")).isEqualTo(owner);
    pool.inFlight(4, 4, 4, 4);
    assertThat(pool.send("abcd")).isEqualTo(owner);
    pool.servers.get(owner).inFlight = 6;
    assertThat(pool.send("abcd")).isNotEqualTo(owner);
    // Nobody is within a bound below one: the owner gets it.
    pool.inFlight(0, 0, 0, 0);
    pool.servers.get(owner).inFlight = 1;
    assertThat(pool.send("abcd")).isEqualTo(owner);
  }

  // multi_node/global_scheduler_with_time.py and arXiv:2407.00023: stored tests assert no choices

  @Test
  void prebleExploitsWhatIsMostlyThereAndExploresElse() {
    for (String variant : Arrays.asList("preble", "aibrix")) {
      FakePool pool = FakePool.of("preble-picker", Map.of("variant", variant), 3);
      int first = pool.send("abcdefgh");
      assertThat(pool.send("abcdeXYZ")).as("5 of 8 are there").isEqualTo(first);
      assertThat(pool.send("abcdWXYZ")).as("4 of 8 are there").isNotEqualTo(first);
      pool.now += 180_000_000_001L;
      int later = pool.send("abcdefgh");
      pool.servers.get(later).inFlight = 5;
      assertThat(pool.send("abcdefgh")).as("exploits however busy").isEqualTo(later);
    }
  }

  // pkg/epp/framework/plugins/flowcontrol/saturationdetector/utilization/detector_test.go

  @ParameterizedTest
  @CsvSource({"2,0.5,2,0.5,0.5556", "1,0.1,0,0.2,0.2111", "1,0.1,15,0.2,1.6", "5,0.1,5,0.1,1"})
  void upstreamsGateIsTheMean(int queue, double usage, int queue2, double usage2, double mean) {
    var detector = new PolledMeanDetector(0.9, name -> true);
    FakeServer one = new FakeServer(0);
    FakeServer other = new FakeServer(1);
    one.queue = queue;
    one.kvUsage = usage;
    other.queue = queue2;
    other.kvUsage = usage2;
    detector.saturation(one);
    assertThat(detector.saturation(other)).isCloseTo(mean, within(1e-4));
    assertThat(detector.saturation(one)).as("asked again").isCloseTo(mean, within(1e-4));
  }

  @Test
  void whatHasLeftIsNoPartOfTheMean() {
    Set<String> there = new HashSet<>();
    var detector = new PolledMeanDetector(0.8, there::contains);
    FakeServer full = new FakeServer(0);
    FakeServer idle = new FakeServer(1);
    there.add(full.name());
    there.add(idle.name());
    full.queue = 50;
    detector.saturation(full);
    assertThat(detector.saturation(idle)).isEqualTo(5);

    there.remove(full.name());
    assertThat(detector.saturation(idle)).isZero();
  }

  /** Peers are calibrated before they join; the oracle looks at what is there. */
  @Test
  void serversThatJoinLaterAreKnownButNotCalibratedOn() {
    EngineProfile fast = EngineProfiles.shipped().named("h100-8b");
    EngineProfile slow = EngineProfiles.shipped().named("l4-8b");
    var hardware = new PoolHardware(List.of(fast), List.of(fast, slow));

    assertThat(hardware.of(new FakeServer(0))).isEqualTo(fast);
    assertThat(hardware.of(new FakeServer(1))).isEqualTo(slow);
    assertThat(hardware.prefillTokensPerSecond())
        .isEqualTo(new PoolHardware(List.of(fast), List.of(fast)).prefillTokensPerSecond());
  }

  // pkg/epp/framework/plugins/scheduling/filter/prefixcacheaffinity/plugin_test.go

  @ParameterizedTest
  @CsvSource({"100,500,50,2", "1000,500,50,1", "0,5000,50,1"})
  void llmdSticksUntilThePenaltyIsReached(double penaltyMs, long at, long elsewhere, int stay) {
    var filter = new LlmdAffinityFilter(0.8, penaltyMs, 1);
    FakePool pool = new FakePool(filter, 2);
    pool.servers.get(0).matchedBlocks = 9;
    pool.servers.get(1).matchedBlocks = 1;
    pool.servers.get(0).waitingTokens = at;
    pool.servers.get(1).waitingTokens = elsewhere;
    assertThat(kept(filter, pool)).isEqualTo(stay);
  }

  @ParameterizedTest
  @CsvSource({"0.8,1,2,5,3", "0.8,9,9,1,2", "0,0,9,9,3"})
  void llmdKeepsAllWhereNobodyHoldsEnough(double threshold, int a, int b, int c, int stay) {
    var filter = new LlmdAffinityFilter(threshold, 5_000, 1);
    FakePool pool = new FakePool(filter, 3);
    pool.servers.get(0).matchedBlocks = a;
    pool.servers.get(1).matchedBlocks = b;
    pool.servers.get(2).matchedBlocks = c;
    assertThat(kept(filter, pool)).isEqualTo(stay);
  }

  private static int kept(Filter filter, FakePool pool) {
    boolean[] keep = new boolean[pool.size()];
    Arrays.fill(keep, true);
    filter.filter(new FakeRequest("0123456789", 1, 1), pool, keep);
    int count = 0;
    for (boolean one : keep) {
      count += one ? 1 : 0;
    }
    return count;
  }

  // pkg/epp/framework/plugins/scheduling/scorer/latency/plugin.go

  @Test
  void llmdRanksPredictionsByTheirRange() {
    double[] scores = new double[3];
    LatencyOracleScorer.rank(
        new double[] {100, 200, 300},
        new double[] {10, 10, 10},
        new boolean[] {true, true, true},
        3,
        scores);
    assertThat(scores[0]).isCloseTo(1, within(1e-9));
    assertThat(scores[1]).isCloseTo(51 / 101.0, within(1e-9));
    assertThat(scores[2]).isCloseTo(1 / 101.0, within(1e-9));
  }

  @Test
  void llmdScoresOnlyIdleServersWhereThereAreAny() {
    double[] scores = new double[2];
    LatencyOracleScorer.rank(
        new double[] {100, 200}, new double[] {10, 20}, new boolean[] {false, true}, 2, scores);
    assertThat(scores[0]).isZero();
    assertThat(scores[1]).isPositive();
  }

  @Test
  void theOracleKnowsWhichEngineIsWhich() {
    var scorer = FakePool.plugin("latency-oracle-scorer", Map.of());
    FakePool pool = new FakePool(scorer, 2).inFlight(1, 1);
    pool.servers.get(1).waitingTokens = 8_000;
    double[] scores = new double[2];
    ((Scorer) scorer).score(new FakeRequest("abcd", 1, 1), pool, scores);
    assertThat(scores[0]).isGreaterThan(scores[1]);
  }
}
