package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.tracing.Tracing;
import io.fairlead.epp.transport.Transport;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a gateway listens and proxies.
 *
 * @param host address to listen on
 * @param port 0 for any free one
 * @param security how the port is protected
 * @param maxBodyBytes longest request body; 1 to 1 GiB
 * @param clients what clients may take
 * @param connectTimeout for a connection to an endpoint
 * @param backendIdleTimeout after which an unused connection to an endpoint is closed; shorter than
 *     the 5 s after which Python model servers close theirs, so that they rarely close one in use
 * @param backendStall after which a stream of HTTP/2 fails whose endpoint takes nothing of what is
 *     sent; connections that are not read are the kernel's matter
 * @param maxIdlePerEndpoint unused connections kept per endpoint and event loop
 * @param exposeEndpoint whether responses say in {@code x-fairlead-endpoint} who answered
 * @param endpoints TLS to endpoints; null for plain text
 * @param tracing makes spans of requests; null for none
 * @param origins whose pages a browser lets call
 */
public record GatewayConfig(
    String host,
    int port,
    ServingSecurity security,
    int maxBodyBytes,
    ClientBounds clients,
    Duration connectTimeout,
    Duration backendIdleTimeout,
    Duration backendStall,
    int maxIdlePerEndpoint,
    boolean exposeEndpoint,
    @Nullable EndpointTls endpoints,
    @Nullable Tracing tracing,
    AllowedOrigins origins) {

  public GatewayConfig {
    if (maxBodyBytes < 1 || maxBodyBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "maxBodyBytes is " + maxBodyBytes + "; set 1 to " + (1 << 30));
    }
  }

  /** The defaults: plain text, bodies up to 32 MiB, endpoints not exposed. */
  public static GatewayConfig on(String host, int port) {
    return new GatewayConfig(
        host,
        port,
        new ServingSecurity.PlainText(),
        32 << 20,
        ClientBounds.DEFAULT,
        Duration.ofSeconds(2),
        Duration.ofSeconds(4),
        Transport.STALL,
        64,
        false,
        null,
        null,
        AllowedOrigins.ANY);
  }

  /** The same, protected in another way. */
  public GatewayConfig withSecurity(ServingSecurity how) {
    return new GatewayConfig(
        host,
        port,
        how,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same with another limit on request bodies. */
  public GatewayConfig withMaxBodyBytes(int bytes) {
    return new GatewayConfig(
        host,
        port,
        security,
        bytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same with other bounds on clients. */
  public GatewayConfig withClients(ClientBounds bounds) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        bounds,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same with another time that a connection to an endpoint may take. */
  public GatewayConfig withConnectTimeout(Duration timeout) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        timeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same with another time after which an endpoint's idle connection closes. */
  public GatewayConfig withBackendIdleTimeout(Duration timeout) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        timeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same with another time in which an endpoint may take nothing. */
  public GatewayConfig withBackendStall(Duration time) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        time,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        origins);
  }

  /** The same, telling clients who answered or not. */
  public GatewayConfig withExposeEndpoint(boolean expose) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        expose,
        endpoints,
        tracing,
        origins);
  }

  /** The same, with spans of requests or without. */
  public GatewayConfig withTracing(@Nullable Tracing spans) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        spans,
        origins);
  }

  /** The same, speaking to endpoints so; null for plain text. */
  public GatewayConfig withEndpoints(@Nullable EndpointTls tls) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        tls,
        tracing,
        origins);
  }

  /** The same, called by pages of these origins. */
  public GatewayConfig withOrigins(AllowedOrigins allowed) {
    return new GatewayConfig(
        host,
        port,
        security,
        maxBodyBytes,
        clients,
        connectTimeout,
        backendIdleTimeout,
        backendStall,
        maxIdlePerEndpoint,
        exposeEndpoint,
        endpoints,
        tracing,
        allowed);
  }
}
