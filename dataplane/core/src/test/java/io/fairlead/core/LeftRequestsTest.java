package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Requests whose answers nobody sees. */
class LeftRequestsTest {

  private final Pool pool = new Pool().configure().endpoints("a");
  private final List<Long> over = new ArrayList<>();

  @Test
  void isCountedUntilAnAnswerOfUsualLengthMustBeOver() {
    long ticket = send();
    leave(ticket);
    advance(Duration.ofSeconds(4));
    assertThat(pool.snapshot("a").inFlight()).isOne();
    assertThat(pool.snapshot("a").awaitingFirstToken())
        .as("its prompt must be computed by now")
        .isZero();

    advance(Duration.ofSeconds(2));

    assertThat(pool.snapshot("a").inFlight()).isZero();
    assertThat(pool.core.active()).isZero();
    assertThat(over).containsExactly(ticket);
    assertThat(pool.rejections).isEmpty();
  }

  @Test
  void isOverOnceItsEndpointHasFewerThanAreCounted() {
    List<Long> tickets = List.of(send(), send(), send());
    tickets.forEach(ticket -> leave(ticket));
    scraped(1, 0);
    assertThat(over).as("they may be on their way still").isEmpty();

    advance(Duration.ofSeconds(2));
    scraped(1, 1);
    assertThat(over).containsExactly(tickets.getFirst());
    scraped(1, 1);
    assertThat(over).hasSize(1);
    scraped(0, 0);
    assertThat(over).containsExactlyElementsOf(tickets);
    assertThat(pool.core.active()).isZero();
  }

  @Test
  void isCountedForLongerWhileItsEndpointHasAsMany() {
    leave(send());
    scraped(1, 0);
    advance(Duration.ofSeconds(15));
    assertThat(over).isEmpty();
    advance(Duration.ofSeconds(10));
    assertThat(over).as("what it has may be of others").hasSize(1);
  }

  @Test
  void requestsThatAreSeenAreNeverPresumedOver() {
    long seen = send();
    leave(send());
    advance(Duration.ofSeconds(2));
    scraped(0, 0);
    assertThat(over).hasSize(1).doesNotContain(seen);
    assertThat(pool.core.active()).isOne();
  }

  @Test
  void whatItsPromptLeftBehindStays() {
    leave(send(1, 2, 3));
    advance(Duration.ofSeconds(10));
    send(1, 2, 3);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(3);
  }

  @Test
  void saysNothingOfTheEndpointNorPassesADeadline() {
    leave(send());
    scraped(1, 0);
    pool.now += Duration.ofMinutes(5).toNanos();
    pool.core.tick(pool.now);
    assertThat(over).hasSize(1);
    assertThat(pool.rejections).isEmpty();
    assertThat(pool.snapshot("a").health()).isEqualTo(Pool.WELL);
  }

  /** A left request may be counted for long: its frontend's objects would fill the heap. */
  @Test
  void keepsNothingOfItsFrontend() {
    WeakReference<Object> frontend = leftWithItsOwnListener();
    System.gc();
    assertThat(frontend.get()).isNull();
    assertThat(pool.core.active()).isOne();
  }

  private WeakReference<Object> leftWithItsOwnListener() {
    Pool listener = new Pool();
    leave(pool.core.arrive(pool.now, Pool.request("m", 1, 1, 2, 3), listener));
    return new WeakReference<>(listener);
  }

  /** Endpoints' accounts are of blocks that requests share, of whose hashes few are kept. */
  @Test
  void isTakenOffTheAccountsWithWhatItSharesWithOthers() {
    long[] blocks = LongStream.rangeClosed(1, 300).toArray();
    for (int round = 0; round < 3; round++) {
      long seen = send(blocks);
      pool.core.firstByte(pool.now, seen);
      leave(send(blocks));
      leave(send(LongStream.rangeClosed(1, 200).toArray()));
      advance(Duration.ofSeconds(10));
      assertThat(pool.core.active()).isOne();
      pool.core.ended(pool.now, seen, Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(Pool.accounts(pool.snapshot("a")).inFlight()).isZero();
    }
    assertThat(over).hasSize(6);
    send(blocks);
    assertThat(pool.lastRoute().matchedBlocks()).isEqualTo(300);
  }

  @Test
  void theOldestOfAnEndpointGoFirstWhateverIsThereBeside() {
    pool.configure(Pool.atOnce(List.of(), List.of()));
    long seen = send();
    List<Long> tickets = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      pool.now += 1_000_000;
      tickets.add(send());
      leave(tickets.getLast());
    }
    advance(Duration.ofSeconds(1));
    pool.now += 50_000_000;
    long young = send();
    leave(young);
    scraped(41, 0);
    assertThat(over).containsExactlyElementsOf(tickets.subList(0, 60));
    pool.core.ended(pool.now, seen, Outcome.COMPLETED, Usage.UNKNOWN);
    scraped(0, 0);
    assertThat(over).containsExactlyElementsOf(tickets);
    assertThat(pool.core.active()).as("may be on its way still").isOne();
  }

  @Test
  void nothingThatIsToldOfItLaterSendsItAgain() {
    long ticket = send();
    leave(ticket);
    pool.core.attemptFailed(pool.now, ticket, Failure.REFUSED);
    assertThat(pool.routes).hasSize(1);
    assertThat(pool.snapshot("a").inFlight()).isOne();
  }

  @Test
  void whatIsOverOrWasNeverSentCannotBeLeft() {
    long ticket = send();
    pool.core.ended(pool.now, ticket, Outcome.COMPLETED, Usage.UNKNOWN);
    leave(ticket);
    advance(Duration.ofSeconds(10));
    assertThat(over).isEmpty();
  }

  /** The server that is to produce the answer does not know of it before. */
  @Test
  void isNotOverWhileAnotherServerComputesItsPrompt() {
    pool.configure(prefillAndDecode());
    pool.core.endpoints(pool.now, List.of(withRole("p", "prefill"), withRole("a", "decode")));
    long[] blocks = LongStream.rangeClosed(1, 10_000).toArray();
    leave(send(blocks));
    assertThat(pool.lastRoute().endpoint()).isEqualTo("a");
    assertThat(pool.snapshot("p").inFlight()).isOne();
    while (pool.snapshot("p").inFlight() > 0) {
      advance(Duration.ofMillis(100));
      scraped(0, 0);
      assertThat(over).as("after %d ms", pool.now / 1_000_000).isEmpty();
    }
    assertThat(pool.now).as("a long prefill").isGreaterThan(Duration.ofSeconds(2).toNanos());
    scraped(0, 0);
    assertThat(over).as("on its way to the other").isEmpty();
    advance(Duration.ofMillis(1_100));
    scraped(1, 0);
    assertThat(over).isEmpty();
    scraped(0, 0);
    assertThat(over).hasSize(1);
    assertThat(pool.core.active()).isZero();
  }

  private static SchedulerConfig prefillAndDecode() {
    List<PluginReference> picker = List.of(new PluginReference("random-picker", 1));
    return new SchedulerConfig(
        List.of(
            new PluginConfig(
                "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "d"))),
            new PluginConfig("d", "always-disagg-pd-decider", Map.of()),
            new PluginConfig("random-picker", "random-picker", Map.of())),
        List.of(new ProfileConfig("decode", picker), new ProfileConfig("prefill", picker)),
        null);
  }

  private static EndpointSpec withRole(String name, String role) {
    EndpointSpec spec = Pool.endpoint(name);
    return new EndpointSpec(
        name, spec.incarnation(), spec.address(), spec.port(), Map.of("llm-d.ai/role", role));
  }

  /** Those that are over at the server are counted for a second longer. */
  @Test
  void theyTakeSeatsAsLongAsTheServerSaysSo() {
    for (int i = 0; i < 120; i++) {
      leave(send());
    }
    advance(Duration.ofSeconds(1));
    for (int waiting = 18; waiting > 0; waiting -= 2) {
      advance(Duration.ofMillis(200));
      scraped(100, waiting);
    }
    advance(Duration.ofMillis(200));
    scraped(50, 0);
    for (int i = 0; i < 120; i++) {
      leave(send());
      assertThat(pool.routes).hasSize(120 + i + 1);
    }
    scraped(100, 3);
    send();
    assertThat(pool.routes).as("all seats are taken").hasSize(240);
  }

  private long send(long... blocks) {
    return pool.core.arrive(pool.now, Pool.request("m", 1, blocks), pool);
  }

  private void leave(long ticket) {
    pool.core.left(pool.now, ticket, over::add);
  }

  private void scraped(int running, int waiting) {
    pool.core.scraped(
        pool.now,
        Pool.endpoint("a"),
        pool.now,
        new EndpointMetrics(waiting, running, Double.NaN, -1, -1));
  }

  private void advance(Duration time) {
    for (long end = pool.now + time.toNanos(); pool.now < end; ) {
      pool.now += 100_000_000;
      pool.core.tick(pool.now);
    }
  }
}
