package io.fairlead.core;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The requests in flight, in slots of arrays. A ticket is a slot with its generation, which grows
 * each time the slot is freed: a ticket that is over is never valid again. A slot whose generations
 * are used up is retired.
 *
 * <p>Arrays grow to the most requests ever in flight at once, and stay.
 */
final class RequestTable {

  /** What {@link #slot} says of a ticket that is over or never was. */
  static final int NONE = -1;

  private static final int SLOT_BITS = 24;
  private static final int SLOT_MASK = (1 << SLOT_BITS) - 1;
  private static final long LAST_GENERATION = Long.MAX_VALUE >>> SLOT_BITS;
  private static final int FIRST_LENGTH = 64;

  private final int retries;
  private long[] generations = {};
  private boolean[] live = {};
  private boolean[] firstTokenSeen = {};
  private int[] attempts = {};
  private @Nullable RequestFacts[] facts = {};
  private @Nullable RequestListener[] listeners = {};
  private @Nullable EndpointState[] sentTo = {};

  /** The endpoints whose attempts failed: {@code retries} places per slot. */
  private @Nullable EndpointState[] tried = {};

  private int[] free = {};
  private int freeCount;
  private int active;

  RequestTable(int retries) {
    this.retries = retries;
  }

  int active() {
    return active;
  }

  int add(RequestFacts request, RequestListener listener) {
    if (freeCount == 0) {
      grow();
    }
    int slot = free[--freeCount];
    live[slot] = true;
    firstTokenSeen[slot] = false;
    attempts[slot] = 0;
    facts[slot] = request;
    listeners[slot] = listener;
    active++;
    return slot;
  }

  void remove(int slot) {
    live[slot] = false;
    facts[slot] = null;
    listeners[slot] = null;
    sentTo[slot] = null;
    Arrays.fill(tried, slot * retries, (slot + 1) * retries, null);
    active--;
    if (generations[slot] < LAST_GENERATION) {
      generations[slot]++;
      free[freeCount++] = slot;
    }
  }

  /** Always above 0. */
  long ticket(int slot) {
    return generations[slot] << SLOT_BITS | slot;
  }

  /** The live slot of a ticket, or {@link #NONE}. */
  int slot(long ticket) {
    int slot = (int) ticket & SLOT_MASK;
    boolean known = slot < live.length && live[slot] && generations[slot] == ticket >> SLOT_BITS;
    return known ? slot : NONE;
  }

  RequestFacts facts(int slot) {
    return require(facts[slot]);
  }

  RequestListener listener(int slot) {
    return require(listeners[slot]);
  }

  /** Where it was sent, or null when it is not sent anywhere right now. */
  @Nullable EndpointState sentTo(int slot) {
    return sentTo[slot];
  }

  /** Counts the attempt; the first is 1. */
  int sent(int slot, EndpointState endpoint) {
    sentTo[slot] = endpoint;
    return ++attempts[slot];
  }

  int attempts(int slot) {
    return attempts[slot];
  }

  boolean firstTokenSeen(int slot) {
    return firstTokenSeen[slot];
  }

  void firstToken(int slot) {
    firstTokenSeen[slot] = true;
  }

  /** The attempt is over; its endpoint won't be tried again, as long as another try is allowed. */
  void failed(int slot) {
    if (attempts[slot] <= retries) {
      tried[slot * retries + attempts[slot] - 1] = sentTo[slot];
    }
    sentTo[slot] = null;
  }

  boolean hasTried(int slot, EndpointState endpoint) {
    for (int i = slot * retries, end = i + attempts[slot]; i < end; i++) {
      if (tried[i] == endpoint) {
        return true;
      }
    }
    return false;
  }

  private void grow() {
    int from = live.length;
    if (from > SLOT_MASK) {
      throw new IllegalStateException("more than " + from + " requests in flight");
    }
    int to = Math.max(FIRST_LENGTH, from * 2);
    generations = Arrays.copyOf(generations, to);
    Arrays.fill(generations, from, to, 1);
    live = Arrays.copyOf(live, to);
    firstTokenSeen = Arrays.copyOf(firstTokenSeen, to);
    attempts = Arrays.copyOf(attempts, to);
    facts = Arrays.copyOf(facts, to);
    listeners = Arrays.copyOf(listeners, to);
    sentTo = Arrays.copyOf(sentTo, to);
    tried = Arrays.copyOf(tried, to * retries);
    free = Arrays.copyOf(free, to);
    for (int slot = to - 1; slot >= from; slot--) {
      free[freeCount++] = slot;
    }
  }

  private static <T> T require(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("slot is free");
    }
    return value;
  }
}
