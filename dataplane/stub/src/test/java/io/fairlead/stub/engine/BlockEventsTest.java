package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who hears of blocks that come and go knows what the cache holds. */
class BlockEventsTest {

  private static final int IDENTITIES = 40;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void whatIsToldIsWhatIsThere(long seed) {
    Random random = new Random(seed);
    Holdings told = new Holdings();
    Engine engine =
        new Engine(new EngineProfile("small", 1, 0.01, 1e-6, 2, 0.01, 1e-5, 320, 8, 64, 8), told);
    long now = 0;
    int most = 0;
    for (long id = 0; id < 1_500; id++) {
      now += random.nextInt(20_000_000);
      int prompt = 1 + random.nextInt(120);
      int output = 1 + random.nextInt(60);
      long[] blocks = new long[random.nextInt((prompt + output) / 8 + 1)];
      long kind = random.nextInt(IDENTITIES);
      for (int i = 0; i < blocks.length; i++) {
        // Prompts of a kind share a beginning of chance.
        blocks[i] = (i < 4 ? kind % 5 : kind) * 1_000 + i + 1;
      }
      engine.submit(now, new EngineRequest(id, blocks, prompt, output));
      switch (random.nextInt(30)) {
        case 0 -> engine.cancel(now, id - random.nextInt(5));
        case 1 -> engine.resetCache(now);
        case 2 -> engine.restart(now);
        default -> engine.advance(now += random.nextInt(30_000_000));
      }
      assertSame(engine, told);
      most = Math.max(most, told.held.size());
    }
    assertThat(most).as("blocks held at a time").isGreaterThan(10);
    assertThat(told.removals).as("the cache is too small").isPositive();
  }

  private static void assertSame(Engine engine, Holdings told) {
    BlockPool pool = engine.scheduler().pool;
    for (long kind = 0; kind < IDENTITIES; kind++) {
      for (long i = 1; i <= 25; i++) {
        long identity = kind * 1_000 + i;
        assertThat(told.held.contains(identity))
            .isEqualTo(pool.lookup(identity) != BlockPool.ABSENT);
      }
    }
  }

  private static final class Holdings implements EngineListener {

    private final Set<Long> held = new HashSet<>();
    private int removals;

    @Override
    public boolean everyBlock() {
      return true;
    }

    @Override
    public void stored(EngineRequest request, int from, int to) {
      for (int i = from; i < to; i++) {
        assertThat(held.add(request.blocks()[i])).as("stored twice").isTrue();
      }
    }

    @Override
    public void removed(long identity) {
      assertThat(held.remove(identity)).as("removed, and not there").isTrue();
      removals++;
    }

    @Override
    public void cleared() {
      held.clear();
    }

    @Override
    public void firstToken(long id, int cachedTokens, long time) {}

    @Override
    public void finished(long id, long time) {}
  }
}
