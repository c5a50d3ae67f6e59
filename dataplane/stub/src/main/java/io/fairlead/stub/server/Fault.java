package io.fairlead.stub.server;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A fault that stays in force until it is ended, with the value that it has when all is well. Which
 * values it takes follows from that one's type.
 */
public enum Fault {
  /** How many of the next completions get their connection reset before the first byte. */
  RESET_NEXT("resetNext", 0, 0, Integer.MAX_VALUE),
  /** How many of the next completions are answered with {@link #ERROR_STATUS}. */
  ERROR_NEXT("errorNext", 0, 0, Integer.MAX_VALUE),
  /** The share of completions that are answered with {@link #ERROR_STATUS}, spread evenly. */
  ERROR_SHARE("errorShare", 0.0, 0, 1),
  /** The status that completions fail with. */
  ERROR_STATUS("errorStatus", 500, 500, 599),
  /**
   * How completions fail with 200 instead, and an error for a body: one of four forms, from 5 on in
   * an event of a stream; 0 for not at all.
   */
  ERROR_INSIDE("errorInside", 0, 0, 8),
  /** Whether an answer that says that a completion failed has a body. */
  ERROR_BODY("errorBody", true),
  /** How long it takes until a completion fails, in wall seconds. */
  ERROR_AFTER_SECONDS("errorAfterSeconds", 0.0, 0, 86_400),
  /** The engine hangs: completions are taken and never answered, health and metrics stay good. */
  STALL("stall", false),
  /** The engine's steps take so many times as long. */
  SLOWED_BY("slowedBy", 1.0, 0.01, 1e6),
  /** Told to stop, as by {@link ModelServer#drain}, but never done with it. */
  DRAIN("drain", false),
  /** The port is closed and connections end. */
  REFUSE("refuse", false),
  /** Nothing gets in or out any more: connections hang, new ones never come about. */
  SWALLOW("swallow", false),
  /** {@code /health} and {@code /metrics} are taken and never answered. */
  MUTE("mute", false),
  /** What {@code /health} answers; 0 for the truth. */
  HEALTH_STATUS("healthStatus", 0, 0, 599),
  /** What {@code /metrics} answers instead of a page; 0 for the page. */
  METRICS_STATUS("metricsStatus", 0, 0, 599),
  /** {@code /metrics} repeats what it said when this began. */
  FREEZE_METRICS("freezeMetrics", false),
  /** How many of the next batches of KV events are lost on their way; a replay has them. */
  LOSE_EVENTS("loseEvents", 0, 0, Integer.MAX_VALUE),
  /** How long {@code /metrics} takes to answer, in wall milliseconds. */
  METRICS_DELAY_MILLIS("metricsDelayMillis", 0, 0, Integer.MAX_VALUE);

  private enum Type {
    SWITCH,
    COUNT,
    NUMBER
  }

  private final String field;
  private final Type type;
  private final double none;
  private final double least;
  private final double most;

  Fault(String field, boolean none) {
    this(field, Type.SWITCH, none ? 1 : 0, 0, 1);
  }

  Fault(String field, int none, int least, int most) {
    this(field, Type.COUNT, none, least, most);
  }

  Fault(String field, double none, double least, double most) {
    this(field, Type.NUMBER, none, least, most);
  }

  Fault(String field, Type type, double none, double least, double most) {
    this.field = field;
    this.type = type;
    this.none = none;
    this.least = least;
    this.most = most;
  }

  /** As it is named in JSON. */
  public String field() {
    return field;
  }

  /** Its value when all is well. */
  Object none() {
    return switch (type) {
      case SWITCH -> none != 0;
      case COUNT -> (int) none;
      case NUMBER -> none;
    };
  }

  static @Nullable Fault of(String field) {
    return Arrays.stream(values())
        .filter(fault -> fault.field.equals(field))
        .findFirst()
        .orElse(null);
  }

  /**
   * The value in this fault's own type.
   *
   * @throws IllegalArgumentException if it can't have this value; the message says which it can
   */
  Object value(Object value) {
    return switch (type) {
      case SWITCH -> {
        if (value instanceof Boolean) {
          yield value;
        }
        throw new IllegalArgumentException(field + ": true or false is needed");
      }
      case COUNT -> {
        if (value instanceof Integer whole) {
          yield inRange(whole, whole);
        }
        throw new IllegalArgumentException(field + ": an integer is needed");
      }
      case NUMBER -> {
        if (value instanceof Number number) {
          yield inRange(number.doubleValue(), number.doubleValue());
        }
        throw new IllegalArgumentException(field + ": a number is needed");
      }
    };
  }

  private Object inRange(Object value, double number) {
    if (number >= least && number <= most) {
      return value;
    }
    throw new IllegalArgumentException(
        most == Integer.MAX_VALUE
            ? "%s: %s is not >= %.0f".formatted(field, value, least)
            : "%s: %s is not in %s..%s".formatted(field, value, plain(least), plain(most)));
  }

  private static String plain(double bound) {
    return bound == Math.rint(bound) ? Long.toString((long) bound) : Double.toString(bound);
  }
}
