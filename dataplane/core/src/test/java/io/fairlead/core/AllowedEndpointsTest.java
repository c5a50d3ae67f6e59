package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class AllowedEndpointsTest {

  /** More subsets than are remembered, in any order, over endpoints that change. */
  @Test
  void whatIsRememberedIsWhatASubsetAllows() {
    SplittableRandom random = new SplittableRandom(5);
    AllowedEndpoints allowed = new AllowedEndpoints();
    for (int pool = 0; pool < 20; pool++) {
      EndpointState[] endpoints = pool(1 + random.nextInt(150));
      List<Subset> subsets = new ArrayList<>();
      for (int i = 0; i < 12; i++) {
        List<String> entries = new ArrayList<>();
        for (EndpointState each : endpoints) {
          if (random.nextInt(3) == 0) {
            entries.add(each.address() + (random.nextBoolean() ? ":" + each.port() : ""));
          }
        }
        subsets.add(new Subset(entries));
      }
      for (int i = 0; i < 200; i++) {
        Subset subset = new Subset(subsets.get(random.nextInt(12)).entries());
        long[] found = allowed.of(subset, endpoints);
        for (int place = 0; place < endpoints.length; place++) {
          assertThat(AllowedEndpoints.has(found, place))
              .isEqualTo(subset.allows(endpoints[place].address(), endpoints[place].port()));
        }
      }
    }
    assertThat(AllowedEndpoints.has(allowed.of(null, new EndpointState[3]), 2)).isTrue();
  }

  private static EndpointState[] pool(int size) {
    EndpointState[] endpoints = new EndpointState[size];
    for (int i = 0; i < size; i++) {
      EndpointSpec spec = new EndpointSpec("e" + i, "1", "10.0.0." + i / 2, 8000 + i % 2, Map.of());
      endpoints[i] = new EndpointState(spec, i, new PrefillPace(), new PoolAdapters(), 0);
    }
    return endpoints;
  }
}
