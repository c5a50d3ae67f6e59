package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ContentTest {

  private static final Caller CALLER = Caller.ANYBODY;

  @Test
  void sharesBlocksAsFarAsSegmentsAgree() {
    RequestShape first = Content.empty(1).append(10, 100).append(20, 60).ask(CALLER, 30, 40);
    RequestShape second = Content.empty(1).append(10, 100).append(21, 60).ask(CALLER, 30, 40);

    // 100 tokens are six whole blocks; the seventh holds four of them and what differs
    assertThat(first.blocks()).hasSize(12);
    assertThat(Traffics.shared(first, second)).isEqualTo(6);
  }

  @Test
  void aSegmentOfAnotherLengthAgreesOnlyUpToItsLastWholeBlock() {
    RequestShape shorter = Content.empty(1).append(10, 100).append(20, 60).ask(CALLER, 30, 16);
    RequestShape longer = Content.empty(1).append(10, 104).append(20, 56).ask(CALLER, 30, 16);

    assertThat(Traffics.shared(shorter, longer)).isEqualTo(6);
  }

  @Test
  void whatWentApartStaysApart() {
    RequestShape first = Content.empty(1).append(10, 16).append(20, 160).ask(CALLER, 30, 16);
    RequestShape second = Content.empty(1).append(11, 16).append(20, 160).ask(CALLER, 30, 16);

    Set<Long> seen = new HashSet<>();
    for (RequestShape request : new RequestShape[] {first, second}) {
      Arrays.stream(request.blocks()).forEach(seen::add);
    }
    assertThat(seen).hasSize(2 * first.blocks().length);
  }

  @Test
  void messagesAreWhatWasAppendedAndNotAnswers() {
    Content content = Content.empty(1).append(10, 0).append(20, 40);
    RequestShape first = content.ask(CALLER, 30, 16);
    RequestShape second = content.append(40, 5).ask(CALLER, 50, 7);

    assertThat(first.messages()).containsExactly(0, 40);
    assertThat(second.messages()).containsExactly(0, 40, 56, 61);
  }

  @Test
  void seedsShareNothing() {
    RequestShape first = Content.empty(1).append(10, 64).ask(CALLER, 30, 16);
    RequestShape second = Content.empty(2).append(10, 64).ask(CALLER, 30, 16);

    assertThat(Traffics.shared(first, second)).isZero();
  }

  @Test
  void aCopyGoesItsOwnWay() {
    Content base = Content.empty(1).append(10, 40);
    RequestShape copied = base.copy().append(20, 40).ask(CALLER, 30, 16);
    RequestShape original = base.append(20, 40).ask(CALLER, 30, 16);

    assertThat(copied.blocks()).isEqualTo(original.blocks());
    assertThat(copied.promptTokens()).isEqualTo(80);
  }

  @Test
  void blocksRunOnIntoTheAnswer() {
    Content content = Content.empty(1).append(10, 30);
    RequestShape request = content.ask(CALLER, 20, 30);

    assertThat(request.promptTokens()).isEqualTo(30);
    assertThat(request.outputTokens()).isEqualTo(30);
    assertThat(request.promptBlocks()).isEqualTo(1);
    assertThat(request.blocks()).hasSize(3);
    assertThat(content.tokens()).isEqualTo(60);
    RequestShape next = content.append(40, 36).ask(CALLER, 50, 1);
    assertThat(Traffics.shared(request, next)).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void sharedBlocksAreThoseOfTheSharedTokens(long seed) {
    var random = new SplittableRandom(seed);
    for (int round = 0; round < 200; round++) {
      int[] lengths = random.ints(1 + random.nextInt(6), 1, 90).toArray();
      int agree = random.nextInt(lengths.length + 1);
      Content first = Content.empty(seed);
      Content second = Content.empty(seed);
      int tokens = 0;
      for (int i = 0; i < lengths.length; i++) {
        first.append(i, lengths[i]);
        second.append(i < agree ? i : 1_000 + i, lengths[i]);
        tokens += i < agree ? lengths[i] : 0;
      }
      RequestShape one = first.ask(CALLER, 7, 20);
      RequestShape other = second.ask(CALLER, 8, 20);

      assertThat(Traffics.shared(one, other))
          .as("seed %d round %d lengths %s", seed, round, Arrays.toString(lengths))
          .isEqualTo(tokens / RequestShape.BLOCK_TOKENS);
    }
  }
}
