package io.fairlead.core.flow;

import io.fairlead.plugin.WaitingRequest;
import org.jspecify.annotations.Nullable;

/** A request that waits. Made when it begins to, and let go of when its wait is over. */
public final class Waiting implements WaitingRequest {

  private final long request;
  private FlowQueue flow;
  private final double work;
  private final long bytes;
  private final long ttl;
  private final long firstTokenBy;
  private final boolean goesOn;
  private final long since;
  private final long sequence;
  long expiresAt;
  long rank;

  /** Whether its wait ends then as nobody wants it later, and not as it waited long enough. */
  boolean wantedUntilThen;

  /**
   * Where it stands in its flow, as the {@link RankedQueue} has it, and in the heap of those whose
   * wait ends sooner than that of others who came when it did; -1 outside of them.
   */
  int inFlow = -1;

  /** Neighbours in its flow, where that lists it. */
  @Nullable Waiting inFlowBefore;

  @Nullable Waiting inFlowAfter;

  /** Whether its flow has it apart from those that may go. */
  boolean aside;

  /** Whether it was refused before, and came again when it was told to. */
  private final boolean cameAgain;

  /** Whether it alone of its flow waits for a slot of its adapter. */
  boolean forSlot;

  /** Whether the slot that it waits for is promised to it. */
  boolean promised;

  int inExpiry = -1;

  /** Neighbours in its band, which lists requests as they came. */
  @Nullable Waiting before;

  @Nullable Waiting after;

  /**
   * What a request asks for.
   *
   * @param work expected tokens of its prompt and its answer
   * @param bytes of its body, which is kept as long as it waits
   * @param ttl longest time that it may wait in nanoseconds, as it asks itself; {@link
   *     WaitingRequest#NEVER} if it says nothing
   * @param firstTokenBy when its first token is wanted; {@link WaitingRequest#NEVER} for no time
   * @param goesOn whether it goes on with a conversation
   * @param place that is kept for it, by {@link FlowControl#came}; 0 for none
   */
  public record Demand(
      double work, long bytes, long ttl, long firstTokenBy, boolean goesOn, long place) {}

  Waiting(long request, FlowQueue flow, Demand demand, long since, long sequence) {
    this.request = request;
    this.flow = flow;
    // Copied: a record of its own would be one more thing to find in memory for each that goes.
    this.work = demand.work();
    this.bytes = demand.bytes();
    this.ttl = demand.ttl();
    this.firstTokenBy = demand.firstTokenBy();
    this.goesOn = demand.goesOn();
    this.cameAgain = demand.place() != 0;
    this.since = since;
    this.sequence = sequence;
  }

  /** The request's ticket. */
  public long request() {
    return request;
  }

  /** What it is when the time is over that it may wait. */
  public WaitEnd whenExpired() {
    return wantedUntilThen ? WaitEnd.OBJECTIVE_MISSED : WaitEnd.TIMED_OUT;
  }

  /** Whose it is. */
  public FlowQueue flow() {
    return flow;
  }

  void flow(FlowQueue other) {
    flow = other;
  }

  long bytes() {
    return bytes;
  }

  /** Whether its adapter is the next to have a slot: then it waits as long as its band allows. */
  public void promised(boolean next) {
    promised = next;
  }

  /** Whether it was refused before: it won't be for how long the queue has lasted. */
  boolean cameAgain() {
    return cameAgain;
  }

  /** Whether it waits for a slot of its adapter, and not for room. */
  boolean isForSlot() {
    return forSlot || flow.isForSlot();
  }

  /** Longest time that it may wait in nanoseconds, as it asked itself. */
  long ttl() {
    return ttl;
  }

  @Override
  public long since() {
    return since;
  }

  @Override
  public long expiresAt() {
    return expiresAt;
  }

  @Override
  public long firstTokenBy() {
    return firstTokenBy;
  }

  @Override
  public boolean goesOn() {
    return goesOn;
  }

  @Override
  public double work() {
    return work;
  }

  @Override
  public long sequence() {
    return sequence;
  }
}
