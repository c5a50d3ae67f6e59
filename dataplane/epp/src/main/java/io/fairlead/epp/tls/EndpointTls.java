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
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS to endpoints, ready for connections. A file of authorities is read again when it changes:
 * connections that are made from then on trust the new ones. One that can't be used is logged, and
 * the last good one stays. Safe to use from any thread.
 */
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

  private static final Logger LOG = LoggerFactory.getLogger(EndpointTls.class);

  /** What connections are made with, for each protocol. */
  private record Contexts(SslContext http1, SslContext http2) {

    static Contexts of(Supplier<SslContextBuilder> client) {
      return new Contexts(
          context(client.get(), Protocol.HTTP_1_1), context(client.get(), Protocol.HTTP_2));
    }
  }

  /** Null where nothing can change. */
  private final @Nullable Path authorities;

  private final @Nullable String name;
  private volatile Contexts contexts;
  private byte[] read = {};

  /** Why the file could not be used when it was looked at last; empty when it could. */
  private String problem = "";

  private EndpointTls(Contexts contexts, @Nullable String name) {
    this.authorities = null;
    this.contexts = contexts;
    this.name = name;
  }

  private EndpointTls(Path authorities, @Nullable String name) {
    this.authorities = authorities;
    this.name = name;
    read = bytes(authorities);
    contexts = trusting(authorities, read);
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
          new EndpointTls(Contexts.of(EndpointTls::unverified), null);
      case EndpointSecurity.Verified(Path authorities, String name) ->
          authorities == null
              ? new EndpointTls(Contexts.of(EndpointTls::verified), name)
              : new EndpointTls(authorities, name);
    };
  }

  /** Looks whether the file of the authorities has changed. Reads it: not for an event loop. */
  public synchronized void look() {
    Path file = authorities;
    if (file == null) {
      return;
    }
    try {
      byte[] now = bytes(file);
      if (!Arrays.equals(now, read)) {
        contexts = trusting(file, now);
        read = now;
        LOG.info("endpoint-ca-file: {} has changed and is in use", file);
      }
      problem = "";
    } catch (RuntimeException e) {
      String why = String.valueOf(e.getMessage());
      if (!why.equals(problem)) {
        problem = why;
        LOG.warn("{}; the last good one stays in use", why);
      }
    }
  }

  private static byte[] bytes(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw unusable(file, e);
    }
  }

  private static Contexts trusting(Path file, byte[] authorities) {
    try {
      return Contexts.of(() -> verified().trustManager(new ByteArrayInputStream(authorities)));
    } catch (IllegalArgumentException e) {
      throw unusable(file, e);
    }
  }

  private static IllegalArgumentException unusable(Path file, Exception cause) {
    return new IllegalArgumentException(
        "endpoint-ca-file: " + file + " is no file of PEM certificates", cause);
  }

  private static SslContextBuilder unverified() {
    return SslContextBuilder.forClient()
        .trustManager(InsecureTrustManagerFactory.INSTANCE)
        .endpointIdentificationAlgorithm("");
  }

  private static SslContextBuilder verified() {
    return SslContextBuilder.forClient().endpointIdentificationAlgorithm("HTTPS");
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
    Contexts now = tls.contexts;
    SslContext context =
        switch (protocol) {
          case HTTP_1_1 -> now.http1;
          case HTTP_2 -> now.http2;
        };
    SslHandler handler =
        context.newHandler(connection.alloc(), tls.name == null ? address : tls.name, port);
    handler.setHandshakeTimeoutMillis(handshake.toMillis());
    connection.pipeline().addLast(handler);
  }
}
