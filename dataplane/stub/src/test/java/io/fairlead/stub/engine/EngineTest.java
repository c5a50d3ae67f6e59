package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EngineTest {

  private static final long[] NO_BLOCKS = {};
  private static final EngineProfile H100 = EngineProfile.named("h100-8b");

  private final RecordingListener effects = new RecordingListener();

  /** 1 ms a step and nothing else, 4 blocks of 4 tokens, 8 tokens a step, 2 sequences. */
  private static final EngineProfile TINY =
      new EngineProfile("tiny", 0, 0, 0, 1, 0, 0, 16, 4, 8, 2);

  @ParameterizedTest
  @CsvSource({
    "h100-8b, 1000, 100",
    "h100-8b, 1, 1",
    "h100-8b, 8192, 2",
    "l4-8b, 2048, 50",
    "h100x4-70b, 300, 1000"
  })
  void aloneARequestTakesTheClosedForm(String profile, int prompt, int output) {
    EngineProfile p = EngineProfile.named(profile);
    Engine engine = new Engine(p, effects);
    engine.submit(5, 1, NO_BLOCKS, prompt, output);
    run(engine);

    double prefill = Math.max(p.d0(), p.a() + p.b() * prompt) + p.c() * prompt * prompt / 2.0;
    // Token j of 2..o is computed over prompt + j - 1 tokens.
    double contexts = (output - 1.0) * prompt + output * (output - 1.0) / 2;
    double decode = (output - 1) * (Math.max(p.d0(), p.a()) + p.d1()) + p.d2() * contexts;
    assertThat(effects.firstAt(1) - 5.0).isCloseTo(prefill * 1e6, within(1.0));
    assertThat(effects.finishedAt(1) - 5.0)
        .isCloseTo((prefill + decode) * 1e6, within((double) output));
  }

  @Test
  void aPromptOverTheBudgetIsPrefilledInChunks() {
    Engine engine = new Engine(H100, effects);
    int prompt = 20_000;
    engine.submit(0, 1, NO_BLOCKS, prompt, 1);
    run(engine);

    // The attention's cost doesn't depend on where the chunks are cut.
    double millis = 3 * H100.a() + H100.b() * prompt + H100.c() * prompt * (double) prompt / 2;
    assertThat((double) effects.firstAt(1)).isCloseTo(millis * 1e6, within(3.0));
  }

  @Test
  void decodesGoOnBesideAPrefill() {
    Engine engine = new Engine(TINY.withKvTokens(400), effects);
    engine.submit(0, 1, NO_BLOCKS, 4, 5);
    engine.submit(0, 2, NO_BLOCKS, 20, 1);
    run(engine);

    // Beside one decode 7 tokens of the prompt fit into a step: 7 + 7 + 6.
    assertThat(effects.log)
        .containsExactly(
            "1000000 first 1 cached 0",
            "2000000 token 1 2",
            "3000000 token 1 3",
            "4000000 token 1 4",
            "4000000 first 2 cached 0",
            "4000000 finished 2",
            "5000000 token 1 5",
            "5000000 finished 1");
  }

  @Test
  void seatsAreGivenFirstComeFirstServed() {
    Engine engine = new Engine(TINY.withKvTokens(400), effects);
    for (long id = 1; id <= 4; id++) {
      engine.submit(0, id, NO_BLOCKS, 1, 2);
    }
    assertThat(engine.running()).isEqualTo(1);
    assertThat(engine.waiting()).isEqualTo(3);
    engine.advance(1_000_000);
    assertThat(engine.running()).isEqualTo(2);
    assertThat(engine.waiting()).isEqualTo(2);
    run(engine);
    assertThat(effects.firstAt)
        .containsEntry(1L, 1_000_000L)
        .containsEntry(2L, 2_000_000L)
        .containsEntry(3L, 3_000_000L)
        .containsEntry(4L, 4_000_000L);
  }

  @Test
  void aRepeatedPrefixIsFoundButItsLastTokenIsComputed() {
    Engine engine = new Engine(H100, effects);
    long[] blocks = LongStream.rangeClosed(1, 10).toArray();
    engine.submit(0, 1, blocks, 160, 1);
    run(engine);
    engine.submit(10_000_000_000L, 2, blocks, 160, 1);
    run(engine);
    engine.submit(20_000_000_000L, 3, blocks, 165, 1);
    run(engine);

    assertThat(effects.cached).containsEntry(1L, 0).containsEntry(2L, 144).containsEntry(3L, 160);
    assertThat(engine.promptTokens()).isEqualTo(485);
    assertThat(engine.cachedTokens()).isEqualTo(304);
  }

  @Test
  void theNextTurnFindsTheAnswerOfTheLast() {
    Engine engine = new Engine(H100, effects);
    long[] blocks = LongStream.rangeClosed(1, 20).toArray();
    engine.submit(0, 1, blocks, 100, 61);
    run(engine);
    engine.submit(10_000_000_000L, 2, blocks, 300, 1);
    run(engine);

    // 161 tokens were there, the last one of them never computed: 10 full blocks.
    assertThat(effects.cached).containsEntry(2L, 160);
  }

  @Test
  void theEndOfAnOldPrefixIsLostFirst() {
    Engine engine = new Engine(TINY, effects);
    engine.submit(0, 1, new long[] {1, 2, 3}, 12, 1);
    run(engine);
    engine.submit(10_000_000_000L, 2, NO_BLOCKS, 7, 1);
    run(engine);
    engine.submit(20_000_000_000L, 3, new long[] {1, 2, 3}, 13, 1);
    run(engine);

    // Request 2 took two blocks: the never used one, and the deepest of request 1.
    assertThat(effects.cached).containsEntry(3L, 8);
  }

  @Test
  void outOfBlocksTheNewestStepsBackAndIsComputedAgain() {
    Engine engine = new Engine(TINY, effects);
    engine.submit(0, 1, NO_BLOCKS, 4, 12);
    engine.submit(0, 2, NO_BLOCKS, 4, 12);
    run(engine);

    assertThat(engine.preemptions()).isPositive();
    assertThat(effects.tokens).containsEntry(1L, 12).containsEntry(2L, 12);
    assertThat(effects.finishedAt(1)).isLessThan(effects.finishedAt(2));
    assertThat(effects.finishedAt(1)).isEqualTo(12_000_000L);
  }

  @Test
  void aCancelledRequestIsSilentAndGivesItsBlocksBackWhenTheStepEnds() {
    Engine engine = new Engine(TINY, effects);
    engine.submit(0, 1, NO_BLOCKS, 8, 5);
    engine.submit(0, 2, NO_BLOCKS, 8, 5);
    assertThat(engine.cancel(1, 1)).isTrue();
    assertThat(engine.cancel(1, 2)).isTrue();
    assertThat(engine.cancel(1, 2)).isFalse();
    assertThat(engine.usedBlocks()).isEqualTo(2);
    run(engine);

    assertThat(effects.log).isEmpty();
    assertThat(engine.usedBlocks()).isZero();
    assertThat(engine.running()).isZero();
    assertThat(engine.waiting()).isZero();
  }

  @Test
  void whatCanNeverBeServedIsRefused() {
    Engine engine = new Engine(TINY, effects);
    assertThat(engine.fits(8, 8)).isTrue();
    assertThat(engine.fits(8, 9)).isFalse();
    assertThatThrownBy(() -> engine.submit(0, 1, NO_BLOCKS, 8, 9))
        .hasMessageContaining("do not fit into 4 blocks of 4 tokens");
    assertThatThrownBy(() -> engine.submit(0, 1, NO_BLOCKS, 0, 1))
        .hasMessageContaining("promptTokens: 0");
    engine.submit(0, 1, NO_BLOCKS, 1, 1);
    assertThatThrownBy(() -> engine.submit(0, 1, NO_BLOCKS, 1, 1)).hasMessageContaining("id: 1");
    engine.advance(10);
    assertThatThrownBy(() -> engine.advance(9)).hasMessageContaining("now: 9 is before 10");
    assertThat(engine.waiting() + engine.running()).isEqualTo(1);
  }

  @Test
  void anUnknownProfileIsToldWithTheKnownOnes() {
    assertThatThrownBy(() -> EngineProfile.named("tpu"))
        .hasMessage(
            "profile: no engine profile \"tpu\"; known: h100-8b, h100-8b-fp8, a100-8b, l40s-8b, l4-8b, h100x2-32b, h100x4-70b, h200x8-deepseek-v3");
  }

  private static void run(Engine engine) {
    while (engine.nextEventNanos() != Engine.IDLE) {
      engine.advance(engine.nextEventNanos());
    }
  }
}
