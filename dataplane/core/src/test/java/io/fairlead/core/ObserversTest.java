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

  /** Which observer throws when it is told that a request is sent: "one", "other" or neither. */
  private String breaksAtSend = "";

  /** Sent and not over, as each observer counts. */
  private final IdentityHashMap<Endpoint, Integer> one = new IdentityHashMap<>();

  private final IdentityHashMap<Endpoint, Integer> other = new IdentityHashMap<>();

  ObserversTest() {
    configure();
    pool.endpoints("a", "b");
  }

  private void configure() {
    SchedulerConfig scheduler =
        Pool.atOnce(
            List.of(
                new PluginConfig("one", "witness", Map.of("as", "one")),
                new PluginConfig("other", "witness", Map.of("as", "other"))),
            List.of());
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

  /**
   * What is sent and what is over are the same number, at each endpoint and for each observer,
   * whatever happens. One that throws when it is told of a send was not told of it.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void everySendHasOneEnd(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    pool.endpoints("a", "b", "c", "d");
    List<Long> live = new ArrayList<>();
    int retries = 0;
    int brokenSends = 0;
    for (int i = 0; i < 5_000; i++) {
      long now = i * 1_000_000L;
      broken = random.nextInt(50) == 0;
      breaksAtSend = random.nextInt(20) == 0 ? random.nextBoolean() ? "one" : "other" : "";
      int rejected = pool.rejections.size();
      try {
        if (live.isEmpty() || random.nextInt(4) == 0) {
          live.add(pool.arrive("", random.nextInt(5), 6, 7));
        } else {
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
        }
        pool.core.tick(now);
      } catch (RuntimeException e) {
        assertThat(e instanceof PluginFailedException ? e.getCause() : e).hasMessage("broken");
        if (!breaksAtSend.isEmpty() && pool.rejections.size() > rejected) {
          brokenSends++;
        }
      }
      assertThat(List.of(one, other))
          .as("ends without a send")
          .allSatisfy(open -> assertThat(open.values()).allMatch(count -> count >= 0));
    }
    broken = false;
    breaksAtSend = "";
    live.forEach(ticket -> pool.core.ended(5_000_000_000L, ticket, Outcome.FAILED, Usage.UNKNOWN));

    assertThat(retries).isGreaterThan(500);
    assertThat(brokenSends).isGreaterThan(50);
    assertThat(pool.core.active()).isZero();
    assertThat(List.of(one, other))
        .allSatisfy(open -> assertThat(open.values()).isNotEmpty().allMatch(count -> count == 0));
  }

  @Test
  void theOneThatThrowsAtASendIsToldOfNoEnd() {
    breaksAtSend = "other";
    assertThat(catchThrowable(() -> pool.arrive(""))).hasMessage("broken");

    assertThat(told).hasSize(1).allMatch(end -> end.endsWith(" failed"));
    assertThat(one.values()).containsExactly(0);
    assertThat(other).isEmpty();
    assertThat(pool.rejections).extracting(Rejection::reason).containsExactly(Reason.PLUGIN_FAILED);
  }

  /** An end that was not told for that would be told with the next request's. */
  @Test
  void aFrontendThatThrowsWhenItIsToldKeepsNoEndFromTheObservers() {
    breaksAtSend = "other";
    RequestListener throwing =
        new RequestListener() {
          @Override
          public void send(long request, Route route) {}

          @Override
          public void pass(long request) {}

          @Override
          public void reject(long request, Rejection rejection) {
            throw new IllegalStateException("frontend");
          }
        };
    Throwable thrown = catchThrowable(() -> pool.core.arrive(0, Pool.request("", 1), throwing));
    assertThat(thrown).hasMessage("broken");
    assertThat(thrown.getSuppressed()).extracting(Throwable::getMessage).contains("frontend");
    assertThat(told).hasSize(1);

    breaksAtSend = "";
    pool.arrive("");
    assertThat(told).as("nothing has ended since").hasSize(1);
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
      String name = parameters.text("as", "");
      IdentityHashMap<Endpoint, Integer> counted = name.equals("one") ? one : other;
      return new Observer() {
        @Override
        public void joined(Endpoint endpoint) {
          joined.add(endpoint);
        }

        @Override
        public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
          if (breaksAtSend.equals(name)) {
            throw new IllegalStateException("broken");
          }
          counted.merge(endpoint, 1, Integer::sum);
        }

        @Override
        public void completed(Completion completion) {
          counted.merge(completion.endpoint(), -1, Integer::sum);
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
