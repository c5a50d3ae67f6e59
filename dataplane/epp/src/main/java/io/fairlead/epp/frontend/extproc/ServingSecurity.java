package io.fairlead.epp.frontend.extproc;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.InstantSource;
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
   */
  record Ready(@Nullable SslContext ssl, @Nullable ServedCertificate certificate) {}

  /**
   * Makes it ready.
   *
   * @throws IllegalStateException if a certificate can't be had; the message names the file
   */
  default Ready ready() {
    try {
      return switch (this) {
        case PlainText _ -> new Ready(null, null);
        case SelfSigned _ -> {
          SelfSignedCertificate made =
              SelfSignedCertificate.create(
                  "fairlead-epp", InstantSource.system(), new SecureRandom());
          yield new Ready(http2(SslContextBuilder.forServer(made.key(), made.certificate())), null);
        }
        case FromFolder(Path folder) -> {
          ServedCertificate certificate = new ServedCertificate(folder);
          yield new Ready(http2(SslContextBuilder.forServer(certificate)), certificate);
        }
      };
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("TLS can't be set up", e);
    }
  }

  private static SslContext http2(SslContextBuilder builder) throws IOException {
    return GrpcSslContexts.configure(builder, SslProvider.JDK).build();
  }
}
