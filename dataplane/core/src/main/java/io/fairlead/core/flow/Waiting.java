package io.fairlead.core.flow;

import io.fairlead.plugin.WaitingRequest;
import org.jspecify.annotations.Nullable;

/** A request that waits. Made when it begins to, and let go of when its wait is over. */
public final class Waiting implements WaitingRequest {

  private final long request;
  private FlowQueue flow;
  private final Demand demand;
  private final long since;
  private final long sequence;
  long expiresAt;
  long rank;

  /** Where it stands in its flow's heap and in that of all by expiry; -1 outside of them. */
  int inFlow = -1;

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
   */
  public record Demand(double work, long bytes, long ttl, long firstTokenBy, boolean goesOn) {}

  Waiting(long request, FlowQueue flow, Demand demand, long since, long sequence) {
    this.request = request;
    this.flow = flow;
    this.demand = demand;
    this.since = since;
    this.sequence = sequence;
  }

  /** The request's ticket. */
  public long request() {
    return request;
  }

  /** Whose it is. */
  public FlowQueue flow() {
    return flow;
  }

  void flow(FlowQueue other) {
    flow = other;
  }

  Demand demand() {
    return demand;
  }

  long bytes() {
    return demand.bytes();
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
    return demand.firstTokenBy();
  }

  @Override
  public boolean goesOn() {
    return demand.goesOn();
  }

  @Override
  public double work() {
    return demand.work();
  }

  @Override
  public long sequence() {
    return sequence;
  }
}
