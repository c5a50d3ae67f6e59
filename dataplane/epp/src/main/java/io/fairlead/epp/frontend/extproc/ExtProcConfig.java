package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.tracing.Tracing;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How to serve the external processing protocol.
 *
 * @param host address to listen on
 * @param port 0 to 65535; 0 takes a free one
 * @param security plain text, or TLS with which certificate
 * @param maxBodyBytes longest request body that is held to be read, 1 to 1 GiB; a longer one is
 *     answered with 413
 * @param healthChecking whether this port answers health checks too
 * @param bodyTimeout longest time without a piece of a request body that has begun; then it is
 *     answered with 408. Proxies have no such bound of their own in full duplex
 * @param leaveAfterPick whether each stream is left once its request is sent: nothing of the answer
 *     passes through here then, and nothing is learned from it
 * @param tracing makes spans of requests; null for none
 */
public record ExtProcConfig(
    String host,
    int port,
    ServingSecurity security,
    int maxBodyBytes,
    boolean healthChecking,
    Duration bodyTimeout,
    boolean leaveAfterPick,
    @Nullable Tracing tracing) {

  /** Longest request body when nothing else is said: 32 MiB. */
  public static final int DEFAULT_MAX_BODY_BYTES = 32 << 20;

  /** Longest wait for more of a request body when nothing else is said. */
  public static final Duration DEFAULT_BODY_TIMEOUT = Duration.ofSeconds(60);

  private static final int LARGEST_BODY = 1 << 30;

  public ExtProcConfig {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " is not in 0..65535");
    }
    if (maxBodyBytes < 1 || maxBodyBytes > LARGEST_BODY) {
      throw new IllegalArgumentException(
          "maxBodyBytes: " + maxBodyBytes + " is not in 1.." + LARGEST_BODY);
    }
    if (bodyTimeout.isNegative() || bodyTimeout.isZero()) {
      throw new IllegalArgumentException("bodyTimeout: " + bodyTimeout + " is not above 0");
    }
  }

  /** With the default wait for bodies, staying with every stream. */
  public ExtProcConfig(
      String host, int port, ServingSecurity security, int maxBodyBytes, boolean healthChecking) {
    this(host, port, security, maxBodyBytes, healthChecking, DEFAULT_BODY_TIMEOUT, false, null);
  }

  /** The same, where each stream is left once its request is sent, or is not. */
  public ExtProcConfig withLeaveAfterPick(boolean leave) {
    return new ExtProcConfig(
        host, port, security, maxBodyBytes, healthChecking, bodyTimeout, leave, tracing);
  }

  /** The same, with spans of requests or without. */
  public ExtProcConfig withTracing(@Nullable Tracing spans) {
    return new ExtProcConfig(
        host, port, security, maxBodyBytes, healthChecking, bodyTimeout, leaveAfterPick, spans);
  }
}
