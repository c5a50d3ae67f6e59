package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.epp.PlainPool;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The endpoints' series of a pool's own accounts. */
class EndpointLinesTest {

  private static final RequestListener NOBODY =
      new RequestListener() {
        @Override
        public void send(long request, Route route) {}

        @Override
        public void pass(long request) {}

        @Override
        public void reject(long request, Rejection rejection) {}
      };

  private final PoolCore core = new PoolCore();

  private static EndpointSpec pod(String incarnation) {
    return new EndpointSpec("e", incarnation, "10.0.0.1", 8000, Map.of());
  }

  private void arrive() {
    core.arrive(0, new RequestFacts("m", 1, new long[] {1, 2}, 100, 10, 400), NOBODY);
  }

  @Test
  void aPodInThePlaceOfOneThatStillHasRequestsHasNoSeriesTwice() {
    core.configure(0, new ConfigCompiler(List.of()).compile(PlainPool.config()));
    core.endpoints(0, List.of(pod("1")));
    core.scraped(0, pod("1"), 0, new EndpointMetrics(2, 2, .5, -1, -1));
    arrive();
    arrive();
    core.endpoints(1, List.of(pod("2")));
    core.scraped(2, pod("2"), 2, new EndpointMetrics(1, 1, .25, -1, -1));
    arrive();
    assertThat(core.snapshot()).as("the one that has left, too").hasSize(2);

    StringBuilder page = new StringBuilder();
    EndpointLines.append(page, core.snapshot(), 2);

    Stream<String> series =
        page.toString()
            .lines()
            .filter(line -> !line.startsWith("#"))
            .map(line -> line.substring(0, line.lastIndexOf(' ')));
    assertThat(series).isNotEmpty().doesNotHaveDuplicates();
    assertThat(page.toString().lines())
        .contains(
            "fairlead_endpoint_in_flight{endpoint=\"e\"} 3",
            "fairlead_endpoint_awaiting_first_token{endpoint=\"e\"} 3",
            "fairlead_endpoint_sent_total{endpoint=\"e\"} 1",
            "fairlead_endpoint_queue{endpoint=\"e\"} 1",
            "fairlead_endpoint_kv_usage{endpoint=\"e\"} 0.250000");
  }
}
