package io.fairlead.core.plugins.pick;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.plugins.Settings;
import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestEndpoint;
import io.fairlead.core.plugins.TestRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Picker;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsistentHashPickerTest {

  private static final String TYPE = "consistent-hash-picker";
  private static final int KEYS = 4_000;

  /** A picker and the endpoints that it was told of, in their order. */
  private static final class Replica {

    private final Picker picker;
    private final Map<String, Integer> slots = new HashMap<>();

    Replica(Map<String, Object> settings) {
      picker = Settings.make(Picker.class, TYPE, settings);
    }

    void join(TestEndpoint endpoint) {
      slots.putIfAbsent(endpoint.name(), slots.size());
      endpoint.slot = slots.getOrDefault(endpoint.name(), -1);
      ((Observer) picker).joined(endpoint);
    }

    TestEndpoint pick(String session, List<TestEndpoint> endpoints) {
      TestCandidates candidates = new TestCandidates();
      for (TestEndpoint endpoint : endpoints) {
        candidates.add(endpoint, slots.getOrDefault(endpoint.name(), -1));
      }
      TestRequest request = new TestRequest(1, 4);
      request.headers.put("x-session-id", session);
      int[] picked = new int[endpoints.size()];
      assertThat(picker.pick(request, candidates, new double[endpoints.size()], picked))
          .isEqualTo(1);
      return endpoints.get(picked[0]);
    }
  }

  private static Replica replica(double loadFactor, List<TestEndpoint> endpoints) {
    Replica replica =
        new Replica(Map.of("key", "session", "loadFactor", loadFactor, "replication", 256L));
    endpoints.forEach(replica::join);
    return replica;
  }

  private static List<TestEndpoint> endpoints(int count) {
    List<TestEndpoint> endpoints = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      endpoints.add(new TestEndpoint("server-" + i));
    }
    return endpoints;
  }

  private static List<String> homes(Replica replica, List<TestEndpoint> endpoints) {
    List<String> homes = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      homes.add(replica.pick("s" + i, endpoints).name());
    }
    return homes;
  }

  @ParameterizedTest(name = "{0} endpoints")
  @ValueSource(ints = {2, 5, 40})
  void whoJoinsTakesItsShareAndNobodyElseGetsAKey(int count) {
    List<TestEndpoint> before = endpoints(count);
    List<TestEndpoint> after = endpoints(count + 1);
    List<String> old = homes(replica(1_000, before), before);
    List<String> now = homes(replica(1_000, after), after);

    int moved = 0;
    for (int i = 0; i < KEYS; i++) {
      if (!now.get(i).equals(old.get(i))) {
        assertThat(now.get(i)).isEqualTo("server-" + count);
        moved++;
      }
    }
    assertThat(moved / (double) KEYS).isBetween(0.6 / (count + 1), 1.5 / (count + 1));
  }

  @ParameterizedTest(name = "endpoint {0} leaves")
  @ValueSource(ints = {0, 3, 9})
  void whoLeavesGivesItsKeysAwayAndNoOtherMoves(int leaver) {
    List<TestEndpoint> all = endpoints(10);
    Replica replica = replica(1_000, all);
    List<String> old = homes(replica, all);
    List<TestEndpoint> rest = new ArrayList<>(all);
    String gone = rest.remove(leaver).name();
    List<String> now = homes(replica, rest);

    for (int i = 0; i < KEYS; i++) {
      if (!old.get(i).equals(gone)) {
        assertThat(now.get(i)).isEqualTo(old.get(i));
      }
    }
    // One that never knew of it agrees.
    assertThat(homes(replica(1_000, rest), rest)).isEqualTo(now);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void theBoundOnLoadHoldsWhateverComes(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double factor = random.nextDouble(1, 2);
    List<TestEndpoint> all = endpoints(1 + random.nextInt(30));
    Replica replica = replica(factor, all);
    for (int round = 0; round < 3_000; round++) {
      List<TestEndpoint> candidates = new ArrayList<>(all);
      while (candidates.size() > 1 && random.nextInt(8) == 0) {
        candidates.remove(random.nextInt(candidates.size()));
      }
      int before = candidates.stream().mapToInt(endpoint -> endpoint.inFlight).sum();
      // Few keys, so that nearly every home is full.
      TestEndpoint picked = replica.pick("s" + random.nextInt(3), candidates);
      picked.inFlight++;
      assertThat((double) picked.inFlight)
          .isLessThanOrEqualTo(Math.ceil(factor * (before + 1) / candidates.size()));
      TestEndpoint ends = all.get(random.nextInt(all.size()));
      ends.inFlight = Math.max(0, ends.inFlight - random.nextInt(2));
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void pickersAgreeInWhateverOrderTheyLearnedOfEndpoints(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<TestEndpoint> all = endpoints(25);
    all.forEach(endpoint -> endpoint.inFlight = random.nextInt(6));
    List<TestEndpoint> shuffled = new ArrayList<>();
    for (TestEndpoint endpoint : all) {
      shuffled.add(random.nextInt(shuffled.size() + 1), endpoint);
    }
    Replica one = replica(1.25, all);
    Replica other = replica(1.25, shuffled);

    assertThat(homes(one, all)).isEqualTo(homes(other, shuffled));
  }

  @Test
  void sharesOfKeysAreNearlyEqual() {
    List<TestEndpoint> all = endpoints(8);
    Map<String, Integer> shares = new HashMap<>();
    homes(replica(1_000, all), all).forEach(home -> shares.merge(home, 1, Integer::sum));

    assertThat(shares).hasSize(8);
    assertThat(shares.values()).allMatch(share -> share > KEYS / 8 * 0.7 && share < KEYS / 8 * 1.3);
  }

  @Test
  void aSlotThatIsAnothersNowIsNoLongerTheOldOnes() {
    Replica replica = replica(1_000, endpoints(2));
    TestEndpoint next = new TestEndpoint("next");
    replica.slots.put("next", 1);
    replica.join(next);
    TestEndpoint first = new TestEndpoint("server-0");

    List<TestEndpoint> now = List.of(first, next);
    assertThat(homes(replica, now)).isEqualTo(homes(replica(1_000, now), now));
  }

  /** Where hardly any of the pool are candidates the walk is given up; the bound is not. */
  @Test
  void aFewCandidatesOfALargePoolAreFound() {
    List<TestEndpoint> all = endpoints(3_000);
    Replica replica = replica(1, all);
    List<TestEndpoint> few = List.of(all.get(7), all.get(1_500));
    few.get(0).inFlight = 3;

    for (int i = 0; i < 50; i++) {
      assertThat(replica.pick("s" + i, few)).isSameAs(few.get(1));
    }
  }

  @Test
  void requestsWithoutTheHeaderGoByTheirPrompts() {
    List<TestEndpoint> all = endpoints(8);
    Replica replica = replica(1_000, all);

    assertThat(replica.pick("", all)).isSameAs(replica.pick("", all));
  }

  @Test
  void settingsAreRefusedWithTheirPath() {
    Settings.assertRefused(TYPE, Map.of("key", "cookie"), "key");
    Settings.assertRefused(TYPE, Map.of("key", "header"), "headerName");
    Settings.assertRefused(TYPE, Map.of("headerName", "x-session-id"), "headerName");
    Settings.assertRefused(TYPE, Map.of("key", "header", "headerName", "a b"), "headerName");
    Settings.assertRefused(TYPE, Map.of("loadFactor", 0.9), "loadFactor");
    Settings.assertRefused(TYPE, Map.of("replication", 0L), "replication");
  }
}
