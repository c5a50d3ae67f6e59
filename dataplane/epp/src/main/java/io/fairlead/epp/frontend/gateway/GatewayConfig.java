package io.fairlead.epp.frontend.gateway;

import java.time.Duration;

/**
 * How a gateway listens and proxies.
 *
 * @param host address to listen on
 * @param port 0 for any free one
 * @param maxBodyBytes longest request body; 1 to 1 GiB
 * @param connectTimeout for a connection to an endpoint
 * @param clientIdleTimeout after which a client's connection that brings no request, or no more of
 *     one, is closed
 * @param clientStallTimeout after which a client that takes nothing of a response that waits for it
 *     is cut off, and what it asked for is cancelled
 * @param backendIdleTimeout after which an unused connection to an endpoint is closed; shorter than
 *     the 5 s after which Python model servers close theirs, so that they rarely close one in use
 * @param maxIdlePerEndpoint unused connections kept per endpoint and event loop
 * @param exposeEndpoint whether responses say in {@code x-fairlead-endpoint} who answered
 */
public record GatewayConfig(
    String host,
    int port,
    int maxBodyBytes,
    Duration connectTimeout,
    Duration clientIdleTimeout,
    Duration clientStallTimeout,
    Duration backendIdleTimeout,
    int maxIdlePerEndpoint,
    boolean exposeEndpoint) {

  public GatewayConfig {
    if (maxBodyBytes < 1 || maxBodyBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "maxBodyBytes is " + maxBodyBytes + "; set 1 to " + (1 << 30));
    }
  }

  /** The defaults: bodies up to 32 MiB, endpoints not exposed. */
  public static GatewayConfig on(String host, int port) {
    return new GatewayConfig(
        host,
        port,
        32 << 20,
        Duration.ofSeconds(2),
        Duration.ofSeconds(75),
        Duration.ofMinutes(5),
        Duration.ofSeconds(4),
        64,
        false);
  }

  /** The same with another limit on request bodies. */
  public GatewayConfig withMaxBodyBytes(int bytes) {
    return new GatewayConfig(
        host,
        port,
        bytes,
        connectTimeout,
        clientIdleTimeout,
        clientStallTimeout,
        backendIdleTimeout,
        maxIdlePerEndpoint,
        exposeEndpoint);
  }

  /** The same with another time that a connection to an endpoint may take. */
  public GatewayConfig withConnectTimeout(Duration timeout) {
    return new GatewayConfig(
        host,
        port,
        maxBodyBytes,
        timeout,
        clientIdleTimeout,
        clientStallTimeout,
        backendIdleTimeout,
        maxIdlePerEndpoint,
        exposeEndpoint);
  }

  /** The same with other times after which a client's or an endpoint's idle connection closes. */
  public GatewayConfig withIdleTimeouts(Duration client, Duration backend) {
    return new GatewayConfig(
        host,
        port,
        maxBodyBytes,
        connectTimeout,
        client,
        clientStallTimeout,
        backend,
        maxIdlePerEndpoint,
        exposeEndpoint);
  }

  /** The same with another time after which a client that stopped reading is cut off. */
  public GatewayConfig withClientStallTimeout(Duration timeout) {
    return new GatewayConfig(
        host,
        port,
        maxBodyBytes,
        connectTimeout,
        clientIdleTimeout,
        timeout,
        backendIdleTimeout,
        maxIdlePerEndpoint,
        exposeEndpoint);
  }

  /** The same, telling clients who answered or not. */
  public GatewayConfig withExposeEndpoint(boolean expose) {
    return new GatewayConfig(
        host,
        port,
        maxBodyBytes,
        connectTimeout,
        clientIdleTimeout,
        clientStallTimeout,
        backendIdleTimeout,
        maxIdlePerEndpoint,
        expose);
  }
}
