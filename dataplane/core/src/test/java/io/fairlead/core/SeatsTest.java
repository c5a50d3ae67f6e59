package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeatsTest {

  private static final long SECOND = 1_000_000_000;
  private static final long SCRAPE = SECOND / 5;

  private final Seats seats = new Seats();
  private final SplittableRandom random = new SplittableRandom(1);
  private long now;

  /** After a scrape's time in which a twentieth of those that ran had their ends. */
  private void scrape(int waiting, int running, double usage) {
    seats.ended(Math.max(1, running / 20));
    scrapeOnly(waiting, running, usage);
  }

  private void scrapeOnly(int waiting, int running, double usage) {
    now += SCRAPE;
    seats.scraped(now, waiting, running, usage);
  }

  private void full(int times) {
    for (int i = 0; i < times; i++) {
      scrape(random.nextInt(1, 30), 256 - random.nextInt(6), 0.3);
    }
  }

  @Test
  void theyAreAsManyAsRunWhileOthersWait() {
    full(5);
    assertThat(seats.believed()).as("a second is not over").isZero();
    full(2);
    assertThat(seats.believed()).isBetween(250, 258);
    full(500);
    assertThat(seats.believed()).isBetween(250, 258);
  }

  @Test
  void aMomentInWhichSomeAreFreeTellsNothing() {
    full(3);
    scrape(0, 215, 0.3);
    full(4);
    assertThat(seats.believed()).isBetween(250, 258);
  }

  @Test
  void anEngineThatWaitsForItsCacheOrItsPromptsHasNoSeatsToLearn() {
    for (int i = 0; i < 100; i++) {
      scrape(20, 200, 0.97);
    }
    assertThat(seats.believed()).as("its cache is full").isZero();
    for (int i = 0; i < 1_000; i++) {
      scrape(20, 150 + random.nextInt(100), 0.3);
    }
    assertThat(seats.believed()).as("as many run as prompts come through").isZero();
    for (int i = 0; i < 100; i++) {
      scrape(20, 8, 0.3);
    }
    assertThat(seats.believed()).as("few").isZero();
  }

  /** Whoever decodes beside a prompt of 40,000 tokens takes as many long steps as that does. */
  @Test
  void whereNobodyEndsTheNumberThatRunsTellsNothing() {
    for (int i = 0; i < 10; i++) {
      scrapeOnly(1, 24, 0.18);
    }
    assertThat(seats.believed()).isZero();
    seats.ended(24);
    for (int i = 0; i < 10; i++) {
      scrapeOnly(1, 24, 0.18);
    }
    assertThat(seats.believed()).as("all at once").isZero();
    for (int i = 0; i < 10; i++) {
      seats.ended(1);
      scrapeOnly(1, 200, 0.18);
    }
    assertThat(seats.believed()).as("fewer than it may differ by").isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 64, 256})
  void realSeatsAreFoundInSecondsWhereAnswersTakeTen(int size) {
    double ended = 0;
    for (int i = 0; i < 25; i++) {
      ended += size / 50.0;
      int whole = (int) ended;
      ended -= whole;
      seats.ended(whole);
      scrapeOnly(1 + i % 7, size, 0.3);
    }
    assertThat(seats.believed()).isEqualTo(size);
  }

  @Test
  void theBeliefGrowsAndIsForgottenUntilRequestsWaitAgain() {
    full(20);
    int before = seats.believed();
    seats.tick(now + 20 * SECOND);
    assertThat(seats.believed()).isBetween(before + before / 12, before + before / 8);
    now += 20 * SECOND;
    full(1);
    assertThat(seats.believed()).as("one look at a queue is enough then").isBetween(250, 258);
    now += 201 * SECOND;
    seats.tick(now);
    assertThat(seats.believed()).isZero();
  }

  @Test
  void whoRunsMoreHasMoreAndAnotherProcessIsAnotherEngine() {
    full(20);
    scrape(0, 400, 0.5);
    assertThat(seats.believed()).isBetween(400, 402);
    seats.forget();
    assertThat(seats.believed()).isZero();
    full(3);
    assertThat(seats.believed()).isZero();
  }

  /** Set up anew with half as many. */
  @Test
  void fewerAreLearnedToo() {
    full(20);
    for (int i = 0; i < 20; i++) {
      scrape(10, 128, 0.3);
    }
    assertThat(seats.believed()).isBetween(128, 130);
  }
}
