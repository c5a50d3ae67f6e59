package io.fairlead.epp.openai;

import io.fairlead.core.prefix.BlockHasher;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;

/** What a prompt's hashes should be: those of its bytes without the whitespace between tokens. */
final class PromptHashes {

  private static final String SPACES = " \n\r\t";
  private static final int DEEPEST = 5;

  private PromptHashes() {}

  static long[] of(String compact) {
    byte[] bytes = compact.getBytes(StandardCharsets.UTF_8);
    BlockHasher hasher = new BlockHasher(1 << 17);
    hasher.add(bytes, 0, bytes.length);
    return hasher.blocks();
  }

  /** Writes a list of objects twice: without whitespace, and with some anywhere. */
  static void random(SplittableRandom random, StringBuilder compact, StringBuilder spaced) {
    list(random, compact, spaced, 0);
  }

  private static void list(
      SplittableRandom random, StringBuilder compact, StringBuilder spaced, int depth) {
    put("[", random, compact, spaced);
    int size = depth == 0 ? 1 + random.nextInt(20) : random.nextInt(4);
    for (int i = 0; i < size; i++) {
      if (i > 0) {
        put(",", random, compact, spaced);
      }
      value(random, compact, spaced, depth + 1);
    }
    put("]", random, compact, spaced);
  }

  private static void value(
      SplittableRandom random, StringBuilder compact, StringBuilder spaced, int depth) {
    switch (random.nextInt(depth < DEEPEST ? 4 : 2)) {
      case 0 -> put(Integer.toString(random.nextInt()), random, compact, spaced);
      case 1 -> put(quoted(random), random, compact, spaced);
      case 2 -> list(random, compact, spaced, depth);
      default -> {
        put("{", random, compact, spaced);
        int size = random.nextInt(4);
        for (int i = 0; i < size; i++) {
          put(i == 0 ? "" : ",", random, compact, spaced);
          put(key(random), random, compact, spaced);
          put(":", random, compact, spaced);
          value(random, compact, spaced, depth + 1);
        }
        put("}", random, compact, spaced);
      }
    }
  }

  private static String quoted(SplittableRandom random) {
    return "\"" + " text".repeat(random.nextInt(30)) + random.nextInt() + "\"";
  }

  /** Some are keys that media stand under, but never with what makes them media. */
  private static String key(SplittableRandom random) {
    return switch (random.nextInt(6)) {
      case 0 -> "\"url\"";
      case 1 -> "\"data\"";
      case 2 -> "\"type\"";
      case 3 -> "\"source\"";
      case 4 -> "\"file_id\"";
      default -> "\"k" + random.nextInt(1000) + "\"";
    };
  }

  private static void put(
      String token, SplittableRandom random, StringBuilder compact, StringBuilder spaced) {
    compact.append(token);
    spaced.append(token);
    for (int i = random.nextInt(8); i > 5; i--) {
      spaced.append(SPACES.charAt(random.nextInt(SPACES.length())));
    }
  }
}
