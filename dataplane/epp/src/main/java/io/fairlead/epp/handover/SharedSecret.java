package io.fairlead.epp.handover;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What the pickers of a pool share. It is never sent: both sides show that they know it, the one
 * that asks over two numbers of which each side has drawn one, the one that answers over the same
 * numbers and all that it has told.
 */
final class SharedSecret {

  static final int MAC_BYTES = 32;
  static final int NONCE_BYTES = 16;

  private static final int FEWEST_BYTES = 16;
  private static final String ALGORITHM = "HmacSHA256";

  private final byte[] secret;

  private SharedSecret(byte[] secret) {
    this.secret = secret;
  }

  /**
   * Reads it; white space around it does not count.
   *
   * @throws IOException if it can't be read or is too short to be one
   */
  static SharedSecret read(Path file) throws IOException {
    String text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
    if (text.length() < FEWEST_BYTES) {
      throw new IOException(
          file
              + ": has "
              + text.length()
              + " bytes; a shared secret has "
              + FEWEST_BYTES
              + " or more");
    }
    return new SharedSecret(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  /** Begins what shows that somebody knows it, for this purpose and what each side has drawn. */
  Mac over(String purpose, byte[] asker, byte[] teller) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      mac.update(purpose.getBytes(StandardCharsets.US_ASCII));
      mac.update(asker);
      mac.update(teller);
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + " is in every JDK", e);
    }
  }
}
