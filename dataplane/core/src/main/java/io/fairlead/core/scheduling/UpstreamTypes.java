package io.fairlead.core.scheduling;

import java.util.Collection;
import java.util.Map;
import java.util.Set;

/**
 * Plugin types of upstream's configuration that are not plugins here: either what they name is
 * built in, or the message says what to use instead.
 */
final class UpstreamTypes {

  /**
   * Types that name what always happens here: reading the servers' metrics and the OpenAI request,
   * keeping the prefix index and counting what is in flight, first come first served. Honoured
   * without parameters by doing nothing more.
   */
  private static final Set<String> BUILT_IN =
      Set.of(
          "approx-prefix-cache-producer",
          "core-metrics-extractor",
          "fcfs-ordering-policy",
          "inflight-load-producer",
          "metrics-data-source",
          "openai-parser",
          "static-usage-limit-policy");

  private static final Map<String, String> INSTEAD =
      Map.ofEntries(
          Map.entry("running-requests-size-scorer", "queue-scorer"),
          Map.entry("active-request-scorer", "queue-scorer, which counts requests in flight"),
          Map.entry("load-aware-scorer", "queue-scorer"),
          Map.entry("token-load-scorer", "queue-scorer"),
          Map.entry("no-hit-lru-scorer", "prefix-cache-scorer with queue-scorer"),
          Map.entry("precise-prefix-cache-scorer", "prefix-cache-scorer"),
          Map.entry("precise-prefix-cache-producer", "prefix-cache-scorer"),
          Map.entry("prefix-cache-affinity-filter", "prefix-cache-scorer"),
          Map.entry("session-affinity-scorer", "prefix-cache-scorer"),
          Map.entry("session-affinity-filter", "prefix-cache-scorer"),
          Map.entry("lora-affinity-scorer", "prefix-cache-scorer, which knows adapters apart"),
          Map.entry("weighted-random-picker", "max-score-picker, which breaks ties at random"),
          Map.entry("concurrency-detector", "utilization-detector"),
          Map.entry("utilization-filter", "utilization-detector as a filter"),
          Map.entry("anthropic-parser", "nothing: requests are read as OpenAI's"),
          Map.entry("vllmhttp-parser", "nothing: requests are read as OpenAI's"),
          Map.entry("passthrough-parser", "nothing: requests are read as OpenAI's"));

  private UpstreamTypes() {}

  /** Whether the type names something that is always done. */
  static boolean builtIn(String type) {
    return BUILT_IN.contains(type);
  }

  /** What to say of a type that has no factory. */
  static String unknown(String type, Collection<String> known) {
    String instead = INSTEAD.get(type);
    if (instead != null) {
      return "\"" + type + "\" is not supported; use " + instead;
    }
    return "\"" + type + "\" is not a known plugin type; known are " + String.join(", ", known);
  }
}
