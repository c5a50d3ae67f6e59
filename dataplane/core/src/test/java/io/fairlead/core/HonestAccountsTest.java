package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
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

  private long heldUp(int number) {
    long ticket = pool.core.arrive(pool.now, unique(number), pool);
    pool.core.firstByte(pool.now, ticket);
    pool.core.heldUp(pool.now += SECOND / 10, ticket, true);
    return ticket;
  }

  private static RequestFacts unique(int number) {
    return Pool.request("m", number, new SplittableRandom(number).longs(10).toArray());
  }

  /** The page of an endpoint at which so many run. */
  private void tells(String endpoint, int running) {
    EndpointMetrics page = new EndpointMetrics(0, running, 0.1, 16, 40_000);
    pool.core.scraped(pool.now, Pool.endpoint(endpoint), pool.now, page);
  }

  /** An engine is through with an answer long before a client is that reads slowly. */
  @Test
  void answersThatTheirClientsDoNotReadAreNoLoadOnceTheServerTellsOfNone() {
    List<String> all = List.of("a", "b", "c", "d");
    start("a");
    for (int i = 1; i <= 10; i++) {
      heldUp(-i);
    }
    pool.endpoints("a", "b", "c", "d");
    Map<String, Integer> sent = new HashMap<>();
    Map<String, Integer> running = new HashMap<>();
    Queue<Long> inFlight = new ArrayDeque<>();
    Map<Long, String> at = new HashMap<>();
    for (int i = 0; i < 400; i++) {
      if (i % 4 == 0) {
        all.forEach(name -> tells(name, running.getOrDefault(name, 0)));
      }
      long ticket = pool.core.arrive(pool.now, unique(i), pool);
      String endpoint = pool.lastRoute().endpoint();
      at.put(ticket, endpoint);
      sent.merge(endpoint, 1, Integer::sum);
      running.merge(endpoint, 1, Integer::sum);
      pool.core.firstByte(pool.now += SECOND / 20, ticket);
      inFlight.add(ticket);
      if (inFlight.size() > 8) {
        long over = inFlight.remove();
        running.merge(at.get(over), -1, Integer::sum);
        pool.core.ended(pool.now, over, Outcome.COMPLETED, new Usage(160, 20, -1));
      }
    }
    assertThat(sent.values())
        .as("%s", sent)
        .hasSize(4)
        .allMatch(count -> count > 80 && count < 120);
    assertThat(pool.snapshot("a").inFlight()).as("its clients have them still").isGreaterThan(9);
  }

  @Test
  void whatTheServerStillShowsCountsThoughItsClientDoesNotRead() {
    pool.core.configure(pool.now, Pool.withRoom(2, Pool.model("m", Criticality.STANDARD)));
    pool.endpoints("a");
    long first = heldUp(1);
    long second = heldUp(2);
    tells("a", 2);
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.core.waiting()).as("no room").isOne();
    pool.now += SECOND;
    tells("a", 1);
    assertThat(pool.core.waiting()).as("the room of one").isZero();
    pool.arrive("m", 4, 5, 6);
    pool.arrive("m", 7, 8, 9);
    assertThat(pool.core.waiting()).isEqualTo(2);
    tells("a", 4);
    pool.core.ended(pool.now, first, Outcome.COMPLETED, Usage.UNKNOWN);
    assertThat(pool.core.waiting()).as("it shows more than is counted: both count").isEqualTo(2);
    pool.core.ended(pool.now, second, Outcome.DISCONNECTED, Usage.UNKNOWN);
    assertThat(pool.core.waiting()).isOne();
  }

  /** What is left is over when its server tells so, or by an estimate. */
  @Test
  void anAnswerThatIsLeftUnreadCountsAgain() {
    pool.core.configure(pool.now, Pool.withRoom(2, Pool.model("m", Criticality.STANDARD)));
    pool.endpoints("a");
    long unread = heldUp(1);
    heldUp(2);
    tells("a", 1);
    pool.core.left(pool.now, unread, over -> {});
    pool.arrive("m", 1, 2, 3);
    assertThat(pool.core.waiting()).isOne();
  }
}
