package io.fairlead.core.plugins.pick;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HashRingTest {

  /** Pickers that saw endpoints come in another order, and go, must agree. */
  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void isTheSameHoweverItsMembersCame(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    HashRing ring = new HashRing(16);
    Map<Integer, Long> members = new TreeMap<>();
    for (int step = 0; step < 200; step++) {
      for (int joins = random.nextInt(4); joins >= 0; joins--) {
        int slot = random.nextInt(40);
        // Few identities: some come back, to their slot or to another's.
        long identity = HashRing.position(random.nextInt(60));
        members.values().removeIf(other -> other == identity);
        members.put(slot, identity);
        ring.join(slot, identity);
      }
      HashRing anew = new HashRing(16);
      members.forEach(anew::join);

      assertThat(ring.size()).isEqualTo(anew.size()).isEqualTo(16 * members.size());
      for (int point = 0; point < ring.size(); point++) {
        assertThat(ring.slot(point)).isEqualTo(anew.slot(point));
      }
      for (int i = 0; i < 50; i++) {
        long position = random.nextLong();
        assertThat(ring.first(position)).isEqualTo(anew.first(position));
      }
    }
  }
}
