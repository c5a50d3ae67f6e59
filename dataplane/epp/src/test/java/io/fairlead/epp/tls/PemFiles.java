package io.fairlead.epp.tls;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.Objects;

/**
 * Certificates and keys as tools write them: {@code rsa} and {@code ec}, each the subject's name.
 */
public final class PemFiles {

  private PemFiles() {}

  /** Puts both into the folder, under the names that are served. */
  public static void write(Path folder, String certificate, String key) {
    try {
      Files.writeString(folder.resolve("tls.crt"), text(certificate));
      Files.writeString(folder.resolve("tls.key"), text(key));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Puts a pair there that was made at that time, for ten years. */
  public static void writeMade(Path folder, String name, Instant at) {
    try {
      SelfSignedCertificate made = SelfSignedCertificate.create(name, () -> at, new SecureRandom());
      Files.writeString(
          folder.resolve("tls.crt"), pem("CERTIFICATE", made.certificate().getEncoded()));
      Files.writeString(folder.resolve("tls.key"), pem("PRIVATE KEY", made.key().getEncoded()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String pem(String what, byte[] der) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(what, Base64.getMimeEncoder().encodeToString(der), what);
  }

  private static String text(String name) throws IOException {
    try (InputStream in = Objects.requireNonNull(PemFiles.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
