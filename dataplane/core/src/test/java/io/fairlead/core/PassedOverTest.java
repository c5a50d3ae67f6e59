package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.receipt.FailedAttempt;
import io.fairlead.core.receipt.KeptRequest;
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
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A proxy goes on to another endpoint than it was told, and shows that one's answer. */
class PassedOverTest {

  private static final long MILLI = 1_000_000;

  private final Pool pool = new Pool(Pool.PROBES_ARE_NOT_ANSWERED);

  PassedOverTest() {
    pool.configure(
        Pool.atOnce(List.of(new PluginConfig("cost", "work-cost", Map.of())), List.of()));
    endpoints(2);
  }

  private void endpoints(int count) {
    pool.core.endpoints(pool.now, IntStream.range(0, count).mapToObj(this::spec).toList());
  }

  private EndpointSpec spec(int number) {
    return new EndpointSpec("e" + number, "1", "10.0.0.1", 8000 + number, Map.of());
  }

  private String destination(String endpoint) {
    return "10.0.0.1:" + (8000 + Integer.parseInt(endpoint.substring(1)));
  }

  private String other(Route route) {
    return route.endpoint().equals("e0") ? "e1" : "e0";
  }

  @Test
  void theRequestCountsWhereItIsAnswered() {
    long ticket = pool.arrive("m", 1, 2, 3);
    Route first = pool.lastRoute();
    String other = other(first);
    pool.core.answeredBy(pool.now, ticket, destination(other));

    assertThat(pool.lastRoute().endpoint()).isEqualTo(other);
    assertThat(pool.lastRoute().attempt()).isEqualTo(2);
    assertThat(pool.snapshot(first.endpoint()).inFlight()).isZero();
    assertThat(pool.snapshot(other).inFlight()).isEqualTo(1);

    pool.now += MILLI;
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, new Usage(48, 2, 0, 2));
    assertThat(pool.core.active()).isZero();
    assertThat(pool.snapshot(other).inFlight()).isZero();
    pool.arrive("m", 1, 2, 3, 4);
    assertThat(pool.lastRoute().endpoint()).as("its prompt is cached there").isEqualTo(other);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(3);
  }

  @Test
  void itsReceiptTellsOfBoth() {
    long ticket = pool.arrive("m", 1, 2, 3);
    String other = other(pool.lastRoute());
    pool.core.answeredBy(pool.now, ticket, destination(other));
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);

    KeptRequest receipt = Objects.requireNonNull(pool.core.receipts().find("request-" + ticket));
    assertThat(receipt.failed(0)).isEqualTo(new FailedAttempt(Failure.PASSED_OVER, pool.now));
    assertThat(receipt.failed(1)).isNull();
    assertThat(receipt.request().endpoint()).isEqualTo(other);
    assertThat(receipt.request().outcome()).isEqualTo(Outcome.COMPLETED.code());
  }

  /** Whatever proxies have against it, it is hardly named first any more. */
  @Test
  void whoIsPassedOverAgainAndAgainIsSpared() {
    int named = 0;
    for (int i = 0; i < 400; i++) {
      pool.now += 50 * MILLI;
      pool.core.tick(pool.now);
      long ticket = pool.arrive("m");
      if (pool.lastRoute().endpoint().equals("e0")) {
        named++;
        pool.core.answeredBy(pool.now, ticket, destination("e1"));
      }
      pool.core.firstByte(pool.now, ticket);
      pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    assertThat(named).isBetween(1, 20);
    assertThat(pool.snapshot("e0").health().failing()).isPositive();
    assertThat(pool.snapshot("e1").health().failing()).isLessThan(0.05);
  }

  @Test
  void whereItShouldBeNothingChanges() {
    long ticket = pool.arrive("m");
    Route route = pool.lastRoute();
    pool.core.answeredBy(pool.now, ticket, route.destination());
    assertThat(pool.effects).hasSize(1);
    assertThat(pool.snapshot(route.endpoint()).inFlight()).isEqualTo(1);
  }

  /** A proxy may write addresses otherwise than the pool: nobody is to be blamed for that. */
  @Test
  void anEndpointOfNobodysChangesNothing() {
    long ticket = pool.arrive("m");
    String endpoint = pool.lastRoute().endpoint();
    pool.core.answeredBy(pool.now, ticket, "10.9.9.9:80");
    pool.core.answeredBy(pool.now, ticket, "no address");
    assertThat(pool.snapshot(endpoint).inFlight()).isEqualTo(1);
    assertThat(pool.snapshot(endpoint).health().failing()).isZero();
    pool.core.firstByte(pool.now, ticket);
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.active()).isZero();
  }

  /** As in a rollout, where the proxy knows the old endpoints a little longer. */
  @Test
  void oneThatIsLeavingAnswersAndTheOtherHasFailed() {
    long ticket = pool.arrive("m");
    long elsewhere = pool.arrive("m");
    if (!pool.routes.getFirst().endpoint().equals("e0")) {
      long swapped = ticket;
      ticket = elsewhere;
      elsewhere = swapped;
    }
    assertThat(pool.snapshot("e0").inFlight()).isEqualTo(1);
    endpoints(1);
    pool.core.answeredBy(pool.now, ticket, destination("e1"));
    assertThat(pool.snapshot("e0").inFlight()).isZero();
    assertThat(pool.snapshot("e0").health().failing()).isPositive();
    pool.core.ended(pool.now, elsewhere, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.active()).isZero();
  }

  /** The config would never send it there: it is on no account, and its client is answered. */
  @Test
  void whereFiltersWouldNotHaveItItIsNobodys() {
    pool.configure(
        Pool.atOnce(
            List.of(
                new PluginConfig(
                    "one", "by-label", Map.of("label", "first", "validValues", List.of("yes")))),
            List.of()));
    pool.core.endpoints(
        pool.now,
        List.of(new EndpointSpec("e0", "1", "10.0.0.1", 8000, Map.of("first", "yes")), spec(1)));
    long ticket = pool.arrive("m");
    assertThat(pool.lastRoute().endpoint()).isEqualTo("e0");
    pool.core.answeredBy(pool.now, ticket, destination("e1"));
    assertThat(pool.core.active()).isZero();
    assertThat(pool.rejections).isEmpty();
    assertThat(pool.snapshot("e0").inFlight() + pool.snapshot("e1").inFlight()).isZero();
  }

  @Test
  void onceTheAnswerHasBegunItIsTooLate() {
    long ticket = pool.arrive("m");
    String endpoint = pool.lastRoute().endpoint();
    pool.core.firstByte(pool.now, ticket);
    pool.core.answeredBy(pool.now, ticket, destination(other(pool.lastRoute())));
    assertThat(pool.snapshot(endpoint).inFlight()).isEqualTo(1);
    assertThat(pool.snapshot(endpoint).health().reason()).isEmpty();
  }

  /** The proxy has sent it there: whether there is room is no question any more. */
  @Test
  void aFullEndpointThatAnswersHasIt() {
    pool.core.configure(pool.now, Pool.withRoom(1));
    long one = pool.arrive("m");
    String first = pool.lastRoute().endpoint();
    pool.arrive("m");
    String second = pool.lastRoute().endpoint();
    assertThat(second).isNotEqualTo(first);
    pool.core.answeredBy(pool.now, one, destination(second));
    assertThat(pool.snapshot(second).inFlight()).isEqualTo(2);
    assertThat(pool.snapshot(first).inFlight()).isZero();
  }

  /** How long it was with either nobody knows. */
  @Test
  void nothingIsLearnedOfHowLongItTook() {
    Witness witness = new Witness();
    witness.configure(pool);
    long ticket = pool.arrive("m", 1, 2, 3);
    String first = pool.lastRoute().endpoint();
    pool.now += 900 * MILLI;
    pool.core.answeredBy(pool.now, ticket, destination(other(pool.lastRoute())));
    pool.now += MILLI;
    pool.core.firstByte(pool.now, ticket);
    pool.now += 50 * MILLI;
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, new Usage(48, 5, 0, 5));
    assertThat(witness.told)
        .containsExactly(
            first + " failed -1 -1", (first.equals("e0") ? "e1" : "e0") + " succeeded -1 -1");
  }

  /** Whatever the proxies do, each attempt ends once, and nothing stays on any account. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whateverHappensTheAccountsAreStraight(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Witness witness = new Witness();
    witness.configure(pool);
    endpoints(5);
    List<Long> live = new ArrayList<>();
    int moved = 0;
    for (int i = 0; i < 20_000; i++) {
      pool.now += random.nextLong(3 * MILLI);
      if (live.isEmpty() || random.nextInt(4) == 0) {
        live.add(pool.arrive("m", random.nextInt(3), 7, 8));
      } else {
        long ticket = live.get(random.nextInt(live.size()));
        switch (random.nextInt(6)) {
          case 0 -> pool.core.firstByte(pool.now, ticket);
          case 1 -> pool.core.attemptFailed(pool.now, ticket, Failure.DIED);
          case 2, 3 -> {
            int sent = pool.routes.size();
            pool.core.answeredBy(pool.now, ticket, destination("e" + random.nextInt(7)));
            moved += pool.routes.size() - sent;
          }
          case 4 -> pool.core.left(pool.now, ticket, LeftListener.NONE);
          default -> {
            pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
            live.remove(ticket);
          }
        }
      }
      if (random.nextInt(20) == 0) {
        pool.core.tick(pool.now);
      }
      if (random.nextInt(500) == 0) {
        endpoints(3 + random.nextInt(3));
      }
      witness.open.forEach(
          (endpoint, open) -> assertThat(endpoint.inFlight()).isEqualTo((int) open));
    }
    live.forEach(ticket -> pool.core.ended(pool.now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN));
    pool.core.tick(pool.now + 3_600_000 * MILLI);
    assertThat(moved).isGreaterThan(200);
    assertThat(pool.core.active()).isZero();
    assertThat(witness.open.values()).allSatisfy(open -> assertThat(open).isZero());
  }

  /** Hears of each attempt and of its end. */
  private static final class Witness implements Observer, PluginFactory {

    final List<String> told = new ArrayList<>();
    final IdentityHashMap<Endpoint, Integer> open = new IdentityHashMap<>();

    void configure(Pool pool) {
      SchedulerConfig scheduler =
          Pool.atOnce(List.of(new PluginConfig("own", type(), Map.of())), List.of());
      pool.core.configure(
          pool.now, new ConfigCompiler(List.of(this)).compile(Pool.config(scheduler)));
    }

    @Override
    public String type() {
      return "witness";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return this;
    }

    @Override
    public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
      open.merge(endpoint, 1, Integer::sum);
    }

    @Override
    public void completed(Completion completion) {
      open.merge(completion.endpoint(), -1, Integer::sum);
      told.add(
          "%s %s %d %d"
              .formatted(
                  completion.endpoint().name(),
                  completion.succeeded() ? "succeeded" : "failed",
                  completion.timeToFirstToken(),
                  completion.wholeTime()));
    }
  }
}
