package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page that stands still while it tells of work: it keeps nobody waiting for ever. */
class StillPageTest {

  private static final long SECOND = 1_000_000_000;
  private static final long SCRAPE = SECOND / 5;

  private final Pool pool = new Pool().configure().endpoints("a");

  private void scrape(int waiting, int running, double usage, double progress) {
    scrape(waiting, running, usage, progress, Double.NaN);
  }

  private void scrape(int waiting, int running, double usage, double progress, double usedTokens) {
    pool.now += SCRAPE;
    EndpointMetrics page =
        new EndpointMetrics(
            waiting,
            running,
            usage,
            16,
            1_000,
            "",
            -1,
            List.of(),
            List.of(),
            Map.of(),
            Double.NaN,
            progress,
            usedTokens);
    pool.core.scraped(pool.now, Pool.endpoint("a"), pool.now, page);
    pool.core.tick(pool.now);
  }

  /** So many seconds of the same page. */
  private void stands(int seconds, int waiting, int running, double usage, double progress) {
    for (int i = 0; i < seconds * 5; i++) {
      scrape(waiting, running, usage, progress);
    }
  }

  @ParameterizedTest
  @CsvSource({"7, 13, 0.98", "1000, 0, 0.1", "0, 0, 1"})
  void whoWaitsForItIsSent(int waiting, int running, double usage) {
    stands(3, waiting, running, usage, 5_000);
    pool.arrive("m");
    assertThat(pool.routes).as("it is full, as it says").isEmpty();
    stands(3, waiting, running, usage, 5_000);
    assertThat(pool.routes).hasSize(1);
    pool.arrive("m");
    assertThat(pool.routes).as("and so is whoever comes next").hasSize(2);
  }

  @Test
  void oneThatMovesIsBelievedAtOnce() {
    stands(6, 1_000, 13, 0.98, 5_000);
    scrape(1_000, 13, 0.98, 5_013);
    pool.arrive("m");
    assertThat(pool.routes).isEmpty();
  }

  @Test
  void anEngineThatComputesIsBelievedHoweverLongItsQueueIsTheSame() {
    for (int i = 0; i < 100; i++) {
      scrape(1_000, 13, 0.98, i * 13);
    }
    pool.arrive("m");
    assertThat(pool.routes).isEmpty();
  }

  @Test
  void anEngineThatTellsOfProgressAtTheEndIsBelievedWhileItsCacheFills() {
    for (int i = 0; i < 100; i++) {
      scrape(1_000, 13, 0.98, 5_000, 15_000 + 13 * i);
    }
    pool.arrive("m");
    assertThat(pool.routes).isEmpty();
  }

  @Test
  void oneWhoseCacheStandsStillTooIsNot() {
    for (int i = 0; i < 30; i++) {
      scrape(1_000, 13, 0.98, 5_000, 15_000);
    }
    pool.arrive("m");
    assertThat(pool.routes).hasSize(1);
  }

  @Test
  void oneThatTellsOfNoProgressMayStandStill() {
    stands(20, 1_000, 13, 0.98, Double.NaN);
    pool.arrive("m");
    assertThat(pool.routes).isEmpty();
  }

  /** Else whoever is in line there would be taken to wait for such a turn, and for no room. */
  @Test
  void whoseTurnItIsOfAdaptersIsOfTheLoadItTells() {
    StillPage page = new StillPage();
    EndpointMetrics told =
        new EndpointMetrics(
            1,
            2,
            0.1,
            16,
            1_000,
            "base",
            2,
            List.of("a", "b"),
            List.of("c"),
            Map.of(),
            Double.NaN,
            5_000);
    for (int i = 0; i < 5; i++) {
      assertThat(page.believed(i * SECOND, told)).isEqualTo(told);
    }
    EndpointMetrics believed = page.believed(5 * SECOND, told);
    assertThat(believed.runningAdapters()).isEmpty();
    assertThat(believed.waitingAdapters()).isEmpty();
    assertThat(believed.maxAdapters()).isEqualTo(2);
  }
}
