package io.fairlead.lab.simulator;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * How what a picker sees differs from what is. A real one knows bytes where engines count tokens,
 * hears of usage only where it is told, and of everything a little late.
 *
 * @param tokenError how far bytes per token are off the usual, 0 to 0.9: of each model by a share
 *     of its own, drawn between minus and plus this
 * @param usage share of streamed answers that tell their usage; those in one piece always do
 * @param cachedTokens whether usage tells how many tokens of a prompt were cached, which vLLM does
 *     only when it is asked to
 * @param metricsMillis age of a metrics page when it is there, beside that of its last step, ms
 * @param jitterMillis mean of what the network adds to each send, each answer and each metrics
 *     page, exponential, ms
 * @param unstreamed share of requests whose answers come in one piece
 * @param images share of messages of which a part is an image, whose bytes say little of its tokens
 */
public record Perception(
    double tokenError,
    double usage,
    boolean cachedTokens,
    double metricsMillis,
    double jitterMillis,
    double unstreamed,
    double images) {

  /** A picker sees what is, at once. */
  public static final Perception IDEAL = new Perception(0, 1, true, 0, 0, 0, 0);

  /** All that can be off is. Chosen to be plausible and not mild; nobody measured it. */
  public static final Perception REAL = new Perception(0.3, 0.7, false, 5, 1, 0.2, 0.1);

  private static final Map<String, Perception> NAMED = Map.of("ideal", IDEAL, "real", REAL);
  private static final List<String> KEYS =
      List.of(
          "token-error",
          "usage",
          "cached-tokens",
          "metrics-ms",
          "jitter-ms",
          "unstreamed",
          "images");
  private static final double MOST_MILLIS = 60_000;

  public Perception {
    check("token-error", tokenError, 0.9);
    check("usage", usage, 1);
    check("metrics-ms", metricsMillis, MOST_MILLIS);
    check("jitter-ms", jitterMillis, MOST_MILLIS);
    check("unstreamed", unstreamed, 1);
    check("images", images, 1);
  }

  private static void check(String key, double value, double most) {
    if (!(value >= 0 && value <= most)) {
      throw new IllegalArgumentException(
          "perception: %s is %s; set 0.0 to %s".formatted(key, value, most));
    }
  }

  /** The same with another share of answers in one piece. */
  public Perception withUnstreamed(double share) {
    return new Perception(
        tokenError, usage, cachedTokens, metricsMillis, jitterMillis, share, images);
  }

  /**
   * Reads {@code ideal} or {@code real}, settings such as {@code jitter-ms=2,usage=0.5}, or a name
   * with settings behind it that differ; without a name, the others are ideal.
   *
   * @throws IllegalArgumentException if it is none; the message names the setting
   */
  public static Perception parse(String text) {
    List<String> parts = new ArrayList<>(List.of(text.split(",", -1)));
    Perception perception = NAMED.get(parts.getFirst());
    if (perception == null) {
      perception = IDEAL;
    } else {
      parts.removeFirst();
    }
    Set<String> given = new HashSet<>();
    for (String part : parts) {
      String[] pair = part.split("=", 2);
      if (pair.length != 2 || !KEYS.contains(pair[0])) {
        throw new IllegalArgumentException(
            "perception: \"%s\" is neither ideal, real nor one of %s with a value"
                .formatted(part, String.join(", ", KEYS)));
      }
      if (!given.add(pair[0])) {
        throw new IllegalArgumentException("perception: " + pair[0] + " is there twice");
      }
      perception = perception.with(pair[0], pair[1]);
    }
    return perception;
  }

  private Perception with(String key, String text) {
    if (key.equals("cached-tokens")) {
      return new Perception(
          tokenError, usage, bool(key, text), metricsMillis, jitterMillis, unstreamed, images);
    }
    double value = number(key, text);
    return new Perception(
        key.equals("token-error") ? value : tokenError,
        key.equals("usage") ? value : usage,
        cachedTokens,
        key.equals("metrics-ms") ? value : metricsMillis,
        key.equals("jitter-ms") ? value : jitterMillis,
        key.equals("unstreamed") ? value : unstreamed,
        key.equals("images") ? value : images);
  }

  private static boolean bool(String key, String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw new IllegalArgumentException(
              "perception: %s is \"%s\"; set true or false".formatted(key, text));
    };
  }

  private static double number(String key, String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "perception: %s is \"%s\", which is no number".formatted(key, text), e);
    }
  }

  /** As {@link #parse} reads it. */
  @Override
  public String toString() {
    for (Map.Entry<String, Perception> named : NAMED.entrySet()) {
      if (equals(named.getValue())) {
        return named.getKey();
      }
    }
    return "token-error=%s,usage=%s,cached-tokens=%s,metrics-ms=%s,jitter-ms=%s,unstreamed=%s,images=%s"
        .formatted(
            tokenError, usage, cachedTokens, metricsMillis, jitterMillis, unstreamed, images);
  }
}
