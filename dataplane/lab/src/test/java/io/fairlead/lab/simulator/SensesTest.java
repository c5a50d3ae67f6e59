package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.PromptSize;
import io.fairlead.lab.workload.RequestShape;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SensesTest {

  private static RequestShape shape(String model, long from, int promptTokens) {
    long[] blocks = LongStream.range(from, from + promptTokens / 16).toArray();
    return new RequestShape(model, "", blocks, promptTokens, 10, new int[] {0, promptTokens});
  }

  private static RequestShape said(long[] content, int... messages) {
    int tokens = messages[messages.length - 1];
    return new RequestShape("m", "", Arrays.copyOf(content, tokens / 16), tokens, 10, messages);
  }

  private static Senses senses(String perception, long seed) {
    return new Senses(Perception.parse(perception), seed);
  }

  @Test
  void idealSensesSeeWhatIs() {
    Seen seen = senses("ideal", 1).prompt(shape("m", 7, 1_605));

    assertThat(seen.size()).isEqualTo(PromptSize.ofTokens(1_605));
    assertThat(seen.blocks()).isEqualTo(LongStream.range(7, 107).toArray());
    assertThat(seen.bodyBytes()).isEqualTo(6_420);
    assertThat(senses("ideal", 1).jitterNanos() + senses("ideal", 1).pageNanos()).isZero();
  }

  @Test
  void bytesPerTokenAreOffByModelWithinTheErrorAndOnBothSides() {
    Senses senses = senses("token-error=0.3", 5);
    double[] factors =
        IntStream.range(0, 200).mapToDouble(i -> senses.bytesFactor("model-" + i)).toArray();

    assertThat(Arrays.stream(factors).boxed())
        .allSatisfy(factor -> assertThat(factor).isBetween(0.7, 1.3));
    assertThat(Arrays.stream(factors).min().orElseThrow()).isLessThan(0.75);
    assertThat(Arrays.stream(factors).max().orElseThrow()).isGreaterThan(1.25);
    assertThat(senses.bytesFactor("model-1")).isEqualTo(senses.bytesFactor("model-1"));
    assertThat(senses("token-error=0.3", 6).bytesFactor("model-1")).isNotEqualTo(factors[1]);
    assertThat(senses.prompt(shape("model-1", 0, 16_000)).size().textBytes())
        .isEqualTo(Math.round(64_000 * factors[1]));
  }

  /** Two prompts share as much of the picker's blocks as they share bytes, and no more. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whatIsSharedIsSharedInThePickersBlocksToo(long seed) {
    Senses senses = senses("token-error=0.3", seed);
    RequestShape one = shape("m", 0, 1_600);
    long[] blocks = one.blocks().clone();
    Arrays.fill(blocks, 60, 100, -1);
    RequestShape other = new RequestShape("m", "", blocks, 1_600, 10);

    long[] first = senses.prompt(one).blocks();
    long[] second = senses.prompt(other).blocks();

    double factor = senses.bytesFactor("m");
    assertThat(first).hasSize((int) (100 * factor));
    assertThat(Arrays.mismatch(first, second)).isEqualTo((int) (60 * factor));
    Set<Long> distinct = new HashSet<>();
    LongStream.of(first).forEach(distinct::add);
    assertThat(distinct).as("each block by a name of its own").hasSize(first.length);
  }

  @Test
  void bytesOfAnImageSayLittleOfItsTokens() {
    Senses senses = senses("images=1", 3);
    double least = Double.MAX_VALUE;
    double most = 0;
    for (int i = 0; i < 500; i++) {
      Seen seen = senses.prompt(shape("m", i, 4_000));
      double image = 4_000 - seen.size().textBytes() / 4.0;
      assertThat(image).isBetween(983.0, 3_000.0);
      assertThat(seen.blocks()).hasSize((int) (4_000 - image + seen.size().mediaTokens()) / 16);
      assertThat(seen.bodyBytes())
          .isEqualTo(seen.size().textBytes() + 196L * seen.size().mediaTokens());
      least = Math.min(least, seen.size().mediaTokens() / image);
      most = Math.max(most, seen.size().mediaTokens() / image);
    }
    assertThat(least).isBetween(0.249, 0.3);
    assertThat(most).isBetween(3.3, 4.01);
  }

  /** So it is with the next turn of a conversation. */
  @Test
  void anImageIsTheSameWhateverComesBehindIt() {
    Senses senses = senses("images=1,token-error=0.3", 3);
    for (int i = 0; i < 100; i++) {
      long[] all = LongStream.range(i * 1_000L, i * 1_000L + 500).toArray();
      RequestShape first = said(all, 0, 400, 400, 1_605);
      RequestShape next = said(all, 0, 400, 400, 1_605, 1_700, 3_000);

      assertThat(senses.images(next)).startsWith(senses.images(first).toArray(Senses.Image[]::new));
      assertThat(senses.prompt(next).blocks()).startsWith(senses.prompt(first).blocks());
    }
  }

  @Test
  void nobodyKnowsImagesOfPromptsWhoseMessagesNobodyKnows() {
    RequestShape shape = new RequestShape("m", "", new long[100], 1_600, 10);

    assertThat(senses("images=1", 3).prompt(shape).size()).isEqualTo(PromptSize.ofTokens(1_600));
  }

  /** Policies change in which order requests come. */
  @Test
  void aRequestIsSeenAlikeWheneverItComes() {
    Senses forwards = senses("images=0.3", 3);
    Senses backwards = senses("images=0.3", 3);
    Seen[] first = new Seen[200];
    for (int i = 0; i < first.length; i++) {
      first[i] = forwards.prompt(shape("m", i, 4_000));
    }
    for (int i = first.length - 1; i >= 0; i--) {
      Seen again = backwards.prompt(shape("m", i, 4_000));
      assertThat(again.size()).isEqualTo(first[i].size());
      assertThat(again.blocks()).isEqualTo(first[i].blocks());
      backwards.pageNanos();
    }
    assertThat(Arrays.stream(first).filter(seen -> seen.size().mediaTokens() > 0).count())
        .isBetween(40L, 80L);
  }

  /** So that policies are compared by the same streams, and the same whole answers. */
  @Test
  void whetherARequestsAnswerIsStreamedFollowsFromTheRequest() {
    Senses senses = senses("unstreamed=0.2", 3);
    boolean[] first = new boolean[1_000];
    for (int i = 0; i < first.length; i++) {
      first[i] = senses.streams(shape("m", 1_000L * i, 4_000));
    }

    assertThat(IntStream.range(0, first.length).filter(i -> !first[i]).count())
        .isBetween(150L, 250L);
    assertThat(IntStream.range(0, first.length).map(i -> first.length - 1 - i))
        .allSatisfy(
            i -> assertThat(senses.streams(shape("m", 1_000L * i, 4_000))).isEqualTo(first[i]));
  }

  @Test
  void delaysHaveTheMeanThatWasAskedFor() {
    Senses senses = senses("jitter-ms=2,metrics-ms=5", 4);

    assertThat(IntStream.range(0, 20_000).mapToLong(i -> senses.jitterNanos()).average())
        .hasValueCloseTo(2e6, Offset.offset(5e4));
    assertThat(IntStream.range(0, 20_000).mapToLong(i -> senses.pageNanos()).average())
        .hasValueCloseTo(7e6, Offset.offset(5e4));
  }
}
