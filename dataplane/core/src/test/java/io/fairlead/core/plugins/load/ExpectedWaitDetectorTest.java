package io.fairlead.core.plugins.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.plugins.TestCompletion;
import io.fairlead.core.plugins.TestEndpoint;
import org.junit.jupiter.api.Test;

class ExpectedWaitDetectorTest {

  private final ExpectedWaitDetector detector = new ExpectedWaitDetector(30, 5, 0.95, true);
  private final TestEndpoint endpoint = new TestEndpoint("a");

  private void answered(int tokens, int times) {
    for (int i = 0; i < times; i++) {
      detector.completed(new TestCompletion(endpoint, 1, tokens, 0, 0, -1, -1, 0));
    }
  }

  @Test
  void aQueueThatTheServerTellsOfFillsIt() {
    endpoint.waiting = 5;
    assertThat(detector.saturation(endpoint)).isEqualTo(1);
    endpoint.adapterSlots = 4;
    assertThat(detector.saturation(endpoint)).as("whatever it waits for").isEqualTo(1);
  }

  /** Five that wait for the turn of their adapter leave a batch with room for a hundred others. */
  @Test
  void aQueueForTheTurnsOfAdaptersDoesNotFillIt() {
    endpoint.waiting = 5;
    endpoint.adapterSlots = 2;
    endpoint.runningAdapters.add("a");
    endpoint.waitingAdapters.add("b");
    endpoint.waitingAdapters.add("c");
    assertThat(detector.saturation(endpoint)).isZero();
    endpoint.waitingAdapters.remove("c");
    assertThat(detector.saturation(endpoint)).as("all of these have a slot").isEqualTo(1);
  }

  /** They were sent, and their first tokens do not come before another adapter falls idle. */
  @Test
  void aLineForTheTurnsOfAdaptersDoesNotFillIt() {
    endpoint.awaiting = 2;
    endpoint.expectedWait = 30_000_000;
    assertThat(detector.saturation(endpoint)).isEqualTo(1);
    endpoint.adapterSlots = 1;
    endpoint.runningAdapters.add("a");
    assertThat(detector.saturation(endpoint)).as("that one has a slot").isEqualTo(1);
    endpoint.waitingAdapters.add("b");
    assertThat(detector.saturation(endpoint)).isZero();
  }

  @Test
  void aCacheThatIsFullFillsIt() {
    endpoint.kvUsage = 0.95;
    assertThat(detector.saturation(endpoint)).isEqualTo(1);
    endpoint.kvUsage = 0.4;
    endpoint.inFlight = 1_000;
    endpoint.tokens = 1_000_000;
    endpoint.kvTokens = 100_000;
    assertThat(detector.saturation(endpoint)).as("less than half").isLessThan(0.5);
    endpoint.kvUsage = Double.NaN;
    assertThat(detector.saturation(endpoint)).as("it doesn't tell").isGreaterThan(10);
  }

  @Test
  void theLastSeatsInItsBatchFillIt() {
    endpoint.inFlight = 200;
    endpoint.foreign = 56;
    assertThat(detector.saturation(endpoint)).as("nothing is known of seats").isZero();
    endpoint.seats = 256;
    assertThat(detector.saturation(endpoint)).isEqualTo(1);
    endpoint.foreign = 40;
    assertThat(detector.saturation(endpoint)).isCloseTo(0.667, within(0.001));
    endpoint.foreign = 66;
    assertThat(detector.saturation(endpoint)).isGreaterThan(1);
    endpoint.inFlight = 100;
    assertThat(detector.saturation(endpoint)).isZero();
  }

  /** A hundred of a thousand tokens, half of which are one prefix, in a cache of 250,000. */
  @Test
  void answersThatWillGrowFillItBeforeTheyHave() {
    endpoint.inFlight = 100;
    endpoint.tokens = 100_000;
    endpoint.repeated = 50_000;
    endpoint.kvTokens = 250_000;
    endpoint.kvUsage = 0.5;
    answered(100, 200);
    assertThat(detector.saturation(endpoint)).isLessThan(0.6);
    // Of equal answers half is there in the mean: 55,000 of 110 that are 1,000 long.
    answered(1_000, 3_000);
    assertThat(detector.saturation(endpoint)).isCloseTo(105.0 / 250 / 0.95, within(0.15));
    answered(4_000, 3_000);
    assertThat(detector.saturation(endpoint)).isGreaterThan(1);
  }
}
