package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IntTableTest {

  private static final int MANY = 200_000;

  /** A number's hash is its own bits, spread or not. */
  private static class Table extends IntTable {

    private final int spread;

    Table(int spread) {
      this.spread = spread;
    }

    @Override
    int hash(int number) {
      return number * spread;
    }

    boolean has(int number) {
      int hash = hash(number);
      int[] cells = cells(hash);
      for (int cell = first(cells, hash); ; cell = next(cells, cell)) {
        if (cells[cell] == number) {
          return true;
        }
        if (cells[cell] == NONE) {
          return false;
        }
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void hasWhatWasAddedAndNotRemoved(long seed) {
    Table table = new Table(0x9E3779B1);
    Set<Integer> plain = new HashSet<>();
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < MANY; i++) {
      int number = random.nextInt(MANY / 4);
      if (plain.add(number)) {
        table.add(number);
      } else if (random.nextInt(3) == 0) {
        plain.remove(number);
        table.remove(number);
      }
    }
    for (int number = 0; number < MANY / 4; number++) {
      assertThat(table.has(number)).as("%d", number).isEqualTo(plain.contains(number));
    }
    plain.forEach(table::remove);
    for (int number = 0; number < MANY / 4; number++) {
      assertThat(table.has(number)).isFalse();
    }
  }

  /** Hashes whose highest bits are all alike, as somebody might choose them. */
  @Test
  void staysSmallWhateverTheHashes() {
    Table table = new Table(1);
    for (int number = 0; number < 20_000; number++) {
      table.add(number);
    }
    for (int number = 0; number < 20_000; number++) {
      assertThat(table.has(number)).isTrue();
    }
    assertThat(table.length()).isLessThan(4 * 20_000);
  }

  /**
   * What an addition costs is bounded: the cells that it reads or writes, not how many are there.
   */
  @Test
  void noAdditionMovesMoreThanAPart() {
    int[] looks = {0};
    Table counting =
        new Table(0x9E3779B1) {
          @Override
          int hash(int number) {
            looks[0]++;
            return super.hash(number);
          }
        };
    int most = 0;
    for (int number = 0; number < 1_000_000; number++) {
      looks[0] = 0;
      counting.add(number);
      most = Math.max(most, looks[0]);
    }
    assertThat(most).as("hashes that one addition takes").isLessThan(12_000);
  }
}
