package io.fairlead.epp.handover;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * How pickers of one pool hand over what they know.
 *
 * @param host where others may ask this one
 * @param port the same; 0 for any that is free
 * @param secretFile has what all of them share: who doesn't know it is told nothing and believed
 *     nothing
 * @param peers whom this one asks when it starts, as {@code host:port}; empty for those that the
 *     picker's Service lists, on {@code port}
 * @param patience how long readiness waits for it at most, from when config and endpoints are there
 */
public record HandOverSettings(
    String host, int port, Path secretFile, List<String> peers, Duration patience) {

  /** How long readiness waits unless something else is said. */
  public static final Duration USUAL_PATIENCE = Duration.ofSeconds(5);

  public HandOverSettings {
    peers = List.copyOf(peers);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port is " + port + "; set 0 to 65535");
    }
    if (patience.isNegative() || patience.compareTo(Duration.ofMinutes(1)) > 0) {
      throw new IllegalArgumentException("patience is " + patience + "; set 0 to 1 minute");
    }
  }
}
