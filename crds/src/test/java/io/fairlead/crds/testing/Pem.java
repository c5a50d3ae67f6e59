package io.fairlead.crds.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Certificates and keys as tools write them: {@code good.crt} and {@code good.key} are a pair, as
 * are {@code expired.crt} and {@code expired.key}, which ended in 2021, and those of the other
 * kinds of keys, {@code ed25519} and {@code rsa}; {@code other.key} is of no certificate.
 */
public final class Pem {
  private Pem() {}

  /** The text of one of them. */
  public static String text(String name) {
    try (InputStream in =
        Objects.requireNonNull(Pem.class.getResourceAsStream("/io/fairlead/crds/tls/" + name))) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
