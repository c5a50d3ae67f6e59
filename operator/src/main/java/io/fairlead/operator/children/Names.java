package io.fairlead.operator.children;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Names derived from a pool's name: valid as DNS labels and label values, at most 63 long. */
public final class Names {
  private static final String SUFFIX = "-epp";
  private static final int MAX = 63;
  private static final int HASH = 8;

  private Names() {}

  /**
   * What every child of the pool but the Service is called, and what replicas call their picker:
   * {@code <pool>-epp}. A pool name that is too long, or that holds dots, is shortened and made
   * unique by a hash of the whole name.
   */
  public static String child(String pool) {
    String label = pool.replace('.', '-');
    if (label.equals(pool) && pool.length() + SUFFIX.length() <= MAX) {
      return pool + SUFFIX;
    }
    int room = MAX - SUFFIX.length() - HASH - 1;
    String head = label.substring(0, Math.min(room, label.length()));
    while (head.endsWith("-")) {
      head = head.substring(0, head.length() - 1);
    }
    return head + "-" + hash(pool) + SUFFIX;
  }

  /** The Secret that is made for pods of this picker to share. */
  static String handOver(String picker) {
    return picker + "-hand-over";
  }

  /** Eight hexadecimal digits that differ where texts do, but by rare chance. */
  static String hash(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, HASH / 2);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }
}
