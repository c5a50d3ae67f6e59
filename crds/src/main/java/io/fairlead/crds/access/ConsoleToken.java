package io.fairlead.crds.access;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The secret of those who may see a picker's console from other hosts: which text is one. Pickers
 * read it from a file, and the operator tells of a Secret that holds none.
 */
public final class ConsoleToken {
  /** Bytes. A shorter one could be found by trying, also from a session that somebody has seen. */
  public static final int SHORTEST = 16;

  /** Bytes. */
  public static final int LONGEST = 4_096;

  private ConsoleToken() {}

  /** The token that the text holds, less white space around it; null if it has another length. */
  public static byte @Nullable [] of(byte[] text) {
    byte[] token =
        new String(text, StandardCharsets.UTF_8).strip().getBytes(StandardCharsets.UTF_8);
    return token.length < SHORTEST || token.length > LONGEST ? null : token;
  }
}
