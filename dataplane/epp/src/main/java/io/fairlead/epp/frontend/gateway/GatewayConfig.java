package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.tracing.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * How a gateway listens and proxies.
 *
 * @param host address to listen on
 * @param port 0 for any free one
 * @param security how the port is protected
 * @param maxBodyBytes longest request body; 1 to 1 GiB
 * @param clients what clients may take
 * @param backends what endpoints may take
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
    BackendBounds backends,
    @Nullable EndpointTls endpoints,
    @Nullable Tracing tracing,
    AllowedOrigins origins) {

  public GatewayConfig {
    if (maxBodyBytes < 1 || maxBodyBytes > 1 << 30) {
      throw new IllegalArgumentException(
          "maxBodyBytes is " + maxBodyBytes + "; set 1 to " + (1 << 30));
    }
  }

  /** The defaults: plain text, bodies up to 32 MiB. */
  public static GatewayConfig on(String host, int port) {
    return new GatewayConfig(
        host,
        port,
        new ServingSecurity.PlainText(),
        32 << 20,
        ClientBounds.DEFAULT,
        BackendBounds.DEFAULT,
        null,
        null,
        AllowedOrigins.ANY);
  }

  /** The same, protected in another way. */
  public GatewayConfig withSecurity(ServingSecurity how) {
    return new GatewayConfig(
        host, port, how, maxBodyBytes, clients, backends, endpoints, tracing, origins);
  }

  /** The same with another limit on request bodies. */
  public GatewayConfig withMaxBodyBytes(int bytes) {
    return new GatewayConfig(
        host, port, security, bytes, clients, backends, endpoints, tracing, origins);
  }

  /** The same with other bounds on clients. */
  public GatewayConfig withClients(ClientBounds bounds) {
    return new GatewayConfig(
        host, port, security, maxBodyBytes, bounds, backends, endpoints, tracing, origins);
  }

  /** The same with other bounds on endpoints. */
  public GatewayConfig withBackends(BackendBounds bounds) {
    return new GatewayConfig(
        host, port, security, maxBodyBytes, clients, bounds, endpoints, tracing, origins);
  }

  /** The same, with spans of requests or without. */
  public GatewayConfig withTracing(@Nullable Tracing spans) {
    return new GatewayConfig(
        host, port, security, maxBodyBytes, clients, backends, endpoints, spans, origins);
  }

  /** The same, speaking to endpoints so; null for plain text. */
  public GatewayConfig withEndpoints(@Nullable EndpointTls tls) {
    return new GatewayConfig(
        host, port, security, maxBodyBytes, clients, backends, tls, tracing, origins);
  }

  /** The same, called by pages of these origins. */
  public GatewayConfig withOrigins(AllowedOrigins allowed) {
    return new GatewayConfig(
        host, port, security, maxBodyBytes, clients, backends, endpoints, tracing, allowed);
  }
}
