package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Endpoint;
import java.util.Arrays;

/**
 * Servers whose caches were empty lately. For a while, and while they are few, they are taken for
 * holders of as much of a prompt as any other holds: at its first request for each common prompt a
 * newcomer comes to hold it, and as long as the others are hardly busy it would never get that one.
 *
 * <p>What they compute for that is bounded: each newcomer has an allowance of prefill time.
 */
final class Newcomers {

  /** So long one is a newcomer. */
  private static final long NANOS = 20_000_000_000L;

  /** Milliseconds of prefill, a twentieth of that time. */
  private static final double ALLOWANCE = 1_000;

  /** By slot. {@link Long#MIN_VALUE} for nobody knows when. */
  private long[] emptyAt = {};

  private double[] allowance = {};

  /** The latest time at which anybody's caches were empty. */
  private long last = Long.MIN_VALUE;

  /** The endpoint may have come, or its process been replaced. */
  void changed(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    if (slot >= emptyAt.length) {
      int from = emptyAt.length;
      emptyAt = Arrays.copyOf(emptyAt, slot + 1 + slot / 2);
      allowance = Arrays.copyOf(allowance, emptyAt.length);
      Arrays.fill(emptyAt, from, emptyAt.length, Long.MIN_VALUE);
    }
    long time = endpoint.emptyAt();
    if (emptyAt[slot] != time) {
      emptyAt[slot] = time;
      allowance[slot] = ALLOWANCE;
      if (last == Long.MIN_VALUE || time - last > 0) {
        last = time;
      }
    }
  }

  /**
   * Raises what newcomers are believed to hold of a prompt to what others hold, as far as their
   * allowances go.
   *
   * @param now of the decision
   * @param cached prompt tokens that each candidate is believed to hold
   * @return whether there are any newcomers; then {@link #charge} is to be called for who is chosen
   */
  boolean welcome(long now, PoolCandidates candidates, double[] cached, LearnedSpeeds speeds) {
    long since = now - NANOS;
    if (last == Long.MIN_VALUE || last - since < 0) {
      return false;
    }
    int size = candidates.size();
    double most = 0;
    for (int i = 0; i < size; i++) {
      most = Math.max(most, cached[i]);
    }
    int newcomers = 0;
    for (int i = 0; most > 0 && i < size; i++) {
      newcomers += isNew(candidates.slot(i), since) ? 1 : 0;
    }
    if (newcomers == 0 || 2 * newcomers >= size) {
      return false;
    }
    for (int i = 0; i < size; i++) {
      int slot = candidates.slot(i);
      if (isNew(slot, since)
          && millis(candidates.get(i), most - cached[i], speeds) <= allowance[slot]) {
        cached[i] = most;
      }
    }
    return true;
  }

  /** This one was chosen, and was believed to hold {@code lacks} tokens more than it does. */
  void charge(Endpoint chosen, double lacks, LearnedSpeeds speeds) {
    allowance[PoolEndpoint.slot(chosen)] -= millis(chosen, lacks, speeds);
  }

  private boolean isNew(int slot, long since) {
    return emptyAt[slot] != Long.MIN_VALUE && emptyAt[slot] - since >= 0;
  }

  private static double millis(Endpoint endpoint, double tokens, LearnedSpeeds speeds) {
    return tokens * speeds.psi(PoolEndpoint.slot(endpoint)) * speeds.engine(endpoint).b();
  }
}
