package io.fairlead.lab.simulator;

import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.workload.RequestShape;
import org.jspecify.annotations.Nullable;

/**
 * One request on its way, from its arrival to its end, however often it is sent. What the core
 * wants done with it is kept until the event that causes it is over.
 */
final class Flight implements RequestListener {

  /** The header in which a server is told who computes a prompt for it. */
  private static final String PREFILLER = "x-prefiller-host-port";

  final RequestShape shape;
  final long arrivedAt;
  final SimulatedPicker picker;

  /** Whether its answer comes token by token, or in one piece. */
  final boolean streamed;

  /** What its blocks are known as to servers. */
  final long[] blocks;

  /** The picker's name for it. */
  long ticket = -1;

  /** Who has it; null between attempts and when it is over. */
  @Nullable SimulatedServer server;

  /** Who computes its prompt for {@link #server}, until that is done; null for that itself. */
  @Nullable SimulatedServer prefiller;

  /** Prompt tokens that came to {@link #server} from elsewhere. */
  int transferred;

  /** The engine's name for it, while one has it. */
  int id = SimulatedServer.NOWHERE;

  /** Whether it waited in its picker: then another request's event sends it. */
  boolean waited;

  /** Counts sends: what was to become of an earlier one no longer matters. */
  int attempts;

  long firstTokenAt = -1;
  int cachedTokens;

  /** What the picker believed of it when it sent it. */
  int believedCached;

  /** Whether its client has had a byte of its answer. */
  boolean answered;

  boolean over;

  /** What shadows are asked about once it is sent; null where there are none. */
  @Nullable RequestFacts toShadow;

  Flight(
      RequestShape shape, long arrivedAt, SimulatedPicker picker, boolean streamed, long[] blocks) {
    this.shape = shape;
    this.arrivedAt = arrivedAt;
    this.picker = picker;
    this.streamed = streamed;
    this.blocks = blocks;
  }

  /** Whose engine has it, or will have it; null between attempts and when it is over. */
  @Nullable SimulatedServer holder() {
    return prefiller == null ? server : prefiller;
  }

  /** Whether a server still has it by the given attempt, so that what comes of that is awaited. */
  boolean isAt(@Nullable SimulatedServer which, int attempt) {
    return !over && server == which && attempts == attempt;
  }

  @Override
  public void waits(long request, Criticality criticality) {
    ticket = request;
    waited = true;
  }

  @Override
  public void send(long request, Route route) {
    ticket = request;
    picker.sent(this, request, route);
    String prefiller = "";
    for (Route.Header header : route.requestHeaders()) {
      prefiller = header.name().equals(PREFILLER) ? header.value() : prefiller;
    }
    picker.wants(new Effect.Send(this, route.endpoint(), prefiller));
  }

  @Override
  public void pass(long request) {
    picker.wants(new Effect.Pass(this));
  }

  @Override
  public void reject(long request, Rejection rejection) {
    ticket = request;
    toShadow = null;
    picker.gaveUp(request);
    picker.wants(new Effect.Reject(this, rejection));
  }

  @Override
  public void evict(long request, Rejection rejection) {
    picker.wants(new Effect.Evict(this));
  }
}
