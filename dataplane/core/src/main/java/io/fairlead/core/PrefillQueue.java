package io.fairlead.core;

import io.fairlead.plugin.Prefills;
import org.jspecify.annotations.Nullable;

/** The requests without a first token whose prompts one endpoint computes, first sent first. */
final class PrefillQueue implements Prefills {

  private @Nullable Flight head;
  private @Nullable Flight tail;
  private int count;
  private long uncachedTokens;

  /** Of those whose first token will be seen. */
  private int watched;

  private long watchedUncachedTokens;
  private double attention;
  private long headSince;

  void add(long now, Flight flight) {
    flight.inLine = true;
    flight.before = tail;
    flight.after = null;
    if (tail == null) {
      head = flight;
      headSince = now;
    } else {
      tail.after = flight;
    }
    tail = flight;
    count++;
    uncachedTokens += flight.attempt.uncached();
    attention += flight.attempt.attention();
    watch(1, flight);
  }

  /** One in line will not be seen any more. To be called before its state says so. */
  void left(Flight flight) {
    watch(-1, flight);
  }

  private void watch(int sign, Flight flight) {
    if (flight.isWatched()) {
      watched += sign;
      watchedUncachedTokens += (long) sign * flight.attempt.uncached();
    }
  }

  void remove(long now, Flight flight) {
    flight.inLine = false;
    if (flight.before == null) {
      head = flight.after;
      // What has happened to the one before it may be told late.
      headSince = head == null || now - head.attempt.sentAt > 0 ? now : head.attempt.sentAt;
    } else {
      flight.before.after = flight.after;
    }
    if (flight.after == null) {
      tail = flight.before;
    } else {
      flight.after.before = flight.before;
    }
    flight.before = null;
    flight.after = null;
    count--;
    uncachedTokens -= flight.attempt.uncached();
    watch(-1, flight);
    // What rounding leaves of a sum must not outlive its terms, nor take it below zero.
    attention = count == 0 ? 0 : Math.max(0, attention - flight.attempt.attention());
  }

  /** Who is first in line, or null. */
  @Nullable Flight head() {
    return head;
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public int watched() {
    return watched;
  }

  @Override
  public long uncachedTokens() {
    return uncachedTokens;
  }

  /** Of those that are watched. */
  long watchedUncachedTokens() {
    return watchedUncachedTokens;
  }

  @Override
  public double attention() {
    return attention;
  }

  @Override
  public int headUncached() {
    return head == null ? 0 : head.attempt.uncached();
  }

  @Override
  public double headAttention() {
    return head == null ? 0 : head.attempt.attention();
  }

  @Override
  public long headSince() {
    return headSince;
  }
}
