package io.fairlead.core;

import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.crds.config.GoDuration;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.plugin.WaitingRequest;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The headers by which a request says how it wants to be treated where others wait: upstream's
 * names in their order, and ours. Whether they count is decided before a request comes to the core:
 * it reads what it is shown. What says nothing sensible says nothing.
 */
public final class FlowHeaders {

  /** Name of the request's objective; the first that is there counts. */
  public static final List<String> OBJECTIVE =
      List.of("x-llm-d-inference-objective", "x-gateway-inference-objective");

  /** Whose the request is; the first that is there counts. */
  public static final List<String> FAIRNESS =
      List.of("x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id");

  /** Milliseconds from the arrival to the first token that are wanted. */
  public static final List<String> FIRST_TOKEN = List.of("x-llm-d-slo-ttft-ms", "x-slo-ttft-ms");

  /** Milliseconds from token to token that are wanted. */
  public static final List<String> NEXT_TOKEN = List.of("x-llm-d-slo-tpot-ms", "x-slo-tpot-ms");

  /** All that have two names, which say the same where both are there. */
  public static final List<List<String>> OF_TWO_NAMES =
      List.of(OBJECTIVE, FAIRNESS, FIRST_TOKEN, NEXT_TOKEN);

  /** Longest time that it waits for room, as Go writes durations. */
  public static final String TTL = "x-fairlead-queue-ttl";

  /** Asks for {@link #DECISION} in the response, with {@code true}. */
  public static final String EXPLAIN = "x-fairlead-explain";

  /** Of a response: in brief, why the request went where it did. */
  public static final String DECISION = "x-fairlead-decision";

  private static final int LONGEST_ID = 256;

  /** No duration and no number that makes sense has more characters. */
  private static final int LONGEST_NUMBER = 32;

  private static final double NANOS_PER_MILLI = 1e6;

  private FlowHeaders() {}

  /** The flow that the request names, or else this. */
  static String flow(RequestHeaders headers, String otherwise) {
    String id = first(headers, FAIRNESS);
    return id == null || !isName(id) ? otherwise : id;
  }

  /** Nanoseconds that it waits at most; {@link WaitingRequest#NEVER} if it says nothing. */
  static long ttl(RequestHeaders headers) {
    String text = headers.first(TTL);
    Duration ttl = text == null ? null : duration(text);
    return ttl == null ? WaitingRequest.NEVER : ttl.toNanos();
  }

  /** When its first token is wanted: what it says, or else what its model asks for. */
  static long firstTokenBy(RequestHeaders headers, long arrivedAt, CompiledModel model) {
    long said = firstTokenBy(headers, arrivedAt);
    return said == WaitingRequest.NEVER && model.firstToken() != WaitingRequest.NEVER
        ? arrivedAt + model.firstToken()
        : said;
  }

  /** Nanoseconds from token to token: what it says, or else what its model asks for. */
  static long timePerOutputToken(RequestHeaders headers, CompiledModel model) {
    long said = timePerOutputToken(headers);
    return said == WaitingRequest.NEVER ? model.eachToken() : said;
  }

  /** When its first token is wanted; {@link WaitingRequest#NEVER} if it says nothing. */
  static long firstTokenBy(RequestHeaders headers, long arrivedAt) {
    String text = first(headers, FIRST_TOKEN);
    double millis = text == null ? Double.NaN : millis(text);
    return Double.isNaN(millis)
        ? WaitingRequest.NEVER
        : arrivedAt + Math.round(millis * NANOS_PER_MILLI);
  }

  /** Nanoseconds from token to token; {@link WaitingRequest#NEVER} if it says nothing. */
  static long timePerOutputToken(RequestHeaders headers) {
    String text = first(headers, NEXT_TOKEN);
    double millis = text == null ? Double.NaN : millis(text);
    return Double.isNaN(millis) ? WaitingRequest.NEVER : Math.round(millis * NANOS_PER_MILLI);
  }

  /** Whether this asks for an explanation. */
  public static boolean isYes(String text) {
    return text.equals("true");
  }

  /** Whether this can be the name of an objective or a flow. */
  public static boolean isName(String text) {
    return !text.isEmpty() && text.length() <= LONGEST_ID;
  }

  /** Whether this is a duration that a request can wait. */
  public static boolean isDuration(String text) {
    return duration(text) != null;
  }

  /** Whether this is a number of milliseconds. */
  public static boolean isMillis(String text) {
    return !Double.isNaN(millis(text));
  }

  private static @Nullable String first(RequestHeaders headers, List<String> names) {
    for (int i = 0; i < names.size(); i++) {
      String value = headers.first(names.get(i));
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  private static @Nullable Duration duration(String text) {
    if (text.length() > LONGEST_NUMBER) {
      return null;
    }
    Duration value = GoDuration.parse(text.strip());
    return value == null || !value.isPositive() || value.compareTo(TimeoutsConfig.LONGEST) > 0
        ? null
        : value;
  }

  private static double millis(String text) {
    if (text.length() > LONGEST_NUMBER) {
      return Double.NaN;
    }
    try {
      double value = Double.parseDouble(text.strip());
      return value > 0 && value <= TimeoutsConfig.LONGEST.toMillis() ? value : Double.NaN;
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }
}
