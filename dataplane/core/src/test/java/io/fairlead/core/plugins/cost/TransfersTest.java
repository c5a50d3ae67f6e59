package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.data.Percentage.withPercentage;

import io.fairlead.core.plugins.TestEndpoint;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

final class TransfersTest {

  private static final EngineClass ENGINE = EngineClass.builtIn(EngineClass.DEFAULT);

  private final Transfers transfers = new Transfers();
  private final TestEndpoint from = new TestEndpoint("from");
  private final TestEndpoint to = new TestEndpoint("to");

  @Test
  void isAssumedByTheModelAtFirst() {
    assertThat(transfers.millis(1_000, ENGINE, to, from)).isEqualTo(1_000 * ENGINE.transfer());
    assertThat(transfers.millis(1_000, ENGINE, to, null)).isEqualTo(1_000 * ENGINE.transfer());
  }

  /** First tokens tell the sum alone: prompts of which much is cached tell its parts apart. */
  @Test
  void isLearnedApartFromPrefillsThatAreSlowerThanBelieved() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 500; i++) {
      double prefill = 5 + 200 * random.nextDouble();
      double tokens = 500 + random.nextInt(8_000);
      double way = 3 * tokens * ENGINE.transfer();
      double noise = 0.9 + 0.2 * random.nextDouble();
      transfers.observe(prefill, tokens, ENGINE, to, from, (1.5 * prefill + way) * noise);
    }

    assertThat(transfers.millis(1_000, ENGINE, to, from))
        .isCloseTo(3_000 * ENGINE.transfer(), withPercentage(25));
  }
}
