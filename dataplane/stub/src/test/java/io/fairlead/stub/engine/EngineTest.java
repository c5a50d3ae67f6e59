package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.sun.management.ThreadMXBean;
import io.fairlead.stub.profile.EngineProfiles;
import java.lang.management.ManagementFactory;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class EngineTest {

  private static final long[] NO_BLOCKS = {};
  private static final EngineProfile H100 = EngineProfiles.shipped().named("h100-8b");

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
    EngineProfile p = EngineProfiles.shipped().named(profile);
    Engine engine = new Engine(p, effects);
    engine.submit(5, 1, NO_BLOCKS, prompt, output);
    run(engine);

    assertThat(effects.firstAt(1) - 5.0)
        .isCloseTo(ClosedForm.prefillMillis(p, prompt) * 1e6, within(1.0));
    assertThat(effects.finishedAt(1) - 5.0)
        .isCloseTo(ClosedForm.aloneMillis(p, prompt, output) * 1e6, within((double) output));
    assertThat(engine.busyNanos()).isEqualTo(effects.finishedAt(1) - 5);
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
  void thePageTellsWhatTheLastStepLeftBehind() {
    Engine engine = new Engine(TINY.withKvTokens(400), effects);
    engine.submit(0, 1, NO_BLOCKS, 1, 3);
    assertThat(engine.running()).isEqualTo(1);
    assertThat(engine.published().running()).as("no step has ended").isZero();

    engine.advance(1_000_000);
    assertThat(engine.published().running()).isEqualTo(1);
    assertThat(engine.published().promptTokens()).isEqualTo(1);
    assertThat(engine.published().outputTokens()).isEqualTo(1);

    for (long id = 2; id <= 5; id++) {
      engine.submit(1_500_000, id, NO_BLOCKS, 1, 1);
    }
    assertThat(engine.waiting()).isEqualTo(4);
    engine.advance(2_000_000);
    assertThat(engine.published().waiting()).as("came while the step ran").isZero();
    engine.submit(2_500_000, 6, NO_BLOCKS, 1, 1);
    engine.cancel(2_500_000, 5);
    engine.advance(3_000_000);
    assertThat(engine.published().waiting()).as("3 and 4: 5 is gone, 6 just came").isEqualTo(2);
    assertThat(engine.published().running()).as("both ended with the step").isZero();

    run(engine);
    assertThat(engine.published().waiting()).isZero();
    assertThat(engine.published().usedBlocks()).isZero();
  }

  @Test
  void thePageTellsWhoWaitsForASlotOfAnAdapter() {
    Engine engine = new Engine(TINY.withKvTokens(400).withAdapters(1, 0), effects);
    engine.submit(0, new EngineRequest(1, NO_BLOCKS, 1, 4).withAdapter("a"));
    engine.submit(500_000, new EngineRequest(2, NO_BLOCKS, 1, 4).withAdapter("b"));
    engine.submit(500_000, new EngineRequest(3, NO_BLOCKS, 1, 4));
    engine.submit(500_000, new EngineRequest(4, NO_BLOCKS, 1, 4));
    engine.advance(2_000_000);

    SchedulerStats stats = engine.published();
    assertThat(stats.running()).isEqualTo(2);
    assertThat(stats.waiting()).isEqualTo(2);
    assertThat(stats.deferred()).isEqualTo(1);
    assertThat(stats.lackingCapacity()).isEqualTo(1);
    assertThat(stats.runningAdapters()).containsExactly("a");
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
  void aPromptComputedElsewhereTakesBlocksButNoComputing() {
    Engine engine = new Engine(H100, effects);
    long[] blocks = LongStream.rangeClosed(1, 50).toArray();
    engine.submit(0, new EngineRequest(1, blocks, 800, 2).withTransferredTokens(800));
    assertThat(engine.usedBlocks()).isEqualTo(50);
    run(engine);

    // One step for the prompt's last token, one for the second token of the answer.
    double prefill = Math.max(H100.d0(), H100.a() + H100.b()) + H100.c() * 799.5;
    assertThat((double) effects.firstAt(1)).isCloseTo(prefill * 1e6, within(1.0));
    assertThat(engine.computedTokens()).isEqualTo(2);
    assertThat(engine.transferredTokens()).isEqualTo(799);
    assertThat(engine.cachedTokens()).isZero();

    engine.submit(10_000_000_000L, 2, blocks, 800, 1);
    run(engine);
    assertThat(effects.cached).as("what came along is cached").containsEntry(2L, 784);
  }

  @Test
  void aPrefillEngineIsDoneWithTheFirstToken() {
    Engine engine = new Engine(H100, effects);
    engine.submit(0, 1, NO_BLOCKS, 800, 1);
    run(engine);

    assertThat(effects.firstAt(1)).isEqualTo(effects.finishedAt(1));
    assertThat(engine.usedBlocks()).isZero();
  }

  @Test
  void anAdapterIsLoadedByTheStepThatAdmitsItsFirstRequest() {
    Engine engine = new Engine(TINY.withKvTokens(400).withAdapters(1, 300), effects);
    engine.submit(0, 1, NO_BLOCKS, 4, 3);
    engine.submit(0, new EngineRequest(2, NO_BLOCKS, 4, 1).withAdapter("french"));
    run(engine);
    engine.submit(10_000_000_000L, new EngineRequest(3, NO_BLOCKS, 4, 1).withAdapter("french"));
    run(engine);

    // The second step of request 1 is the one that loads.
    assertThat(effects.firstAt)
        .containsEntry(1L, 1_000_000L)
        .containsEntry(2L, 302_000_000L)
        .containsEntry(3L, 10_001_000_000L);
    assertThat(effects.finishedAt(1)).isEqualTo(303_000_000L);
    assertThat(engine.adapterLoads()).isEqualTo(1);
  }

  @Test
  void withoutASlotARequestIsPassedByOthersThatHaveOne() {
    Engine engine = new Engine(TINY.withKvTokens(400).withAdapters(1, 0), effects);
    engine.submit(0, new EngineRequest(1, NO_BLOCKS, 4, 3).withAdapter("french"));
    engine.submit(0, new EngineRequest(2, NO_BLOCKS, 4, 1).withAdapter("poetry"));
    engine.submit(0, new EngineRequest(3, NO_BLOCKS, 4, 1).withAdapter("french"));
    engine.advance(1_000_000);
    assertThat(engine.runningAdapters()).containsExactly("french");
    assertThat(engine.scheduler().slots.names(adapter -> adapter.waiting))
        .containsExactly("poetry");
    run(engine);

    assertThat(effects.firstAt(3)).isEqualTo(2_000_000L);
    assertThat(effects.firstAt(2)).as("when the slot is idle").isEqualTo(4_000_000L);
    assertThat(engine.residentAdapters()).containsExactly("poetry");
    assertThat(engine.adapterLoads()).isEqualTo(2);
  }

  @Test
  void ofTheIdleAdaptersTheLongestIdleMakesRoom() {
    Engine engine = new Engine(TINY.withAdapters(2, 1), effects);
    assertThat(engine.loadAdapter(0, "french")).isTrue();
    assertThat(engine.nextEventNanos()).as("loading takes time").isEqualTo(1_000_000);
    engine.advance(1_000_000);
    engine.submit(1_000_000, new EngineRequest(1, NO_BLOCKS, 4, 1).withAdapter("poetry"));
    run(engine);
    engine.submit(10_000_000, new EngineRequest(2, NO_BLOCKS, 4, 1).withAdapter("french"));
    run(engine);
    engine.submit(20_000_000, new EngineRequest(3, NO_BLOCKS, 4, 1).withAdapter("maths"));
    run(engine);

    assertThat(engine.residentAdapters()).containsExactly("french", "maths");
    assertThat(engine.unloadAdapter(30_000_000, "french")).isTrue();
    assertThat(engine.residentAdapters()).containsExactly("maths");
  }

  @Test
  void anAdapterOfARunningRequestIsNeitherUnloadedNorReplaced() {
    Engine engine = new Engine(TINY.withAdapters(1, 0), effects);
    engine.submit(0, new EngineRequest(1, NO_BLOCKS, 4, 3).withAdapter("french"));
    assertThat(engine.unloadAdapter(1, "french")).isFalse();
    assertThat(engine.loadAdapter(1, "poetry")).isFalse();
    assertThat(engine.residentAdapters()).containsExactly("french");
    assertThatThrownBy(
            () ->
                new Engine(TINY, effects)
                    .submit(0, new EngineRequest(1, NO_BLOCKS, 1, 1).withAdapter("x")))
        .hasMessage("adapter: \"x\" is asked for, but profile tiny has no adapterSlots");
  }

  @Test
  void aResetCacheHoldsNothingAndCachesAgain() {
    Engine engine = new Engine(H100, effects);
    long[] blocks = LongStream.rangeClosed(1, 10).toArray();
    for (long id = 1; id <= 3; id++) {
      engine.submit(id * 10_000_000_000L, id, blocks, 160, 1);
      run(engine);
      if (id == 1) {
        engine.resetCache(15_000_000_000L);
      }
    }
    assertThat(effects.cached).containsEntry(2L, 0).containsEntry(3L, 144);
  }

  @Test
  void aRestartForgetsAllButTheTotals() {
    Engine engine = new Engine(TINY.withAdapters(1, 0), effects);
    long[] blocks = {1, 2};
    engine.submit(0, 1, blocks, 8, 8);
    engine.submit(0, new EngineRequest(2, NO_BLOCKS, 8, 1).withAdapter("french"));
    engine.submit(0, 3, NO_BLOCKS, 8, 1);
    engine.restart(2_500_000);

    assertThat(engine.nextEventNanos()).isEqualTo(Engine.IDLE);
    assertThat(engine.running() + engine.waiting() + engine.usedBlocks()).isZero();
    assertThat(engine.residentAdapters()).isEmpty();
    assertThat(engine.busyNanos()).isEqualTo(2_500_000);
    assertThat(effects.finishedAt).doesNotContainKey(1L);
    long output = engine.outputTokens();
    engine.submit(3_000_000, 1, blocks, 8, 1);
    effects.tokens.clear();
    run(engine);
    assertThat(effects.cached).containsEntry(1L, 0);
    assertThat(engine.outputTokens()).isEqualTo(output + 1);
  }

  @Test
  void theApiAddsItsShareToEveryToken() {
    Engine engine = new Engine(TINY.withApiOverhead(10, 0.5), effects);
    engine.submit(0, 1, NO_BLOCKS, 4, 3);
    run(engine);
    assertThat(effects.log)
        .containsExactly(
            "11500000 first 1 cached 0",
            "13000000 token 1 2",
            "14500000 token 1 3",
            "14500000 finished 1");

    engine.submit(20_000_000, 2, NO_BLOCKS, 4, 1);
    engine.advance(21_000_000);
    assertThat(engine.running()).as("the engine is done with it").isZero();
    assertThat(engine.cancel(22_000_000, 2)).as("the client has not got it").isTrue();
    run(engine);
    assertThat(effects.log).hasSize(4);
  }

  @Test
  void aStepAllocatesNothing() {
    Engine engine = new Engine(H100, new RecordingListener(false));
    long[] blocks = LongStream.rangeClosed(1, 500).toArray();
    for (long id = 0; id < 300; id++) {
      engine.submit(0, id, blocks, 64 + (int) id, 1_000);
    }
    long warm = step(engine, 300);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    step(engine, 300);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(warm).isLessThan(engine.outputTokens());
    assertThat(engine.waiting()).isEqualTo(44);
    assertThat(allocated).as("bytes in 300 steps, the counter's own included").isLessThan(300);
  }

  @Test
  void aSlowerProfileIsSlowerInEverythingItComputes() {
    EngineProfile slow = H100.withApiOverhead().withAdapterSlots(4).slowedBy(2);
    assertThat(slow.a()).isEqualTo(2 * H100.a());
    assertThat(slow.d2()).isEqualTo(2 * H100.d2());
    assertThat(slow.apiMillis()).isEqualTo(15.6);
    assertThat(slow.adapterLoadMillis()).isEqualTo(300);
    assertThatThrownBy(() -> H100.slowedBy(0)).hasMessageContaining("factor: 0.0");
    assertThatThrownBy(() -> H100.withMaxSequences(9_000))
        .hasMessageContaining("maxSequences: 9000");
  }

  @Test
  void anUnknownProfileIsToldWithTheKnownOnes() {
    assertThatThrownBy(() -> EngineProfiles.shipped().named("tpu"))
        .hasMessage(
            "profile: no engine profile \"tpu\"; known: h100-8b, h100-8b-fp8, a100-8b, l40s-8b, l4-8b, h100x2-32b, h100x4-70b, h200x8-deepseek-v3");
  }

  /** Lets some steps pass, and tells the tokens put out by then. */
  private static long step(Engine engine, int steps) {
    for (int i = 0; i < steps; i++) {
      engine.advance(engine.nextEventNanos());
    }
    return engine.outputTokens();
  }

  private static void run(Engine engine) {
    while (engine.nextEventNanos() != Engine.IDLE) {
      engine.advance(engine.nextEventNanos());
    }
  }
}
