package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.transport.Transport;
import java.time.Duration;

/**
 * How long a gateway waits for endpoints, and which connections to them it keeps.
 *
 * @param connect longest time until a connection is there
 * @param idle after which an unused connection is closed; shorter than the 5 s after which Python
 *     model servers close theirs, so that they rarely close one in use
 * @param stall after which a stream of HTTP/2 fails whose endpoint takes nothing of what is sent;
 *     connections that are not read are the kernel's matter
 * @param unused connections kept per endpoint and event loop
 */
public record BackendBounds(Duration connect, Duration idle, Duration stall, int unused) {

  /** The defaults. */
  public static final BackendBounds DEFAULT =
      new BackendBounds(Duration.ofSeconds(2), Duration.ofSeconds(4), Transport.STALL, 64);

  /** The same with another time that a connection may take. */
  public BackendBounds withConnect(Duration time) {
    return new BackendBounds(time, idle, stall, unused);
  }

  /** The same with another time after which an unused connection is closed. */
  public BackendBounds withIdle(Duration time) {
    return new BackendBounds(connect, time, stall, unused);
  }

  /** The same with another time in which an endpoint may take nothing. */
  public BackendBounds withStall(Duration time) {
    return new BackendBounds(connect, idle, time, unused);
  }
}
