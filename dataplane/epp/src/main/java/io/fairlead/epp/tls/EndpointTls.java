package io.fairlead.epp.tls;

import io.netty.channel.Channel;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.nio.file.Path;
import java.time.Duration;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** TLS to endpoints, ready for connections. Safe to use from any thread. */
public final class EndpointTls {

  /** What is spoken inside of TLS, which endpoints have to agree to. */
  public enum Protocol {
    HTTP_1_1(ApplicationProtocolNames.HTTP_1_1),
    HTTP_2(ApplicationProtocolNames.HTTP_2);

    private final String name;

    Protocol(String name) {
      this.name = name;
    }

    /**
     * Whether the other end has agreed. One that says nothing of protocols means HTTP/1.1.
     *
     * @param tls whose handshake is over
     */
    public boolean isAgreed(SslHandler tls) {
      String chosen = tls.applicationProtocol();
      return chosen == null ? this == HTTP_1_1 : chosen.equals(name);
    }
  }

  private final SslContext http1;
  private final SslContext http2;
  private final @Nullable String name;

  private EndpointTls(SslContext http1, SslContext http2, @Nullable String name) {
    this.http1 = http1;
    this.http2 = http2;
    this.name = name;
  }

  /**
   * Makes it ready; null for plain text.
   *
   * @throws IllegalArgumentException if the file of the authorities can't be used; the message
   *     names it
   */
  public static @Nullable EndpointTls of(EndpointSecurity security) {
    return switch (security) {
      case EndpointSecurity.PlainText _ -> null;
      case EndpointSecurity.Unverified _ ->
          new EndpointTls(
              context(unverified(), Protocol.HTTP_1_1),
              context(unverified(), Protocol.HTTP_2),
              null);
      case EndpointSecurity.Verified(Path authorities, String name) ->
          new EndpointTls(
              context(verified(authorities), Protocol.HTTP_1_1),
              context(verified(authorities), Protocol.HTTP_2),
              name);
    };
  }

  private static SslContextBuilder unverified() {
    return SslContextBuilder.forClient()
        .trustManager(InsecureTrustManagerFactory.INSTANCE)
        .endpointIdentificationAlgorithm("");
  }

  private static SslContextBuilder verified(@Nullable Path authorities) {
    SslContextBuilder client =
        SslContextBuilder.forClient().endpointIdentificationAlgorithm("HTTPS");
    if (authorities == null) {
      return client;
    }
    try {
      return client.trustManager(authorities.toFile());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "endpoint-ca-file: " + authorities + " is no file of PEM certificates", e);
    }
  }

  private static SslContext context(SslContextBuilder client, Protocol protocol) {
    try {
      return client
          .sslProvider(SslProvider.JDK)
          .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
          .applicationProtocolConfig(
              new ApplicationProtocolConfig(
                  ApplicationProtocolConfig.Protocol.ALPN,
                  ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                  ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                  protocol.name))
          .build();
    } catch (SSLException e) {
      throw new IllegalArgumentException("TLS to endpoints can't be set up", e);
    }
  }

  /**
   * Adds TLS to a connection that is to be made, before what reads it is added.
   *
   * @param tls null for plain text: then nothing is added
   * @param address of the endpoint
   * @param handshake longest time until both ends agree
   */
  public static void addTo(
      Channel connection,
      @Nullable EndpointTls tls,
      Protocol protocol,
      String address,
      int port,
      Duration handshake) {
    if (tls == null) {
      return;
    }
    SslContext context =
        switch (protocol) {
          case HTTP_1_1 -> tls.http1;
          case HTTP_2 -> tls.http2;
        };
    SslHandler handler =
        context.newHandler(connection.alloc(), tls.name == null ? address : tls.name, port);
    handler.setHandshakeTimeoutMillis(handshake.toMillis());
    connection.pipeline().addLast(handler);
  }
}
