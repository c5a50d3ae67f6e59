package io.fairlead.core;

import static io.fairlead.core.VirtualPool.MILLI;
import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.VirtualPool.Manner;
import io.fairlead.core.VirtualPool.Server;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Servers that say nothing while they compute a long prompt: no byte, no counter, no answer to a
 * probe. What it takes grows with the square of its length.
 */
class LongPromptsTest {

  private static final long WARM = 30 * SECOND;

  /** Of 8 billion parameters on an H100. */
  private static long prefill(double tokens) {
    return (long) ((5 + 0.0184 * tokens + 4.1e-7 * tokens * tokens) * MILLI);
  }

  /** A pool that has served short prompts for a while, and is idle. */
  private static VirtualPool warm(long seed, double slower) {
    VirtualPool pool = new VirtualPool(seed, 4, "cost");
    for (long at = 0; at < WARM - SECOND; at += 50 * MILLI) {
      int tokens = 100 + pool.random.nextInt(4_000);
      pool.at(at, () -> pool.arrive(tokens, (long) (slower * prefill(tokens))));
    }
    pool.runUntil(WARM);
    return pool;
  }

  @ParameterizedTest
  @CsvSource({
    "300000, true, 1",
    "300000, false, 1",
    "130000, true, 1",
    "60000, false, 2",
    "60000, true, 2",
    "15000, false, 10",
    "100000, false, 10"
  })
  void aLongPromptIsComputedOnce(int tokens, boolean streamed, double slower) {
    for (long seed = 1; seed <= 5; seed++) {
      VirtualPool pool = warm(seed, slower);
      pool.streamed = streamed ? 1 : 0;
      long prefill = (long) (slower * prefill(tokens));
      pool.arrive(tokens, prefill);
      pool.runUntil(WARM + prefill + 5 * SECOND);
      assertThat(pool.changes).isEmpty();
      assertThat(pool.servers.stream().mapToInt(server -> server.sentAfter(WARM)).sum()).isOne();
      assertThat(pool.completed).isEqualTo(pool.arrived);
    }
  }

  /** Each prompt of these takes less than a tenth of a second. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFrozenServerIsFoundAsSoonAsEver(boolean streamed) {
    for (long seed = 1; seed <= 5; seed++) {
      VirtualPool pool = warm(seed, 1);
      pool.streamed = streamed ? 1 : 0;
      pool.servers.forEach(server -> server.manner = Manner.FREEZES);
      pool.arrive(2_000, prefill(2_000));
      pool.runUntil(WARM + 2 * SECOND);
      assertThat(pool.changes).hasSize(1);
    }
  }

  /** What a prompt took that is computed, and whose answer is over, excuses nobody later. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void afterALongPromptAFrozenServerIsFoundAsSoonAsBefore(boolean streamed) {
    for (long seed = 1; seed <= 5; seed++) {
      VirtualPool pool = warm(seed, 1);
      pool.streamed = streamed ? 1 : 0;
      pool.arrive(300_000, prefill(300_000));
      Server had =
          pool.servers.stream().filter(server -> server.lastSent == WARM).findFirst().orElseThrow();
      long frozen = WARM + prefill(300_000) + 5 * SECOND;
      pool.runUntil(frozen);
      assertThat(pool.completed).isEqualTo(pool.arrived);

      had.manner = Manner.FREEZES;
      while (had.lastSent != frozen) {
        pool.arrive(2_000, prefill(2_000));
      }
      pool.runUntil(frozen + 2_500 * MILLI);
      assertThat(pool.changes)
          .extracting(change -> change.endpoint().name() + " " + change.to())
          .containsExactly(had.name + " OUT");
    }
  }
}
