package io.fairlead.epp.frontend.extproc;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Files;
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
   * TLS with the certificate of a folder, as a mounted Kubernetes TLS secret.
   *
   * @param folder holds {@code tls.crt} and {@code tls.key}, PEM
   */
  record FromFolder(Path folder) implements ServingSecurity {}

  /**
   * What Netty needs to serve, or null for plain text.
   *
   * @throws IllegalStateException if a certificate can't be had; the message names the file
   */
  default @Nullable SslContext sslContext() {
    return switch (this) {
      case PlainText _ -> null;
      case SelfSigned _ -> {
        try {
          SelfSignedCertificate made =
              SelfSignedCertificate.create(
                  "fairlead-epp", InstantSource.system(), new SecureRandom());
          yield http2(SslContextBuilder.forServer(made.key(), made.certificate()));
        } catch (GeneralSecurityException | IOException e) {
          throw new IllegalStateException("no self-signed certificate can be made", e);
        }
      }
      case FromFolder(Path folder) -> {
        Path certificate = readable(folder.resolve("tls.crt"));
        Path key = readable(folder.resolve("tls.key"));
        try {
          yield http2(SslContextBuilder.forServer(certificate.toFile(), key.toFile()));
        } catch (IOException | IllegalArgumentException e) {
          throw new IllegalStateException(
              "cert-path: %s and %s are not a PEM certificate and its PKCS#8 key"
                  .formatted(certificate, key),
              e);
        }
      }
    };
  }

  private static SslContext http2(SslContextBuilder builder) throws IOException {
    return GrpcSslContexts.configure(builder, SslProvider.JDK).build();
  }

  private static Path readable(Path file) {
    if (!Files.isReadable(file)) {
      throw new IllegalStateException("cert-path: " + file + " can't be read");
    }
    return file;
  }
}
