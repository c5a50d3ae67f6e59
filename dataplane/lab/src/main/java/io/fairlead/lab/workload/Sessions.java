package io.fairlead.lab.workload;

import java.util.IdentityHashMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Conversations that begin however the earlier ones fare, and go on turn by turn. Who is not served
 * gives up.
 */
final class Sessions implements Traffic {

  private final ArrivalTimes times;
  private final LongFunction<Conversation> conversations;
  private final IdentityHashMap<RequestShape, Conversation> waiting = new IdentityHashMap<>();
  private long begun;

  /**
   * @param times when they begin
   * @param conversations the n-th of them, from 0 on
   */
  Sessions(ArrivalTimes times, LongFunction<Conversation> conversations) {
    this.times = times;
    this.conversations = conversations;
  }

  @Override
  public Arrival next() {
    return turn(times.next(), conversations.apply(begun++));
  }

  @Override
  public void ended(long now, RequestShape request, boolean served, Consumer<Arrival> follow) {
    Conversation conversation = waiting.remove(request);
    if (conversation != null && served && conversation.goesOn()) {
      follow.accept(turn(now + conversation.thinkNanos(), conversation));
    }
  }

  private Arrival turn(long at, Conversation conversation) {
    RequestShape request = conversation.turn();
    waiting.put(request, conversation);
    return new Arrival(at, request);
  }
}
