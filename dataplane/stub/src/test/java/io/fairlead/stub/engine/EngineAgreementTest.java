package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The engine does, nanosecond for nanosecond, what its rules written down plainly do. */
final class EngineAgreementTest {

  private static final int EVENTS = 400;
  private static final long[] MET = new long[5];

  static LongStream seeds() {
    return LongStream.rangeClosed(1, 40);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void agreesWithThePlainOne(long seed) {
    Run run = new Run(seed);
    run.play();

    assertThat(run.few.firstAt).isEqualTo(run.expected.firstAt);
    assertThat(run.few.cached).isEqualTo(run.expected.cached);
    assertThat(run.few.finishedAt).isEqualTo(run.expected.finishedAt);
    assertThat(run.all.firstAt).isEqualTo(run.expected.firstAt);
    assertThat(run.all.finishedAt).isEqualTo(run.expected.finishedAt);
    // Requests served in one and the same step may be told in another order.
    assertThat(run.all.log.stream().sorted().toList())
        .isEqualTo(run.expected.log.stream().sorted().toList());
    MET[0] += run.fast.preemptions();
    MET[1] += run.fast.cachedTokens();
    MET[2] += run.cancelled;
    MET[3] += run.fast.adapterLoads();
    MET[4] += run.fast.transferredTokens();
  }

  @AfterAll
  static void theLoadsMeetEverything() {
    assertThat(MET)
        .as("preemptions, cached tokens, cancels, adapter loads, transferred tokens")
        .doesNotContain(0);
  }

  private static final class Run {

    final Random random;
    final RecordingListener few = new RecordingListener(false);
    final RecordingListener all = new RecordingListener();
    final RecordingListener expected = new RecordingListener();
    final EngineProfile profile;
    final Imperfection imperfection;
    final Engine fast;
    final Engine fastWithTokens;
    final PlainEngine plain;
    final boolean bursts;
    long now;
    int cancelled;

    Run(long seed) {
      random = new Random(seed);
      int blockTokens = 1 << random.nextInt(5);
      int sequences = 1 + random.nextInt(12);
      profile =
          new EngineProfile(
                  "random",
                  random.nextDouble(),
                  0.01,
                  1e-6,
                  random.nextInt(3),
                  0.01,
                  1e-5,
                  224 + random.nextInt(512),
                  blockTokens,
                  sequences + random.nextInt(100),
                  sequences)
              .withAdapters(random.nextInt(4), 15);
      bursts = random.nextBoolean();
      imperfection = imperfection(seed);
      fast = new Engine(profile, imperfection, seed, few);
      fastWithTokens = new Engine(profile, imperfection, seed, all);
      plain = new PlainEngine(profile, imperfection, seed, expected);
    }

    /** Each of what there is alone, all at once, and every fifth engine without any of it. */
    private static Imperfection imperfection(long seed) {
      return switch ((int) (seed % 5)) {
        case 0 -> Imperfection.NONE;
        case 1 -> new Imperfection(0.2, false, 0);
        case 2 -> new Imperfection(0, true, 0);
        case 3 -> new Imperfection(0, false, 0.7);
        default -> Imperfection.REAL;
      };
    }

    void play() {
      for (int i = 0; i < EVENTS; i++) {
        switch (random.nextInt(20)) {
          case 0, 1, 2, 3, 4, 5, 6 -> submit(i);
          case 7 -> cancel(random.nextInt(i + 1));
          case 8 -> adapter();
          case 9 -> resetCache();
          default -> advance();
        }
        compare();
      }
      while (plain.nextEventNanos() != Engine.IDLE) {
        now = plain.nextEventNanos();
        advanceAll();
        compare();
      }
      assertThat(fast.running() + fast.waiting() + fast.usedBlocks()).isZero();
    }

    private void submit(long id) {
      for (int i = bursts ? random.nextInt(4) : 0; i >= 0; i--) {
        EngineRequest request = request(id * 10 + i);
        fast.submit(now, request);
        fastWithTokens.submit(now, request);
        plain.submit(now, request);
      }
    }

    private EngineRequest request(long id) {
      int prompt = 1 + random.nextInt(120);
      int output = 1 + random.nextInt(100);
      // A few families of prompts; members share a prefix of random length.
      long family = random.nextInt(4);
      int shared = random.nextInt(24);
      int full = (prompt + output) / profile.blockTokens();
      long[] blocks = new long[random.nextInt(full + 1)];
      for (int b = 0; b < blocks.length; b++) {
        blocks[b] = b < shared ? family * 1000 + b : (id + 10) * 1_000_000 + b;
      }
      boolean lora = profile.adapterSlots() > 0 && random.nextInt(3) > 0;
      return new EngineRequest(
          id,
          blocks,
          prompt,
          output,
          lora ? "adapter-" + random.nextInt(6) : "",
          random.nextInt(4) == 0 ? random.nextInt(prompt + 1) : 0);
    }

    private void cancel(long i) {
      long id = i * 10 + (bursts ? random.nextInt(4) : 0);
      boolean done = plain.cancel(now, id);
      assertThat(fast.cancel(now, id)).isEqualTo(done);
      assertThat(fastWithTokens.cancel(now, id)).isEqualTo(done);
      cancelled += done ? 1 : 0;
    }

    private void adapter() {
      if (profile.adapterSlots() == 0) {
        return;
      }
      String name = "adapter-" + random.nextInt(6);
      if (random.nextBoolean()) {
        boolean loaded = plain.loadAdapter(now, name);
        assertThat(fast.loadAdapter(now, name)).isEqualTo(loaded);
        assertThat(fastWithTokens.loadAdapter(now, name)).isEqualTo(loaded);
      } else {
        boolean unloaded = plain.unloadAdapter(now, name);
        assertThat(fast.unloadAdapter(now, name)).isEqualTo(unloaded);
        assertThat(fastWithTokens.unloadAdapter(now, name)).isEqualTo(unloaded);
      }
    }

    private void resetCache() {
      if (random.nextInt(10) == 0) {
        plain.resetCache(now);
        fast.resetCache(now);
        fastWithTokens.resetCache(now);
      }
    }

    private void advance() {
      long next = plain.nextEventNanos();
      boolean exactly = next != Engine.IDLE && random.nextInt(4) == 0;
      now = exactly ? next : now + random.nextInt(bursts ? 60_000_000 : 20_000_000);
      advanceAll();
    }

    private void advanceAll() {
      plain.advance(now);
      fast.advance(now);
      fastWithTokens.advance(now);
    }

    private void compare() {
      assertThat(state(fast)).isEqualTo(expectedState());
      assertThat(state(fastWithTokens)).isEqualTo(expectedState());
    }

    private List<Object> expectedState() {
      return new ArrayList<>(
          List.of(
              plain.nextEventNanos(),
              plain.running(),
              plain.waiting(),
              plain.usedBlocks(),
              plain.promptTokens,
              plain.cachedTokens,
              plain.transferredTokens,
              plain.computedTokens,
              plain.outputTokens,
              plain.preemptions,
              plain.adapterLoads,
              plain.runningAdapters(),
              plain.waitingAdapters(),
              plain.published));
    }

    private static List<Object> state(Engine engine) {
      return List.of(
          engine.nextEventNanos(),
          engine.running(),
          engine.waiting(),
          engine.usedBlocks(),
          engine.promptTokens(),
          engine.cachedTokens(),
          engine.transferredTokens(),
          engine.computedTokens(),
          engine.outputTokens(),
          engine.preemptions(),
          engine.adapterLoads(),
          engine.runningAdapters(),
          engine.scheduler().slots.names(adapter -> adapter.waiting),
          engine.published());
    }
  }
}
