package io.fairlead.epp.frontend.gateway;

import java.time.Duration;

/**
 * What clients may take of a gateway. Bounds are on what comes to pass in a time, not on the pauses
 * between bytes, which a client can make as short as it likes.
 *
 * @param idle after which a connection that brings no request is closed
 * @param head longest time from the first byte of a request to the end of its head; no time passes
 *     while an earlier request of the connection is served
 * @param bodyWindow time in which a body that is under way has to bring its least; what a client
 *     can't send since there is no memory for it does not count
 * @param rate the least, in bytes a second: of a body, and of what is taken of a response
 * @param stall that a client may let a response wait for which it takes nothing of; with each byte
 *     it has as much longer as that takes at the least rate, up to this time again. Then it is cut
 *     off, and what it asked for is cancelled
 * @param connections that may be open; those beyond are turned away
 */
public record ClientBounds(
    Duration idle, Duration head, Duration bodyWindow, int rate, Duration stall, int connections) {

  /** The defaults: 32 kbit/s, over 20 s. */
  public static final ClientBounds DEFAULT =
      new ClientBounds(
          Duration.ofSeconds(75),
          Duration.ofSeconds(30),
          Duration.ofSeconds(20),
          4_096,
          Duration.ofMinutes(5),
          16_384);

  public ClientBounds {
    if (rate < 1) {
      throw new IllegalArgumentException("rate is " + rate + "; set at least 1");
    }
    if (connections < 1) {
      throw new IllegalArgumentException("connections is " + connections + "; set at least 1");
    }
  }

  /** The same with another time that a connection may be idle. */
  public ClientBounds withIdle(Duration time) {
    return new ClientBounds(time, head, bodyWindow, rate, stall, connections);
  }

  /** The same with another time that a head may take. */
  public ClientBounds withHead(Duration time) {
    return new ClientBounds(idle, time, bodyWindow, rate, stall, connections);
  }

  /** The same with another least of a body, and another rate. */
  public ClientBounds withBody(Duration window, int bytesPerSecond) {
    return new ClientBounds(idle, head, window, bytesPerSecond, stall, connections);
  }

  /** The same with another time after which a client that doesn't read is cut off. */
  public ClientBounds withStall(Duration time) {
    return new ClientBounds(idle, head, bodyWindow, rate, time, connections);
  }

  /** The same with another number of connections. */
  public ClientBounds withConnections(int count) {
    return new ClientBounds(idle, head, bodyWindow, rate, stall, count);
  }

  /** What has to come in a window, in bytes. */
  long leastInWindow() {
    return (long) Math.ceil(rate * (bodyWindow.toNanos() / 1e9));
  }
}
