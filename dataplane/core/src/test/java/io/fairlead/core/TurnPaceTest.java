package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TurnPaceTest {

  private static final long MILLI = 1_000_000;
  private static final int TOKENS = 200;

  private TurnPace pace = new TurnPace();
  private final Deque<Long> line = new ArrayDeque<>();
  private long lastFirstToken;

  /**
   * Requests that came at these times are served by {@code places} at a time, {@code took} each.
   */
  private long longestExpected(long[] came, int places, long took) {
    long[] freeAt = new long[places];
    Deque<Long> ends = new ArrayDeque<>();
    Deque<Boolean> first = new ArrayDeque<>();
    long longest = 0;
    for (long at : came) {
      while (!ends.isEmpty() && ends.getFirst() <= at) {
        firstToken(ends.removeFirst(), first.removeFirst());
      }
      first.add(line.isEmpty());
      line.add(at);
      int place = 0;
      for (int i = 1; i < places; i++) {
        place = freeAt[i] < freeAt[place] ? i : place;
      }
      freeAt[place] = Math.max(at, freeAt[place]) + took;
      ends.add(freeAt[place]);
      longest = Math.max(longest, pace.expected(line.size(), (long) line.size() * TOKENS));
    }
    return longest;
  }

  private void firstToken(long at, boolean first) {
    long sent = line.removeFirst();
    pace.firstToken(TOKENS, at - Math.max(sent, lastFirstToken), at - sent, first);
    lastFirstToken = at;
  }

  private static long[] poisson(long seed, int count, long meanGap) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] times = new long[count];
    long at = 0;
    for (int i = 0; i < count; i++) {
      at += (long) (-meanGap * Math.log1p(-random.nextDouble()));
      times[i] = at;
    }
    return times;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void aServerThatIsFarAwayAndTakesAnyNumberAtATimeIsNeverInTheWay(long seed) {
    for (long took : new long[] {20 * MILLI, 500 * MILLI, 3_000 * MILLI}) {
      pace = new TurnPace();
      line.clear();
      lastFirstToken = 0;
      longestExpected(poisson(seed, 2_000, 50 * MILLI), 10_000, took);
      long[] burst = new long[200];
      Arrays.fill(burst, 110_000 * MILLI);
      assertThat(longestExpected(burst, 10_000, took)).isLessThan(500 * MILLI);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void aServerThatTakesOneAfterTheOtherIsAsFullAsItsLineIsLong(long seed) {
    // Half as many again as it can serve: the line grows by a third of what comes.
    long took = 20 * MILLI;
    longestExpected(poisson(seed, 3_000, took * 2 / 3), 1, took);
    long line = (long) this.line.size() * took;
    assertThat(line).isGreaterThan(10_000 * MILLI);
    assertThat(pace.expected(this.line.size(), (long) this.line.size() * TOKENS))
        .isBetween(line * 3 / 4, line * 5 / 4);
  }

  /** Such as one that came to a server that was compiling, or behind what others had sent. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void aSlowFirstRequestDoesNotHideALine(long seed) {
    pace.firstToken(TOKENS, 30_000 * MILLI, 30_000 * MILLI, true);
    aServerThatTakesOneAfterTheOtherIsAsFullAsItsLineIsLong(seed);
  }

  /** However long it is quiet: a burst finds a server that takes one after the other. */
  @Test
  void requestsThatAreAloneTellNothingOfALine() {
    pace.firstToken(TOKENS, 18 * MILLI, 18 * MILLI, true);
    long before = pace.expected(20, 20L * TOKENS);
    for (int i = 0; i < 1_000; i++) {
      pace.firstToken(TOKENS, 18 * MILLI, 18 * MILLI, true);
    }
    assertThat(pace.expected(20, 20L * TOKENS)).isBetween(before * 9 / 10, before * 11 / 10);
  }

  /** Nearly all are alone; of each ten three share a step with the one before. */
  @Test
  void aBurstAfterAQuietTimeIsSeen() {
    int tokens = 500;
    for (int i = 0; i < 5_000; i++) {
      boolean alone = i % 10 < 7;
      long whole = (alone ? 18 : 30) * MILLI;
      pace.firstToken(tokens, alone ? whole : 12 * MILLI, whole, alone);
    }
    int passed = 1;
    while (pace.expected(passed + 1, (passed + 1L) * tokens) < 30 * MILLI) {
      passed++;
    }
    assertThat(passed).isBetween(3, 10);
  }

  @Test
  void whatIsExpectedNeverIsBelowZero() {
    pace.firstToken(TOKENS, 5_000 * MILLI, 5_000 * MILLI, true);
    assertThat(pace.expected(1, TOKENS)).isZero();
  }
}
