package io.fairlead.epp.frontend.gateway;

import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Bytes that wait here for clients: for one to take them, or to send the rest of them. Bounds the
 * memory that they take together: whose have waited for longest makes room for the next. Not
 * thread-safe: owned by an event loop, as are the connections of these clients.
 */
final class ClientBytes {

  private static final Logger LOG = LoggerFactory.getLogger(ClientBytes.class);

  /** Whom bytes wait for. */
  interface Client {

    /** Ends its connection, and drops what waits. */
    void cutOff();
  }

  private final long most;
  private final LongSupplier clock;
  private final String whom;

  /** How much waits for each, by how long it has; a client that goes on begins anew. */
  private final SequencedMap<Client, Long> waiting = new LinkedHashMap<>();

  private long bytes;

  /** Clients cut off of which the log has no line yet: where there is one there are many. */
  private int untold;

  private final RareTelling telling = new RareTelling();

  /**
   * None yet.
   *
   * @param most bytes that may wait
   * @param clock in nanoseconds
   * @param whom which clients they wait for, for people
   */
  ClientBytes(long most, LongSupplier clock, String whom) {
    this.most = most;
    this.clock = clock;
    this.whom = whom;
  }

  /** So much waits for this client. */
  void add(Client client, long now) {
    Long before = waiting.put(client, now);
    bytes += now - (before == null ? 0 : before);
    while (bytes > most && waiting.size() > 1) {
      Client longest = waiting.firstEntry().getKey();
      remove(longest);
      longest.cutOff();
      untold++;
    }
    if (untold > 0 && telling.isDue(clock.getAsLong())) {
      LOG.warn(
          "{} clients cut off that {}: more than {} bytes waited for such", untold, whom, most);
      untold = 0;
    }
  }

  /** Nothing does any more, or it is gone. */
  void remove(Client client) {
    Long waited = waiting.remove(client);
    if (waited != null) {
      bytes -= waited;
    }
  }
}
