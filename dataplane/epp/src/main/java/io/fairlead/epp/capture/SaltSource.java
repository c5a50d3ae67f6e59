package io.fairlead.epp.capture;

import io.fairlead.core.prefix.HashSalt;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import org.jspecify.annotations.Nullable;

/** Where the secret comes from that prompts are hashed with. It is never written or logged. */
final class SaltSource {

  private static final int LEAST_BYTES = 16;

  private SaltSource() {}

  /**
   * Of a file's bytes, or random.
   *
   * @throws IllegalArgumentException if the file can't be read or is too short
   */
  static HashSalt salt(@Nullable Path file) {
    return new HashSalt(file == null ? random() : words(bytes(file)));
  }

  private static long[] random() {
    SecureRandom random = new SecureRandom();
    return random.longs(HashSalt.WORDS).toArray();
  }

  private static byte[] bytes(Path file) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(file);
    } catch (IOException e) {
      throw new IllegalArgumentException("the capture's salt " + file + " can't be read: " + e, e);
    }
    if (bytes.length < LEAST_BYTES) {
      throw new IllegalArgumentException(
          "the capture's salt %s has %d bytes; write at least %d random ones"
              .formatted(file, bytes.length, LEAST_BYTES));
    }
    return bytes;
  }

  private static long[] words(byte[] secret) {
    try {
      ByteBuffer digest = ByteBuffer.wrap(MessageDigest.getInstance("SHA-512").digest(secret));
      long[] words = new long[HashSalt.WORDS];
      digest.asLongBuffer().get(words);
      return words;
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-512", e);
    }
  }
}
