package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EndpointMetricsTest {

  @Test
  void absurdCountsCanBeAddedUp() {
    EndpointMetrics absurd =
        new EndpointMetrics(Integer.MAX_VALUE, Integer.MAX_VALUE, 0.5, 16, 1_000);
    assertThat(absurd.waiting() + absurd.running()).isPositive();
    Pool pool = new Pool().configure().endpoints("a");
    pool.core.scraped(1, Pool.endpoint("a"), 1, absurd);
    assertThat(pool.snapshot("a").scrapedWaiting()).isPositive();
  }
}
