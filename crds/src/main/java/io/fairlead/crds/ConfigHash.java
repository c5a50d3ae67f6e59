package io.fairlead.crds;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which config: the SHA-256 of a config document's content. It is in the document, on the ConfigMap
 * that holds it, and in what pickers report to run or to refuse, so that all of them speak of the
 * same.
 *
 * @param hex 64 hexadecimal digits in lower case; the first 8 are enough to show
 */
public record ConfigHash(@JsonValue String hex) {
  /** Annotation of the ConfigMap: the hash of the document that it holds. */
  public static final String ANNOTATION = "fairlead.io/config-hash";

  private static final Pattern HEX = Pattern.compile("[0-9a-f]{64}");

  /**
   * @throws IllegalArgumentException when it is anything but 64 hexadecimal digits
   */
  @JsonCreator
  public ConfigHash {
    if (!HEX.matcher(hex).matches()) {
      throw new IllegalArgumentException("is no hash of a config, which has 64 digits: " + hex);
    }
  }

  /** The hash of this content. */
  public static ConfigHash of(byte[] content) {
    try {
      return new ConfigHash(
          HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  /** The hash of this text. */
  public static ConfigHash of(String content) {
    return of(content.getBytes(StandardCharsets.UTF_8));
  }

  /** What somebody wrote; empty when it is no hash. */
  public static Optional<ConfigHash> parse(@Nullable String text) {
    return text != null && HEX.matcher(text).matches()
        ? Optional.of(new ConfigHash(text))
        : Optional.empty();
  }

  /** The digits. */
  @Override
  public String toString() {
    return hex;
  }
}
