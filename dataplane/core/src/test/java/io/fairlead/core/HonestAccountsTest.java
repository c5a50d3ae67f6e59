package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the accounts hold after things that are easily taken for others. */
class HonestAccountsTest {

  private static final long SECOND = 1_000_000_000;

  private final Pool pool = new Pool();

  private void start(String... endpoints) {
    pool.core.configure(
        pool.now,
        new ConfigCompiler(List.of())
            .compile(Pool.config(SchedulerConfig.DEFAULT, Pool.model("m", Criticality.STANDARD))));
    pool.endpoints(endpoints);
  }

  private static EndpointMetrics page(double startedAt, double progress) {
    return new EndpointMetrics(
        0, 0, 0, 16, 1_000, "", -1, List.of(), List.of(), Map.of(), startedAt, progress);
  }

  private void scrape(EndpointMetrics metrics) {
    pool.now += SECOND;
    pool.core.scraped(pool.now, Pool.endpoint("a"), pool.now, metrics);
  }

  @Test
  void anErrorThatIsPassedOnIsNoFirstTokenAndComputedNoPrompt() {
    start("a");
    long ticket = pool.arrive("m", 1, 2, 3);
    pool.now += SECOND;
    pool.core.attemptFailed(pool.now, ticket, Failure.ERROR);
    assertThat(pool.effects.getLast()).isEqualTo(ticket + " passed");
    pool.core.ended(pool.now, ticket, Outcome.FAILED, Usage.UNKNOWN);
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).isZero();
  }

  @Test
  void aRestartIsSeenHoweverLongTheServerSaidNothing() {
    start("a");
    scrape(page(100, 50));
    pool.serve("m", 1, 2, 3);
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(3);
    scrape(EndpointMetrics.UNKNOWN);
    scrape(page(100, 60));
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).as("the same process").isEqualTo(3);
    scrape(EndpointMetrics.UNKNOWN);
    scrape(page(200, 5));
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).as("another one").isZero();
  }

  /** Two workers behind one port, or servers behind a balancer. */
  @ParameterizedTest
  @ValueSource(doubles = {400, 100.2, 99.8, 50})
  void pagesOfTwoProcessesInTurnAreNoRestarts(double other) {
    start("a");
    for (int i = 0; i < 3; i++) {
      scrape(page(100, 50 + i));
      scrape(page(other, 20 + i));
    }
    pool.serve("m", 1, 2, 3);
    for (int i = 3; i < 6; i++) {
      scrape(page(100, 50 + i));
      scrape(page(other, 20 + i));
    }
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(3);
    scrape(page(500, 0));
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).as("one that began later").isZero();
  }
}
