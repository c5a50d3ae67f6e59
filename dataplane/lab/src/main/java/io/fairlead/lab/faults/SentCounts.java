package io.fairlead.lab.faults;

import io.fairlead.lab.load.PickCounts;
import java.io.IOException;
import java.net.URI;
import java.util.Map;

/** What servers were sent: as the picker's page says where it does, and as they heard it. */
final class SentCounts {

  private final FaultyPool pool;
  private final URI page;
  private final Sends heard;
  private final Sends picked;
  private boolean counted;

  SentCounts(FaultyPool pool, URI page) {
    this.pool = pool;
    this.page = page;
    this.heard = new Sends(pool.names().size());
    this.picked = new Sends(pool.names().size());
  }

  synchronized void look(double seconds) {
    heard.look(seconds, pool.heard());
    try {
      Map<String, Long> counts = PickCounts.read(page);
      counted |= !counts.isEmpty();
      picked.look(
          seconds,
          pool.names().stream().mapToLong(name -> counts.getOrDefault(name, 0L)).toArray());
    } catch (IOException notThere) {
      // A picker that counts nothing, or has no time to tell: the look before stands.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** By the picker; by the servers where it doesn't count. */
  synchronized Sends sent() {
    return counted ? picked : heard;
  }

  synchronized Sends heard() {
    return heard;
  }
}
