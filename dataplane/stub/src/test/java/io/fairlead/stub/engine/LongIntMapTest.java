package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LongIntMapTest {

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void agreesWithAnOrdinaryMap(long seed) {
    Random random = new Random(seed);
    int most = 1 + random.nextInt(200);
    LongIntMap map = new LongIntMap(most);
    Map<Long, Integer> expected = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      long key = (long) random.nextInt(most * 2) - most;
      if (random.nextBoolean() && expected.size() < most) {
        map.put(key, i);
        expected.put(key, i);
      } else {
        map.remove(key);
        expected.remove(key);
      }
      long probe = (long) random.nextInt(most * 2) - most;
      assertThat(map.get(probe)).isEqualTo(expected.getOrDefault(probe, LongIntMap.ABSENT));
    }
    expected.forEach((key, value) -> assertThat(map.get(key)).isEqualTo(value));
  }
}
