package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each observer is told of each end of what was sent, with what is true of it. */
class ObserversTest {

  private final Pool pool = new Pool();
  private final List<String> told = new ArrayList<>();
  private final List<Endpoint> joined = new ArrayList<>();
  private boolean broken;

  /** Sent and not over, counted by both observers. */
  private final IdentityHashMap<Endpoint, Integer> open = new IdentityHashMap<>();

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
  void eachAttemptOfARequestThatIsGivenUpIsToldOnce() {
    long ticket = pool.arrive("", 1, 2);
    String first = pool.lastRoute().endpoint();
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    assertThat(told).containsExactly(first + " failed", first + " failed");
    told.clear();
    pool.core.attemptFailed(0, ticket, Failure.DIED);

    String last = pool.lastRoute().endpoint();
    assertThat(last).isNotEqualTo(first);
    assertThat(told).containsExactly(last + " failed", last + " failed");
    assertThat(pool.rejections).extracting(Rejection::reason).containsOnly(Reason.UPSTREAM_FAILED);
  }

  @Test
  void aRequestThatSucceedsAtTheSecondAttemptHasFailedAtTheFirst() {
    long ticket = pool.arrive("");
    String first = pool.lastRoute().endpoint();
    pool.core.attemptFailed(0, ticket, Failure.DIED);
    pool.core.ended(0, ticket, Outcome.COMPLETED, Usage.UNKNOWN);

    String last = pool.lastRoute().endpoint();
    assertThat(told)
        .containsExactly(
            first + " failed", first + " failed", last + " succeeded", last + " succeeded");
  }

  /** What is sent and what is over are the same number, at each endpoint, whatever happens. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void everySendHasOneEnd(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    pool.endpoints("a", "b", "c", "d");
    List<Long> live = new ArrayList<>();
    int retries = 0;
    for (int i = 0; i < 5_000; i++) {
      long now = i * 1_000_000L;
      if (live.isEmpty() || random.nextInt(4) == 0) {
        live.add(pool.arrive("", random.nextInt(5), 6, 7));
        continue;
      }
      long ticket = live.get(random.nextInt(live.size()));
      switch (random.nextInt(6)) {
        case 0 -> pool.core.firstByte(now, ticket);
        case 1 -> pool.core.ended(now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
        case 2 -> pool.core.ended(now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
        case 3, 4 -> {
          retries++;
          pool.core.attemptFailed(
              now, ticket, random.nextBoolean() ? Failure.REFUSED : Failure.ERROR);
        }
        default ->
            pool.core.endpoints(
                now, List.of(Pool.endpoint("a", "" + random.nextInt(3)), Pool.endpoint("b")));
      }
      broken = random.nextInt(50) == 0;
      try {
        pool.core.tick(now);
      } catch (RuntimeException e) {
        assertThat(e).rootCause().hasMessage("broken");
      }
      broken = false;
      assertThat(open.values()).as("ends without a send").allMatch(count -> count >= 0);
    }
    live.forEach(ticket -> pool.core.ended(5_000_000_000L, ticket, Outcome.FAILED, Usage.UNKNOWN));

    assertThat(retries).isGreaterThan(500);
    assertThat(pool.core.active()).isZero();
    assertThat(open.values()).isNotEmpty().allMatch(count -> count == 0);
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
        public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
          open.merge(endpoint, 1, Integer::sum);
        }

        @Override
        public void completed(Completion completion) {
          open.merge(completion.endpoint(), -1, Integer::sum);
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
