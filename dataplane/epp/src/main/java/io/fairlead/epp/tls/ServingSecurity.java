package io.fairlead.epp.tls;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.codec.http2.Http2SecurityUtil;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.netty.handler.ssl.SupportedCipherSuiteFilter;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How a port is protected. */
public sealed interface ServingSecurity {

  /** Not at all: plain text. */
  record PlainText() implements ServingSecurity {}

  /** TLS with a certificate made at start; for proxies that do not verify it. */
  record SelfSigned() implements ServingSecurity {}

  /**
   * TLS with the certificate of a folder, as a mounted Kubernetes TLS secret; read again when it
   * changes.
   *
   * @param folder holds {@code tls.crt} and {@code tls.key}, PEM; the key as PKCS#8, PKCS#1 or SEC
   *     1
   */
  record FromFolder(Path folder) implements ServingSecurity {}

  /**
   * This, ready to serve.
   *
   * @param ssl what Netty needs, or null for plain text
   * @param certificate to be looked after while it serves, or null where nothing changes
   * @param fixedEnd when a certificate ends that nothing changes, or null
   */
  record Ready(
      @Nullable SslContext ssl,
      @Nullable ServedCertificate certificate,
      @Nullable Instant fixedEnd) {

    /** When the certificate ends that new connections get now; null in plain text. Any thread. */
    public @Nullable Instant certificateEnd() {
      return certificate == null ? fixedEnd : certificate.end();
    }

    /** Looks after the certificate until what is returned is run. */
    public Runnable lookAfter() {
      ServedCertificate looked = certificate;
      if (looked == null) {
        return () -> {};
      }
      ScheduledExecutorService thread =
          Executors.newSingleThreadScheduledExecutor(
              Thread.ofPlatform().daemon().name("fairlead-certificate").factory());
      var _ =
          thread.scheduleWithFixedDelay(looked::look, LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
      return thread::shutdownNow;
    }
  }

  /** Between two looks at the files of a certificate. */
  long LOOK_SECONDS = 2;

  /** Makes it ready for gRPC; see {@link #ready(Protocols)}. */
  default Ready ready() {
    return ready(Protocols.GRPC);
  }

  /** What a port speaks inside of TLS. */
  enum Protocols {
    GRPC,
    /** HTTP/2, or HTTP/1.1 with clients that don't know that. */
    HTTP
  }

  /**
   * Makes it ready.
   *
   * @throws IllegalStateException if a certificate can't be had; the message names the file
   */
  default Ready ready(Protocols protocols) {
    try {
      return switch (this) {
        case PlainText _ -> new Ready(null, null, null);
        case SelfSigned _ -> {
          SelfSignedCertificate made =
              SelfSignedCertificate.create(
                  "fairlead-epp", InstantSource.system(), new SecureRandom());
          yield new Ready(
              context(SslContextBuilder.forServer(made.key(), made.certificate()), protocols),
              null,
              made.certificate().getNotAfter().toInstant());
        }
        case FromFolder(Path folder) -> {
          ServedCertificate certificate = new ServedCertificate(folder);
          yield new Ready(
              context(SslContextBuilder.forServer(certificate), protocols), certificate, null);
        }
      };
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("TLS can't be set up", e);
    }
  }

  private static SslContext context(SslContextBuilder builder, Protocols protocols)
      throws IOException {
    return switch (protocols) {
      case GRPC -> GrpcSslContexts.configure(builder, SslProvider.JDK).build();
      case HTTP ->
          builder
              .sslProvider(SslProvider.JDK)
              .ciphers(Http2SecurityUtil.CIPHERS, SupportedCipherSuiteFilter.INSTANCE)
              .applicationProtocolConfig(
                  new ApplicationProtocolConfig(
                      ApplicationProtocolConfig.Protocol.ALPN,
                      ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
                      ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
                      ApplicationProtocolNames.HTTP_2,
                      ApplicationProtocolNames.HTTP_1_1))
              .build();
    };
  }
}
