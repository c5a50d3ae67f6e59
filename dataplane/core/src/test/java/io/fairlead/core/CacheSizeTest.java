package io.fairlead.core;

import static io.fairlead.core.Pool.model;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Servers refuse a prompt that is larger than their cache, whoever else would have taken it. */
class CacheSizeTest {

  private static final int BLOCK = 16;

  private final Pool pool = new Pool();

  @BeforeEach
  void oneSmallAndOneLarge() {
    pool.configure(model("m", Criticality.STANDARD)).endpoints("small", "large", "unknown");
    cache("small", 1_000);
    cache("large", 10_000);
    pool.endpoints("small", "large");
  }

  private void cache(String name, int tokens) {
    pool.core.scraped(
        pool.now,
        Pool.endpoint(name),
        pool.now,
        new EndpointMetrics(0, 0, 0, BLOCK, tokens / BLOCK));
  }

  private void largeIsFull() {
    pool.core.scraped(
        pool.now,
        Pool.endpoint("large"),
        pool.now,
        new EndpointMetrics(9, 50, 0.99, BLOCK, 10_000 / BLOCK));
  }

  /** A prompt of so many tokens that nobody has cached. */
  private long arrive(int tokens, long seed) {
    return pool.core.arrive(
        pool.now, new RequestFacts("m", seed, new long[0], tokens, -1, tokens * 4L), pool);
  }

  @Test
  void aPromptGoesWhereItsServerHasRoomForIt() {
    for (int seed = 0; seed < 20; seed++) {
      pool.core.ended(pool.now, arrive(2_000, seed), Outcome.COMPLETED, Usage.UNKNOWN);
      assertThat(pool.lastRoute().endpoint()).isEqualTo("large");
    }
    arrive(2_000, 20);
    arrive(100, 21);
    assertThat(pool.lastRoute().endpoint()).as("there is less to do").isEqualTo("small");
  }

  /** One that fits is full: to wait for it is better than to be refused. */
  @Test
  void itWaitsForTheOneThatHasRoomForIt() {
    largeIsFull();
    arrive(2_000, 1);
    assertThat(pool.routes).isEmpty();
    assertThat(pool.rejections).isEmpty();
    cache("large", 10_000);
    pool.core.tick(pool.now += 1_000_000);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("large");
  }

  @Test
  void whatFitsNowhereIsSentForTheServerToSayWhy() {
    arrive(50_000, 1);
    assertThat(pool.routes).hasSize(1);
  }

  @Test
  void whoseCacheIsUnknownMayHaveRoom() {
    pool.endpoints("small", "unknown");
    arrive(2_000, 1);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("unknown");
  }

  /** What a large one waits for, a small one behind it does not. */
  @Test
  void whoIsBehindALargeOneInItsFlowGoesPastIt() {
    largeIsFull();
    arrive(2_000, 1);
    arrive(100, 2);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("small");
  }

  @Test
  void oneThatIsOutIsNoWayOut() {
    for (int i = 0; i < 5; i++) {
      pool.core.unreachable(
          pool.now += 1_000_000_000, Pool.endpoint("large"), pool.now, Failure.REFUSED);
    }
    assertThat(pool.snapshot("large").health().state()).isEqualTo(HealthState.OUT);
    arrive(2_000, 1);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("small");
  }

  /** Its client would be told that the prompt is too long, which it is not. */
  @Test
  void whatFailedWhereItFitsIsNotSentWhereItDoesNot() {
    long request = arrive(2_000, 1);
    pool.core.attemptFailed(pool.now, request, Failure.REFUSED);
    assertThat(pool.routes).hasSize(1);
    assertThat(pool.rejections).hasSize(1);
    assertThat(pool.rejections.getFirst().reason()).isEqualTo(Rejection.Reason.UPSTREAM_FAILED);
  }

  /** A filter may want none where it fits: the server of another is to say why. */
  @Test
  void whatFitsNowhereThatFiltersAllowIsSentThereAllTheSame() {
    pool.configure(
        new SchedulerConfig(
            List.of(
                new PluginConfig(
                    "small-ones",
                    "by-label",
                    Map.of("label", "size", "validValues", List.of("small"))),
                new PluginConfig("queue", "queue-scorer", Map.of())),
            List.of(),
            null),
        model("m", Criticality.STANDARD));
    pool.core.endpoints(
        pool.now,
        List.of(
            new EndpointSpec("small", "1", "10.0.0.1", 8000, Map.of("size", "small")),
            new EndpointSpec("large", "1", "10.0.0.1", 8000, Map.of())));
    cache("small", 1_000);
    cache("large", 10_000);
    arrive(2_000, 1);
    assertThat(pool.lastRoute().endpoint()).isEqualTo("small");
  }
}
