package io.fairlead.epp.frontend.gateway;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers that wait for clients which take none of them now: bounds the memory that they take
 * together. Who has held one up for longest makes room for the next. Not thread-safe: owned by an
 * event loop, as are the connections of these clients.
 */
final class HeldAnswers {

  private static final Logger LOG = LoggerFactory.getLogger(HeldAnswers.class);

  private final long most;
  private final LongSupplier clock;

  /** How much waits for each, by how long it has; a client that takes some begins anew. */
  private final SequencedMap<StallGuard, Long> held = new LinkedHashMap<>();

  private long bytes;

  /** Clients cut off of which the log has no line yet: where there is one there are many. */
  private int untold;

  private final RareTelling telling = new RareTelling();

  /**
   * None yet.
   *
   * @param most bytes that may wait
   * @param clock in nanoseconds
   */
  HeldAnswers(long most, LongSupplier clock) {
    this.most = most;
    this.clock = clock;
  }

  /** So much waits for this client. */
  void add(StallGuard client, long waiting) {
    Long before = held.put(client, waiting);
    bytes += waiting - (before == null ? 0 : before);
    while (bytes > most && held.size() > 1) {
      Map.Entry<StallGuard, Long> longest = held.firstEntry();
      remove(longest.getKey());
      longest.getKey().cutOff();
      untold++;
    }
    if (untold > 0 && telling.isDue(clock.getAsLong())) {
      LOG.warn(
          "{} clients cut off that took none of their answers: more than {} bytes waited for such",
          untold,
          most);
      untold = 0;
    }
  }

  /** It takes some, or is gone. */
  void remove(StallGuard client) {
    Long waited = held.remove(client);
    if (waited != null) {
      bytes -= waited;
    }
  }
}
