package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Each observer is told once of each request that was sent, with what is true of it. */
class ObserversTest {

  private final Pool pool = new Pool();
  private final List<String> told = new ArrayList<>();
  private final List<Endpoint> joined = new ArrayList<>();
  private boolean broken;

  ObserversTest() {
    configure();
    pool.endpoints("a", "b");
  }

  private void configure() {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("one", "witness", Map.of()),
                new PluginConfig("other", "witness", Map.of())),
            List.of(),
            null);
    pool.core.configure(
        0, new ConfigCompiler(List.of(new Factory())).compile(Pool.config(scheduler)));
  }

  @Test
  void aRequestThatIsGivenUpIsToldOnce() {
    long ticket = pool.arrive("", 1, 2);
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    assertThat(told).as("it may succeed yet").isEmpty();
    pool.core.attemptFailed(0, ticket, Failure.DIED);

    String last = pool.lastRoute().endpoint();
    assertThat(told).containsExactly(last + " failed", last + " failed");
    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.UPSTREAM_FAILED);
  }

  @Test
  void aRequestThatSucceedsAtTheSecondAttemptIsToldOnce() {
    long ticket = pool.arrive("");
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);

    String last = pool.lastRoute().endpoint();
    assertThat(told).containsExactly(last + " succeeded", last + " succeeded");
  }

  @Test
  void aRequestThatWasSentNowhereIsNotTold() {
    pool.endpoints();
    pool.arrive("");
    assertThat(told).isEmpty();
  }

  /** Whoever knows endpoints by name must not be left with the one that is on its way out. */
  @Test
  void ofTwoOfOneNameTheOneThatMayGetRequestsIsToldLast() {
    pool.endpoints("a");
    pool.arrive("");
    pool.core.endpoints(0, List.of(Pool.endpoint("a", "2"), Pool.endpoint("b")));
    joined.clear();

    configure();

    assertThat(pool.core.snapshot()).extracting(EndpointSnapshot::leaving).contains(true);
    assertThat(joined.getLast().inFlight() + joined.get(1).inFlight()).isZero();
    assertThat(joined.getFirst().name()).isEqualTo("a");
    assertThat(joined.getFirst().inFlight()).isOne();
  }

  @Test
  void allAreToldAlthoughEachThrows() {
    broken = true;
    long ticket = pool.arrive("");
    assertThat(
            catchThrowable(() -> pool.core.ended(0, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN)))
        .hasMessage("broken");

    assertThat(told).hasSize(2);
    assertThat(pool.core.active()).isZero();
    assertThat(pool.core.snapshot()).allMatch(s -> s.inFlight() == 0);
  }

  private final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "witness";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new Observer() {
        @Override
        public void joined(Endpoint endpoint) {
          joined.add(endpoint);
        }

        @Override
        public void completed(Completion completion) {
          told.add(
              completion.endpoint().name() + (completion.succeeded() ? " succeeded" : " failed"));
          if (broken) {
            throw new IllegalStateException("broken");
          }
        }
      };
    }
  }
}
