package io.fairlead.core;

import static io.fairlead.core.Pool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What servers report of prompts' lengths is what is expected of the next ones. */
class LearnedTokensTest {

  private static final long[] BLOCKS = LongStream.range(0, 1_000).toArray();

  private final Pool pool = new Pool().configure().endpoints("a");

  /** A prompt of the model's whose server reports two bytes per token. */
  private void dense(String model) {
    long ticket = pool.arrive(model, BLOCKS);
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, new Usage(32_000, 1, 0));
  }

  private Route next(String model) {
    pool.core.ended(pool.now, pool.arrive(model, BLOCKS), Outcome.COMPLETED, Usage.UNKNOWN);
    return pool.lastRoute();
  }

  @Test
  void anExpectationOfTheNextPromptIsLearnedByModel() {
    assertThat(next("m").promptTokens()).isEqualTo(16_000);
    for (int i = 0; i < 300; i++) {
      dense("m");
    }
    assertThat(next("m").promptTokens()).isCloseTo(32_000, within(300));
    assertThat(next("other").promptTokens()).isEqualTo(16_000);
  }

  @Test
  void aMatchedBlockSparesAsManyTokensAsItStandsFor() {
    for (int i = 0; i < 300; i++) {
      dense("m");
    }
    pool.arrive("m", Arrays.copyOf(BLOCKS, 500));
    Route half = pool.lastRoute();
    assertThat(half.matchedBlocks()).isEqualTo(500);
    assertThat(half.expectedCachedTokens())
        .as("never the last token")
        .isEqualTo(half.promptTokens() - 1);
    long[] other = BLOCKS.clone();
    Arrays.fill(other, 500, 1_000, -1);
    pool.arrive("m", other);
    assertThat(pool.lastRoute().expectedCachedTokens()).isCloseTo(16_000, within(150));
  }

  @Test
  void aRequestInFlightKeepsTheTokensItWasSentWith() {
    long ticket = pool.arrive("m", BLOCKS);
    for (int i = 0; i < 300; i++) {
      dense("m");
    }
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.snapshot())
        .allMatch(s -> s.inFlight() == 0 && s.awaitingFirstToken() == 0);
  }

  @Test
  void aCacheOfSoManyTokensHoldsFewerBlocksWhereBlocksHaveMoreTokens() {
    EndpointMetrics cache = new EndpointMetrics(0, 0, 0, 16, 1_000);
    pool.core.scraped(pool.now, endpoint("a"), pool.now, cache);
    dense("m");
    assertThat(next("m").matchedBlocks()).isEqualTo(1_000);
    for (int i = 0; i < 300; i++) {
      dense("m");
    }
    pool.core.scraped(pool.now, endpoint("a"), pool.now, cache);
    assertThat(next("m").matchedBlocks()).isCloseTo(500, within(5));
  }

  @Test
  void aPromptOfAMillionTokensIsRememberedWhole() {
    long[] blocks = LongStream.range(0, 65_536).toArray();
    pool.serve("m", blocks);
    pool.arrive("m", blocks);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(65_536);

    pool.endpoints("b");
    pool.core.scraped(pool.now, endpoint("b"), pool.now, new EndpointMetrics(0, 0, 0, 16, 80_000));
    pool.serve("m", blocks);
    pool.arrive("m", blocks);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(65_536);
  }
}
