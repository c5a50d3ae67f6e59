package io.fairlead.lab.simulator;

import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.lab.workload.RequestShape;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One replica of the endpoint picker: the production core, told what it would be told. */
final class SimulatedPicker implements RequestListener {

  private static final int BYTES_PER_TOKEN = 4;

  /** Events of a stream that carry no token, as the servers that it plays send them. */
  private static final int EVENTS_AROUND = 2;

  private final PoolCore core = new PoolCore();
  private final Map<String, SimulatedServer> servers = new HashMap<>();
  private @Nullable SimulatedServer chosen;

  SimulatedPicker(CompiledConfig config, List<SimulatedServer> pool) {
    core.configure(0, config);
    core.endpoints(0, pool.stream().map(SimulatedServer::spec).toList());
    pool.forEach(server -> servers.put(server.spec().name(), server));
  }

  void scrape(long now, SimulatedServer server) {
    core.scraped(now, server.spec(), now, server.metrics());
  }

  /** Where the request goes; null when it is turned away. */
  @Nullable SimulatedServer place(long now, Flight flight, long seed) {
    RequestShape shape = flight.shape;
    RequestFacts facts =
        new RequestFacts(
            shape.model(),
            seed,
            Arrays.copyOf(shape.blocks(), shape.promptBlocks()),
            shape.promptTokens(),
            -1,
            (long) shape.promptTokens() * BYTES_PER_TOKEN);
    chosen = null;
    flight.ticket = core.arrive(now, facts, this);
    return chosen;
  }

  void firstToken(long now, Flight flight) {
    core.firstByte(now, flight.ticket);
  }

  void finished(long now, Flight flight) {
    RequestShape shape = flight.shape;
    core.ended(
        now,
        flight.ticket,
        Outcome.COMPLETED,
        new Usage(
            shape.promptTokens(),
            shape.outputTokens(),
            flight.cachedTokens,
            shape.outputTokens() + EVENTS_AROUND));
  }

  /** The server answered that it can't serve this. */
  void refused(long now, Flight flight) {
    core.ended(now, flight.ticket, Outcome.COMPLETED, Usage.UNKNOWN);
  }

  int active() {
    return core.active();
  }

  @Override
  public void send(long request, Route route) {
    chosen = servers.get(route.endpoint());
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    chosen = null;
  }
}
