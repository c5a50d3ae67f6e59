package io.fairlead.core;

import io.fairlead.plugin.Paces;

/**
 * Counts of paces, four to an octave: what is asked of one endpoint takes the same few steps
 * however many ask. A pace counts as the next faster one that is counted.
 */
final class PaceCounts implements Paces {

  private static final double NANOS_PER_MILLI = 1e6;
  private static final int PER_OCTAVE = 4;
  private static final int STEPS = Long.SIZE;

  /** Milliseconds, from 1 up to almost a minute. */
  private static final double[] PACES = new double[STEPS];

  static {
    for (int i = 0; i < STEPS; i++) {
      PACES[i] = Math.pow(2, (double) i / PER_OCTAVE);
    }
  }

  /** Made when the first one asks: most endpoints have none. */
  private int[] counts = {};

  /** A bit for each count above 0. */
  private long some;

  private int count;

  void add(long nanos) {
    if (counts.length == 0) {
      counts = new int[STEPS];
    }
    int at = step(nanos);
    counts[at]++;
    some |= 1L << at;
    count++;
  }

  /** One less, that was added. */
  void remove(long nanos) {
    int at = step(nanos);
    if (--counts[at] == 0) {
      some &= ~(1L << at);
    }
    count--;
  }

  private static int step(long nanos) {
    double octaves = Math.log(nanos / NANOS_PER_MILLI) / Math.log(2);
    return Math.clamp((long) Math.floor(octaves * PER_OCTAVE), 0, STEPS - 1);
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public double late(double before, double after) {
    double sum = 0;
    for (long left = some; left != 0; left &= left - 1) {
      int at = Long.numberOfTrailingZeros(left);
      double pace = PACES[at];
      if (pace >= after) {
        break;
      }
      sum += counts[at] * (beyond(after, pace) - beyond(before, pace));
    }
    return sum;
  }

  private static double beyond(double time, double pace) {
    return Math.min(Math.max(0, time - pace), pace);
  }
}
