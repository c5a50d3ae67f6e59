package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.SchedulerConfig;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a request costs may be allocated, what an endpoint costs may not. */
class DecisionAllocationTest {

  private static final int ROUNDS = 2_000;

  private static final RequestListener NOBODY =
      new RequestListener() {
        @Override
        public void send(long request, Route route) {}

        @Override
        public void pass(long request) {}

        @Override
        public void reject(long request, Rejection rejection) {}
      };

  /** Each request names its endpoints anew, as gateways do. */
  @Test
  void aSubsetOfManyEndpointsAllocatesNoMoreThanOneOfFew() {
    long few = bytesPerDecision(20); // first: what is compiled later allocates less
    assertThat(bytesPerDecision(2_000)).isLessThanOrEqualTo(few + 256);
  }

  private static long bytesPerDecision(int endpoints) {
    PoolCore core = new PoolCore(PoolLimits.DEFAULT);
    core.endpoints(
        0,
        IntStream.range(0, endpoints)
            .mapToObj(
                i ->
                    new EndpointSpec(
                        "e" + i, "1", "10.0." + i / 256 + "." + i % 256, 8000, Map.of()))
            .toList());
    core.configure(
        0,
        new ConfigCompiler(List.of())
            .compile(Pool.config(SchedulerConfig.DEFAULT, Pool.model("m", Criticality.STANDARD))));
    RequestFacts[] requests = new RequestFacts[8];
    for (int i = 0; i < requests.length; i++) {
      List<String> allowed =
          IntStream.range(0, endpoints / 2)
              .mapToObj(e -> "10.0." + e / 256 + "." + e % 256 + ":8000")
              .toList();
      requests[i] = RequestFactsBuilder.of("m", i, i).subset(new Subset(allowed)).build();
    }
    run(core, requests);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    run(core, requests);
    return (threads.getCurrentThreadAllocatedBytes() - before) / ROUNDS;
  }

  private static void run(PoolCore core, RequestFacts[] requests) {
    for (int i = 0; i < ROUNDS; i++) {
      long ticket = core.arrive(i, requests[i % requests.length], NOBODY);
      core.ended(i, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
  }
}
