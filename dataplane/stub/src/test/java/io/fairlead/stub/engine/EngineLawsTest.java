package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Laws that hold for any sequence of events, tried on random ones; the seed is the test's name. */
final class EngineLawsTest {

  private static final int EVENTS = 3_000;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 42, 20_261_121})
  void blocksTokensAndRequestsAreConserved(long seed) {
    Run run = new Run(seed);
    run.play();

    assertThat(run.engine.preemptions()).as("the load is heavy enough to preempt").isPositive();
    assertThat(run.engine.cachedTokens()).as("the load shares prefixes").isPositive();
    assertThat(run.cancelled).as("the load cancels").isNotEmpty();
    assertThat(run.engine.usedBlocks()).isZero();
    Set<Long> ended = new HashSet<>(run.effects.finishedAt.keySet());
    ended.retainAll(run.cancelled);
    assertThat(ended).as("ended twice").isEmpty();
    run.asked.forEach(
        (id, tokens) -> {
          if (run.cancelled.contains(id)) {
            assertThat(run.effects.tokens.getOrDefault(id, 0)).isLessThan(tokens);
          } else {
            assertThat(run.effects.finishedAt).containsKey(id);
            assertThat(run.effects.tokens).containsEntry(id, tokens);
          }
        });
    assertThat(run.engine.outputTokens())
        .isEqualTo(run.effects.tokens.values().stream().mapToLong(Integer::longValue).sum());
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {11, 12, 13, 14})
  void everyTokenIsCachedSentAlongOrComputedOnce(long seed) {
    Random random = new Random(seed);
    Engine engine =
        new Engine(
            new EngineProfile("roomy", 1, 0.01, 1e-6, 2, 0.01, 1e-5, 1 << 20, 8, 64, 8),
            new RecordingListener(false));
    long now = 0;
    long prompts = 0;
    long outputs = 0;
    int requests = 2_000;
    for (long id = 0; id < requests; id++) {
      int prompt = 1 + random.nextInt(200);
      int output = 1 + random.nextInt(50);
      long[] blocks = LongStream.range(0, random.nextInt(prompt / 8 + 1)).toArray();
      int sent = random.nextInt(prompt + 1);
      now += random.nextInt(100_000_000);
      engine.submit(now, new EngineRequest(id, blocks, prompt, output).withTransferredTokens(sent));
      prompts += prompt;
      outputs += output;
    }
    engine.advance(Long.MAX_VALUE - 1);

    assertThat(engine.preemptions()).isZero();
    assertThat(engine.promptTokens()).isEqualTo(prompts);
    assertThat(engine.outputTokens()).isEqualTo(outputs);
    assertThat(engine.cachedTokens()).isPositive();
    assertThat(engine.transferredTokens()).isPositive();
    // A request's last token is put out, but never computed on.
    assertThat(engine.cachedTokens() + engine.transferredTokens() + engine.computedTokens())
        .isEqualTo(prompts + outputs - requests);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {15, 16})
  void aRestartAnywhereLeavesNothingHeld(long seed) {
    Run run = new Run(seed);
    for (int i = 0; i < 300; i++) {
      run.submit(i);
      run.engine.advance(run.now += run.random.nextInt(20_000_000));
      if (run.random.nextInt(20) == 0) {
        run.engine.restart(run.now);
        BlockPool pool = run.engine.scheduler().pool;
        assertThat(pool.held()).isZero();
        assertThat(pool.references()).isZero();
        assertThat(pool.acquired()).isEqualTo(pool.released());
        assertThat(run.engine.running() + run.engine.waiting()).isZero();
      }
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {9, 10})
  void theSameEventsHaveTheSameEffects(long seed) {
    Run one = new Run(seed);
    Run two = new Run(seed);
    one.play();
    two.play();
    List<String> log = one.effects.log;
    assertThat(log).hasSizeGreaterThan(EVENTS).isEqualTo(two.effects.log);
  }

  /** Random submissions, cancellations and jumps in time, with the laws checked after each. */
  private static final class Run {

    final Random random;
    final RecordingListener effects = new RecordingListener();
    final Map<Long, Integer> asked = new HashMap<>();
    final Set<Long> cancelled = new HashSet<>();
    final EngineProfile profile;
    final Engine engine;
    long now;

    Run(long seed) {
      random = new Random(seed);
      profile =
          new EngineProfile(
              "random", 1, 0.01, 1e-6, 2, 0.01, 1e-5, 256 + random.nextInt(512), 8, 64, 8);
      engine = new Engine(profile, effects);
    }

    void play() {
      for (int i = 0; i < EVENTS; i++) {
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> submit(i);
          case 3 -> cancel();
          default -> engine.advance(now += random.nextInt(20_000_000));
        }
        checkBlocks();
      }
      while (engine.nextEventNanos() != Engine.IDLE) {
        now = engine.nextEventNanos();
        engine.advance(now);
        checkBlocks();
      }
    }

    private void submit(long id) {
      int prompt = 1 + random.nextInt(120);
      int output = 1 + random.nextInt(100);
      // A few families of prompts; members share a prefix of random length.
      long family = random.nextInt(4);
      int shared = random.nextInt(16);
      long[] blocks = new long[random.nextInt((prompt + output) / profile.blockTokens() + 1)];
      for (int b = 0; b < blocks.length; b++) {
        blocks[b] = b < shared ? family * 1000 + b : (id + 10) * 1_000_000 + b;
      }
      engine.submit(now, id, blocks, prompt, output);
      asked.put(id, output);
    }

    private void cancel() {
      if (!asked.isEmpty()) {
        long id = random.nextInt(EVENTS);
        boolean open = asked.containsKey(id) && !cancelled.contains(id);
        boolean done = engine.cancel(now, id);
        assertThat(done).isEqualTo(open && !effects.finishedAt.containsKey(id));
        if (done) {
          cancelled.add(id);
        }
      }
    }

    private void checkBlocks() {
      BlockPool pool = engine.scheduler().pool;
      assertThat(pool.acquired()).isEqualTo(pool.released() + pool.held());
      assertThat(pool.references()).isEqualTo(engine.scheduler().tableEntries());
      assertThat(pool.held()).isBetween(0, pool.size());
      assertThat(engine.running()).isBetween(0, profile.maxSequences());
      assertThat(engine.running() + engine.waiting() == 0)
          .isEqualTo(engine.nextEventNanos() == Engine.IDLE);
    }
  }
}
