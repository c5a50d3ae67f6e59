package io.fairlead.core;

import io.fairlead.core.flow.WaitCounters;
import java.util.List;

/**
 * Who waits at one moment, and how full the pool is, for people and metrics.
 *
 * @param queueing whether requests wait that find no room; if not, they may nevertheless do so from
 *     an earlier config
 * @param saturation mean of the endpoints, where 1 is full, without those at which the detector
 *     failed; 0 where there is none, NaN where it failed at all of them
 * @param endpoints how many may get requests
 * @param full whether there are endpoints, and none has room, or none for who waits
 * @param bands that requests came for so far, the most important first
 */
public record QueueSnapshot(
    boolean queueing, double saturation, int endpoints, boolean full, List<Band> bands) {

  /** Nobody waits. */
  public static final QueueSnapshot EMPTY = new QueueSnapshot(false, 0, 0, false, List.of());

  public QueueSnapshot {
    bands = List.copyOf(bands);
  }

  /** Requests that wait. */
  public int waiting() {
    return bands.stream().mapToInt(Band::waiting).sum();
  }

  /**
   * Seconds that the endpoints would work on all that wait if none came after them; as one server
   * would while there is none.
   */
  public double seconds() {
    return bands.stream().mapToDouble(Band::serverSeconds).sum() / Math.max(1, endpoints);
  }

  /**
   * The requests of one priority.
   *
   * @param priority the larger, the more important
   * @param waiting how many wait
   * @param bytes of their bodies
   * @param tokens that they are expected to be, of prompts and answers
   * @param serverSeconds that one server has work with them for, as fast as servers were of late
   * @param ended how waits ended so far
   */
  public record Band(
      long priority,
      int waiting,
      long bytes,
      double tokens,
      double serverSeconds,
      WaitCounters ended) {}
}
