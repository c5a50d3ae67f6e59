package io.fairlead.core;

/**
 * How many requests one engine runs at a time, learned from what it tells: engines have a most of
 * them (vLLM's {@code max-num-seqs}) that no metric names. Where requests wait though there is room
 * in the KV cache, and as many run all the while, it is the seats that they wait for.
 *
 * <p>An engine that waits for its prompts to be computed, or for its cache, runs now more and now
 * fewer: that is told apart by how little the number moves while requests end. Where none end it
 * can't move: beside a prompt of many steps hardly any does for seconds, with some waiting.
 *
 * <p>What is believed grows slowly until requests wait there again: engines are set up anew, and a
 * belief that is too low would hold back what could be served for ever.
 */
final class Seats {

  /** Fewer are not believed: so few may run for many reasons. */
  private static final int LEAST = 16;

  /** With more of its cache in use it may be that which is waited for. */
  private static final double MOST_USAGE = 0.9;

  /** By so much the number that runs may differ between scrapes. */
  private static final double EVEN = 0.03;

  /** Share of the seats that are taken even in a moment when nobody waits for one. */
  private static final double MOMENT = 0.75;

  /** Of its seats, share that must have become free and been taken again. */
  private static final double ENDED = 0.05;

  private static final int SCRAPES = 5;
  private static final long LONG = 1_000_000_000L;
  private static final double GROWTH_PER_NANO = 0.005 / 1e9;
  private static final long FORGOTTEN = 200_000_000_000L;

  /** Requests that have ended. It may wrap around: only differences count. */
  private int ended;

  /** The stretch of scrapes in which some waited and about as many ran, others each time. */
  private int scrapes;

  /** {@link #ended} as the stretch began, and at the last scrape that counts. */
  private int endedBefore;

  private int endedCounted;

  private long since;
  private int least;
  private int most;

  /** What was seen last, and when; 0 for nothing yet. */
  private int seen;

  private long seenAt;

  private int believed;

  /** So many that ran here have ended since it was called last. */
  void ended(int count) {
    ended += count;
  }

  /**
   * A scrape told this. Only of pages that are not the one before again.
   *
   * @param waiting requests in the engine's queue
   * @param running requests in its batch
   * @param usage share of the KV cache in use; NaN when unknown
   */
  void scraped(long now, int waiting, int running, double usage) {
    if (running < LEAST || usage >= MOST_USAGE) {
      scrapes = 0;
    } else if (waiting <= 0) {
      // Where seats are short there are moments in which some are free.
      scrapes = running < MOMENT * most ? 0 : scrapes;
    } else {
      stretch(now, running);
      boolean learned =
          scrapes >= SCRAPES && now - since >= LONG && ended - endedBefore >= ENDED * running;
      if (learned || isAbout(running, seen)) {
        seen = learned ? most : Math.max(seen, running);
        seenAt = now;
      }
    }
    if (seen > 0 && running > believed) {
      seen = running;
      seenAt = now;
    }
    tick(now);
  }

  private void stretch(long now, int running) {
    int low = scrapes == 0 ? running : Math.min(least, running);
    int high = scrapes == 0 ? running : Math.max(most, running);
    if (!isAbout(low, high)) {
      low = running;
      high = running;
      scrapes = 0;
    }
    least = low;
    most = high;
    if (scrapes == 0) {
      since = now;
      endedBefore = ended;
      endedCounted = ended;
      scrapes = 1;
    } else if (ended != endedCounted) {
      endedCounted = ended;
      scrapes++;
    }
  }

  private static boolean isAbout(int one, int other) {
    return Math.abs(one - other) <= EVEN * other;
  }

  /** Time has moved on. */
  void tick(long now) {
    long age = now - seenAt;
    seen = age > FORGOTTEN ? 0 : seen;
    believed = (int) (seen * (1 + GROWTH_PER_NANO * Math.max(0, age)));
  }

  /** Another process is there. */
  void forget() {
    scrapes = 0;
    seen = 0;
    believed = 0;
  }

  /** Requests that it runs at a time as far as that is known; 0 for not. */
  int believed() {
    return believed;
  }
}
