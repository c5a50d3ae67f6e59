package io.fairlead.core.receipt;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Against a list that keeps all words. */
class ReceiptRingTest {

  /** Words of two pieces of memory. */
  private static final int WORDS = 1 << 14;

  private final ReceiptRing ring = new ReceiptRing(WORDS * Long.BYTES);

  @Test
  void textsAreReadAsTheyWereWritten() {
    List<String> texts = new ArrayList<>(List.of("", "a", "abcd", "abcde", "\ud83d\ude80 is one"));
    texts.add("ü".repeat(257));
    texts.add("x".repeat(10_000));
    texts.add("short again");
    long from = ring.end();
    texts.forEach(ring::put);
    ring.commit();
    Words words = new Words(ring.copy(from, Math.toIntExact(ring.end() - from)));
    assertThat(texts).allSatisfy(text -> assertThat(words.text()).isEqualTo(text));
  }

  @Test
  void whatIsHeldIsWhatWasCommitted() {
    SplittableRandom random = new SplittableRandom(3);
    List<Long> all = new ArrayList<>();
    for (int i = 0; i < 2_000; i++) {
      assertThat(ring.end()).isEqualTo(all.size());
      int size = random.nextInt(10) == 0 ? random.nextInt(9_000) : random.nextInt(60);
      List<Long> written = write(random, size);
      if (random.nextInt(4) == 0) {
        int left = random.nextInt(size + 1);
        ring.rewind(all.size() + left);
        written = written.subList(0, left);
      }
      ring.commit();
      all.addAll(written);
      ring.approach(random.nextInt(100));
      ring.rewind(Math.max(0, all.size() - 5));
      int oldest = all.size() - random.nextInt(Math.min(all.size(), WORDS) + 1);
      if (ring.holds(oldest)) {
        assertThat(ring.copy(oldest, all.size() - oldest))
            .isEqualTo(all.subList(oldest, all.size()).stream().mapToLong(w -> w).toArray());
      }
      assertThat(ring.holds(Math.max(0, all.size() - WORDS / 2)))
          .as("what is given up for what comes is at most a few pages")
          .isTrue();
    }
  }

  /** In each of the ways there are, so many words. */
  private List<Long> write(SplittableRandom random, int size) {
    List<Long> written = new ArrayList<>();
    while (written.size() < size) {
      int count = 1 + random.nextInt(Math.min(size - written.size(), 700));
      switch (random.nextInt(3)) {
        case 0 -> {
          long word = random.nextLong();
          ring.put(word);
          written.add(word);
        }
        case 1 -> {
          double[] numbers = random.doubles(count).toArray();
          ring.put(numbers, count);
          Arrays.stream(numbers).mapToLong(Double::doubleToRawLongBits).forEach(written::add);
        }
        default -> {
          long[] into = ring.room(count);
          int to = ring.gathered();
          for (int i = 0; i < count; i++) {
            into[to + i] = random.nextLong();
            written.add(into[to + i]);
          }
          ring.wrote(to + count);
        }
      }
    }
    return written;
  }
}
