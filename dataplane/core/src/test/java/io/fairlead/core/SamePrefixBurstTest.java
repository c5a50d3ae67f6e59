package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A thousand requests that share most of their prompt come to eight idle servers at once. */
class SamePrefixBurstTest {

  private static final long SECOND = 1_000_000_000;
  private static final int REQUESTS = 1_000;
  private static final int SERVERS = 8;

  @ParameterizedTest
  @CsvSource({"true,1", "true,2", "true,3", "false,1", "false,2", "false,3"})
  void noneGetsMuchMoreThanTheOthers(boolean wait, long seed) {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(), List.of(), null, Map.of("flowControl", wait), null, null, List.of());
    VirtualPool pool = new VirtualPool(seed, SERVERS, scheduler, Criticality.STANDARD);
    pool.groups = 1;
    pool.runUntil(2 * SECOND);
    for (int i = 0; i < REQUESTS; i++) {
      pool.arrive();
    }
    pool.runUntil(60 * SECOND);
    assertThat(pool.completed).isEqualTo(REQUESTS);
    int most = pool.servers.stream().mapToInt(server -> server.sent).max().orElseThrow();
    System.out.printf(
        "most requests of a server over the mean: %.2f; %d waited%n",
        (double) most * SERVERS / REQUESTS, pool.waited);
    assertThat(most).isLessThanOrEqualTo(REQUESTS * 13 / 10 / SERVERS);
  }
}
