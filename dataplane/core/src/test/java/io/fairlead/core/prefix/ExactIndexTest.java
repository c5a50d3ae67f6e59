package io.fairlead.core.prefix;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.prefix.CacheEvent.Cleared;
import io.fairlead.core.prefix.CacheEvent.Removed;
import io.fairlead.core.prefix.CacheEvent.Stored;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExactIndexTest {

  private static final int GRAIN = 16;
  private static final int MANY = 1 << 20;

  private final ExactIndex index = new ExactIndex(1 << 24);

  @Test
  void aPromptIsFoundAsFarAsItsBlocksWereStored() {
    Engine engine = new Engine(0, 16);
    engine.store(tokens(1, 64), "");

    PromptTokens prompt = PromptTokens.of(tokens(1, 100), GRAIN);
    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isEqualTo(64);
  }

  @Test
  void theBlockOfAPromptsLastTokenIsComputedInAnyCase() {
    Engine engine = new Engine(0, 16);
    engine.store(tokens(1, 64), "");

    PromptTokens prompt = PromptTokens.of(tokens(1, 64), GRAIN);
    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isEqualTo(48);
  }

  @Test
  void anotherPromptIsNotFound() {
    new Engine(0, 16).store(tokens(1, 64), "");

    PromptTokens other = PromptTokens.of(tokens(2, 64), GRAIN);
    index.lookUp(0, other);

    assertThat(index.tokens(0, other)).isZero();
  }

  @Test
  void anAdaptersBlocksAreNotThoseOfItsBase() {
    new Engine(0, 16).store(tokens(1, 64), "french");
    PromptTokens prompt = PromptTokens.of(tokens(1, 65), GRAIN);

    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isZero();
    index.lookUp(TokenChain.salt("french"), prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(64);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16, 32, 64})
  void blocksOfAnySizeThatFitsAreFound(int blockTokens) {
    new Engine(0, blockTokens).store(tokens(1, 128), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 200), GRAIN);

    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isEqualTo(128);
  }

  @Test
  void blocksThatEndElsewhereAreCountedAndMatchNothing() {
    Engine engine = new Engine(0, 24);
    engine.store(tokens(1, 240), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 200), GRAIN);

    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isZero();
    assertThat(index.blocks(0)).isEqualTo(10);
  }

  @Test
  void enginesOfTwoBlockSizesAreFoundEachByItsOwn() {
    new Engine(0, 16).store(tokens(1, 96), "");
    new Engine(1, 64).store(tokens(1, 64), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 200), GRAIN);

    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isEqualTo(96);
    assertThat(index.tokens(1, prompt)).isEqualTo(64);
  }

  @Test
  void aBlockWhoseParentNobodyToldIsCountedAndMatchesNothing() {
    EngineCache cache = new EngineCache(GRAIN, MANY);
    CacheChange change = new CacheChange();
    cache.apply(new Stored(new long[] {7}, true, 6, tokens(1, 16), 16, "", false), change);
    // Told again, now that its beginning is known: it counts from here on.
    cache.apply(new Stored(new long[] {6}, false, 0, tokens(0, 16), 16, "", false), change);
    index.change(0, GRAIN, change);
    int[] both =
        IntStream.concat(Arrays.stream(tokens(0, 16)), Arrays.stream(tokens(1, 17))).toArray();
    PromptTokens prompt = PromptTokens.of(both, GRAIN);

    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(16);
    assertThat(index.blocks(0)).isEqualTo(2);

    CacheChange again = new CacheChange();
    cache.apply(new Stored(new long[] {7}, true, 6, tokens(1, 16), 16, "", false), again);
    index.change(0, GRAIN, again);
    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(32);
  }

  @Test
  void whatAnImageIsInMatchesNoPromptNorDoesWhatFollows() {
    EngineCache cache = new EngineCache(GRAIN, MANY);
    CacheChange change = new CacheChange();
    cache.apply(new Stored(new long[] {1}, false, 0, tokens(1, 16), 16, "", true), change);
    cache.apply(new Stored(new long[] {2}, true, 1, tokens(2, 16), 16, "", false), change);
    index.change(0, GRAIN, change);
    PromptTokens prompt = PromptTokens.of(tokens(1, 64), GRAIN);

    index.lookUp(0, prompt);

    assertThat(index.tokens(0, prompt)).isZero();
    assertThat(index.blocks(0)).isEqualTo(2);
  }

  @Test
  void whatWasSentIsThereUntilTheRequestIsOverAndThenOnlyIfTheEngineSaysSo() {
    Engine engine = new Engine(0, 16);
    engine.store(tokens(1, 32), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 101), GRAIN);
    index.lookUp(0, prompt);

    index.expect(0, 0, prompt, index.held(0));
    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(96);

    engine.store(tokens(1, 64), "");
    index.expectNoMore(0, 0, prompt, 2);
    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(64);
  }

  @Test
  void whatIsExpectedOfLongBlocksIsFoundToo() {
    new Engine(0, 64).store(tokens(1, 64), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 200), GRAIN);
    index.lookUp(0, prompt);

    index.expect(0, 0, prompt, index.held(0));
    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(192);

    index.expectNoMore(0, 0, prompt, 4);
    index.lookUp(0, prompt);
    assertThat(index.tokens(0, prompt)).isEqualTo(64);
  }

  @Test
  void anEngineForWhichThereIsNoRoomIsNotKnownUntilItTellsAllFromTheBeginning() {
    ExactIndex small = new ExactIndex(1_000);
    EngineCache cache = new EngineCache(GRAIN, MANY);
    CacheChange much = new CacheChange();
    cache.apply(stored(tokens(1, 16_000), 16, ""), much);

    assertThat(small.change(3, GRAIN, much)).isFalse();
    assertThat(small.knows(3)).isFalse();

    CacheChange more = new CacheChange();
    cache.apply(stored(tokens(2, 16), 16, ""), more);
    assertThat(small.change(3, GRAIN, more)).isFalse();
    assertThat(small.knows(3)).isFalse();

    CacheChange anew = new CacheChange();
    cache.apply(new Cleared(), anew);
    cache.apply(stored(tokens(2, 16), 16, ""), anew);
    assertThat(small.change(3, GRAIN, anew.whole(true))).isTrue();
    assertThat(small.knowsAll(3)).isTrue();
    assertThat(small.bytes()).isLessThan(1_000);
  }

  @Test
  void nothingIsLeftOfThoseWhoAreGone() {
    for (int round = 0; round < 200; round++) {
      for (int slot = 0; slot < 20; slot++) {
        new Engine(slot, 16).store(tokens(round % 7, 160), "");
        index.forget(slot);
      }
    }

    assertThat(index.knowsAny()).isFalse();
    new Engine(0, 16).store(tokens(9, 16), "");
    new Engine(1, 16).store(tokens(9, 16), "");
    // Nine blocks or so of each that went last may wait for being swept, and no more.
    assertThat(index.bytes()).isLessThan(50_000);
  }

  /** As when KV events are switched off: nothing comes any more that would have it swept. */
  @Test
  void nothingIsKeptOnceNobodyIsKnown() {
    Engine[] engines =
        IntStream.range(0, 9).mapToObj(i -> new Engine(i, 16)).toArray(Engine[]::new);
    for (Engine engine : engines) {
      engine.store(tokens(engine.slot % 4, 1_600), "");
    }
    assertThat(index.bytes()).isPositive();

    for (Engine engine : engines) {
      index.change(engine.slot, GRAIN, CacheChange.ofLoss());
    }

    assertThat(index.knowsAny()).isFalse();
    assertThat(index.bytes()).isZero();
    new Engine(3, 16).store(tokens(1, 64), "");
    PromptTokens prompt = PromptTokens.of(tokens(1, 100), GRAIN);
    index.lookUp(0, prompt);
    assertThat(index.tokens(3, prompt)).isEqualTo(64);
  }

  /** Whoever comes when there is no more room does not wait until all of it is cleared up. */
  @Test
  void atItsLimitItIsClearedUpPieceByPiece() {
    int limit = 400_000;
    ExactIndex small = new ExactIndex(limit);
    EngineCache stays = new EngineCache(GRAIN, MANY);
    EngineCache goes = new EngineCache(GRAIN, MANY);
    for (int kind = 0; kind < 130; kind++) {
      assertThat(store(small, 1, stays, kind, 100)).isTrue();
    }
    for (int kind = 130; kind < 160; kind++) {
      assertThat(store(small, 0, goes, kind, 100)).isTrue();
    }
    small.forget(0);

    for (int kind = 200; kind < 210; kind++) {
      assertThat(store(small, 1, stays, kind, 100)).isTrue();
    }
    assertThat(small.bytes()).as("it is cleared up later").isGreaterThan(limit);

    for (int kind = 300; kind < 330; kind++) {
      assertThat(store(small, 1, stays, kind, 1)).isTrue();
      assertThat(small.bytes()).isLessThan(limit + limit / 4);
    }
    assertThat(small.bytes()).isLessThan(limit);
    PromptTokens prompt = PromptTokens.of(tokens(205, 1_601), GRAIN);
    small.lookUp(0, prompt);
    assertThat(small.tokens(1, prompt)).isEqualTo(1_600);
  }

  @Test
  void whatIsClearedUpGoesAlsoWhereNothingIsTold() {
    new Engine(0, 16).store(tokens(1, 1_600), "");
    new Engine(1, 16).store(tokens(2, 16), "");
    long whole = index.bytes();
    index.forget(0);
    assertThat(index.bytes()).isEqualTo(whole);

    index.tick();

    assertThat(index.bytes()).isLessThan(whole / 50);
  }

  /** A long change in pieces leads to what it leads to as a whole. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void aChangeInPiecesIsTheSameChange(long seed) {
    Random random = new Random(seed);
    ExactIndex inPieces = new ExactIndex(1 << 24);
    EngineCache cache = new EngineCache(GRAIN, MANY);
    for (int step = 0; step < 100; step++) {
      CacheChange change = new CacheChange();
      for (int event = random.nextInt(6); event >= 0; event--) {
        int kind = random.nextInt(8);
        switch (random.nextInt(12)) {
          case 0 -> cache.apply(new Cleared(), change);
          case 1, 2, 3 ->
              cache.apply(
                  new Removed(stored(tokens(kind, 16 * random.nextInt(40)), 16, "").blocks()),
                  change);
          default -> cache.apply(stored(tokens(kind, 16 * random.nextInt(40)), 16, ""), change);
        }
      }
      change.whole(random.nextBoolean());
      index.change(0, GRAIN, change);
      List<CacheChange> pieces = change.pieces(1 + random.nextInt(9));
      assertThat(pieces.stream().mapToLong(CacheChange::storedTokens).sum())
          .isEqualTo(change.storedTokens());
      assertThat(pieces.getFirst().isEmptied()).isEqualTo(change.isEmptied());
      pieces.forEach(piece -> inPieces.change(0, GRAIN, piece));
      assertThat(inPieces.knowsAll(0)).isEqualTo(index.knowsAll(0));
      assertThat(inPieces.blocks(0)).isEqualTo(index.blocks(0));
      for (int kind = 0; kind < 8; kind++) {
        PromptTokens prompt = PromptTokens.of(tokens(kind, 700), GRAIN);
        index.lookUp(0, prompt);
        inPieces.lookUp(0, prompt);
        assertThat(inPieces.tokens(0, prompt)).isEqualTo(index.tokens(0, prompt));
      }
    }
  }

  private static boolean store(ExactIndex into, int slot, EngineCache cache, int kind, int blocks) {
    CacheChange change = new CacheChange();
    assertThat(cache.apply(stored(tokens(kind, 16 * blocks), 16, ""), change)).isTrue();
    return into.change(slot, GRAIN, change.whole(true));
  }

  @Test
  void anEngineWithMoreBlocksThanAreKeptSaysSo() {
    EngineCache cache = new EngineCache(GRAIN, 10);

    assertThat(cache.apply(stored(tokens(1, 160), 16, ""), new CacheChange())).isTrue();
    assertThat(cache.apply(stored(tokens(2, 16), 16, ""), new CacheChange())).isFalse();
  }

  /**
   * Engines store, share, drop, clear and restart by chance; after each step, every prompt's length
   * at every engine is what a plain list of what they hold says.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void itKnowsWhatEnginesHoldWhateverTheyDo(long seed) {
    Random random = new Random(seed);
    int slots = 1 + random.nextInt(90);
    int blockTokens = List.of(16, 16, 32, 4).get(random.nextInt(4));
    Engine[] engines =
        IntStream.range(0, slots).mapToObj(i -> new Engine(i, blockTokens)).toArray(Engine[]::new);
    List<int[]> prompts = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      int[] begun = prompts.isEmpty() ? new int[0] : prompts.get(random.nextInt(prompts.size()));
      int[] common = Arrays.copyOf(begun, random.nextInt(begun.length + 1));
      int more = 1 + random.nextInt(120);
      prompts.add(IntStream.concat(Arrays.stream(common), random.ints(more, 0, 9)).toArray());
    }
    for (int step = 0; step < 1_500; step++) {
      Engine engine = engines[random.nextInt(slots)];
      int[] prompt = prompts.get(random.nextInt(prompts.size()));
      switch (random.nextInt(20)) {
        case 0 -> engine.tell(new Cleared());
        case 1 -> engine.leave();
        case 2, 3, 4, 5, 6, 7 -> engine.dropSome(random);
        default -> engine.store(Arrays.copyOf(prompt, random.nextInt(prompt.length + 1)), "");
      }
      if (step % 10 == 0) {
        PromptTokens looked = PromptTokens.of(prompt, GRAIN);
        index.lookUp(0, looked);
        for (Engine each : engines) {
          assertThat(index.knows(each.slot)).isEqualTo(each.told);
          if (each.told) {
            assertThat(index.tokens(each.slot, looked)).isEqualTo(each.cached(prompt));
            assertThat(index.blocks(each.slot)).isEqualTo(each.cache.size());
          }
        }
      }
    }
  }

  private static int[] tokens(int kind, int count) {
    return IntStream.range(0, count).map(i -> kind * 1_000_003 + i * 31).toArray();
  }

  private static Stored stored(int[] tokens, int blockTokens, String adapter) {
    int count = tokens.length / blockTokens;
    long[] hashes = new long[count];
    for (int i = 0; i < count; i++) {
      hashes[i] = hash(tokens, (i + 1) * blockTokens, adapter);
    }
    return new Stored(
        hashes, false, 0, Arrays.copyOf(tokens, count * blockTokens), blockTokens, adapter, false);
  }

  /** As an engine might name a block. */
  private static long hash(int[] tokens, int end, String adapter) {
    long hash = adapter.hashCode();
    for (int i = 0; i < end; i++) {
      hash = hash * 1_000_003 + tokens[i];
    }
    return hash * 0x5851F42D4C957F2DL;
  }

  /** An engine and what it holds, as plainly as can be. */
  private final class Engine {

    private final int slot;
    private final int blockTokens;
    private EngineCache cache = new EngineCache(GRAIN, MANY);
    private final Map<Long, Integer> held = new HashMap<>();
    private boolean told;

    Engine(int slot, int blockTokens) {
      this.slot = slot;
      this.blockTokens = blockTokens;
    }

    /** A prompt's blocks, told as those that follow what is there already. */
    void store(int[] tokens, String adapter) {
      Stored all = stored(tokens, blockTokens, adapter);
      int there = 0;
      while (there < all.blocks().length && held.containsKey(all.blocks()[there])) {
        there++;
      }
      for (int i = there; i < all.blocks().length; i++) {
        held.put(all.blocks()[i], i);
      }
      if (there < all.blocks().length || all.blocks().length == 0) {
        tell(
            new Stored(
                Arrays.copyOfRange(all.blocks(), there, all.blocks().length),
                there > 0,
                there > 0 ? all.blocks()[there - 1] : 0,
                Arrays.copyOfRange(all.tokens(), there * blockTokens, all.tokens().length),
                blockTokens,
                adapter,
                false));
      }
    }

    /** Any blocks, of any place. */
    void dropSome(Random random) {
      List<Long> all = new ArrayList<>(held.keySet());
      long[] some =
          random
              .ints(Math.min(all.size(), 1 + random.nextInt(6)), 0, Math.max(1, all.size()))
              .distinct()
              .mapToLong(all::get)
              .toArray();
      for (long each : some) {
        held.remove(each);
      }
      tell(new Removed(some));
    }

    void tell(CacheEvent event) {
      if (event instanceof Cleared) {
        held.clear();
      }
      CacheChange change = new CacheChange();
      assertThat(cache.apply(event, change)).isTrue();
      assertThat(index.change(slot, GRAIN, change.whole(true))).isTrue();
      told = true;
    }

    void leave() {
      index.forget(slot);
      cache = new EngineCache(GRAIN, MANY);
      held.clear();
      told = false;
    }

    /** Of blocks shorter than the grain only the last of each grain is looked at. */
    int cached(int[] tokens) {
      int step = Math.max(GRAIN, blockTokens);
      int all = 0;
      while (all + step <= tokens.length && held.containsKey(hash(tokens, all + step, ""))) {
        all += step;
      }
      int most = Math.max(0, tokens.length - 1);
      return Math.min(all, most - most % blockTokens);
    }
  }
}
