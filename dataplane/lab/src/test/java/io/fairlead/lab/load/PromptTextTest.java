package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.workload.RequestShape;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class PromptTextTest {

  @Test
  void isFourBytesAToken() {
    assertThat(text(1, 70, 1, 2, 3)).hasSize(280).isASCII();
    assertThat(text(1, 5)).hasSize(20);
  }

  @Test
  void agreesAsFarAsTheBlocksDo() {
    String one = text(1, 70, 11, 12, 13, 14);
    String other = text(2, 70, 11, 12, 99, 14);

    assertThat(one.substring(0, 128)).isEqualTo(other.substring(0, 128));
    assertThat(one.substring(128, 192)).isNotEqualTo(other.substring(128, 192));
    assertThat(one.substring(192, 256)).isEqualTo(other.substring(192, 256));
    assertThat(one.substring(256)).isNotEqualTo(other.substring(256));
  }

  @Test
  void isAnotherForEveryIdentity() {
    SplittableRandom random = new SplittableRandom(1);
    Set<String> texts = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      texts.add(text(1, 16, random.nextLong()));
      texts.add(text(1, 16, 1L << (i % 64)));
    }
    assertThat(texts).hasSize(1_064);
  }

  @Test
  void saysNothingOfTheAnswersBlocks() {
    assertThat(text(1, 32, 5, 6, 7, 8)).hasSize(128).isEqualTo(text(2, 32, 5, 6, 9, 10));
  }

  @Test
  void isTheRequestsOwnWhereNothingIsKnown() {
    assertThat(text(1, 1_000)).isEqualTo(text(1, 1_000)).isNotEqualTo(text(2, 1_000));
    assertThat(text(1, 64).substring(0, 64)).isNotEqualTo(text(2, 64).substring(0, 64));
  }

  private static String text(long number, int promptTokens, long... blocks) {
    long[] own = Arrays.copyOf(blocks, blocks.length);
    return PromptText.of(new RequestShape("m", "", own, promptTokens, 100), number);
  }
}
