package io.fairlead.core.scheduling;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/** What to say of a plugin type that there is no factory for. */
final class UpstreamTypes {

  private static final String PREDICTION =
      "queue-scorer, kv-cache-utilization-scorer and prefix-cache-scorer: latency is not predicted"
          + " by a model that is trained beside the picker";
  private static final String BODIES = "openai-parser: requests are read as JSON";

  /** Upstream's types that are not supported, and what to use. */
  static final Map<String, String> INSTEAD =
      Map.ofEntries(
          Map.entry("running-requests-size-scorer", "queue-scorer"),
          Map.entry("active-request-scorer", "queue-scorer, which counts requests in flight"),
          Map.entry("load-aware-scorer", "queue-scorer"),
          Map.entry("token-load-scorer", "queue-scorer"),
          Map.entry("no-hit-lru-scorer", "prefix-cache-scorer with queue-scorer"),
          Map.entry("precise-prefix-cache-scorer", "prefix-cache-scorer"),
          Map.entry("precise-prefix-cache-producer", "approx-prefix-cache-producer"),
          Map.entry("burst-prefix-cache-producer", "approx-prefix-cache-producer"),
          Map.entry("p2p-source-producer", "nothing: the engine finds its peers itself"),
          Map.entry("mm-embeddings-cache-scorer", "prefix-cache-scorer, which counts images too"),
          Map.entry("mm-embeddings-cache-producer", "approx-prefix-cache-producer"),
          Map.entry("prefix-cache-affinity-filter", "prefix-cache-scorer"),
          Map.entry("slo-headroom-tier-filter", PREDICTION),
          Map.entry("latency-scorer", PREDICTION),
          Map.entry("predicted-latency-scorer", PREDICTION),
          Map.entry("predicted-latency-producer", PREDICTION),
          Map.entry("latency-slo-admitter", "utilization-detector and InferenceModel criticality"),
          Map.entry(
              "probabilistic-admitter", "utilization-detector and InferenceModel criticality"),
          Map.entry("session-affinity-scorer", "prefix-cache-scorer"),
          Map.entry("session-affinity-filter", "prefix-cache-scorer"),
          Map.entry("session-id-producer", "prefix-cache-scorer"),
          Map.entry("agent-identity", "the header x-gateway-inference-fairness-id"),
          Map.entry("lora-affinity-scorer", "prefix-cache-scorer, which knows adapters apart"),
          Map.entry("context-length-aware", "label selectors of one InferencePool per length"),
          Map.entry("endpoint-attribute-scorer", "a scorer of your own, see CONTRIBUTING.md"),
          Map.entry("endpoint-attribute-filter", "a filter of your own, see CONTRIBUTING.md"),
          Map.entry("header-label-affinity-scorer", "a scorer of your own, see CONTRIBUTING.md"),
          Map.entry("topology-affinity-scorer", "a scorer of your own, see CONTRIBUTING.md"),
          Map.entry("topology-affinity-filter", "a filter of your own, see CONTRIBUTING.md"),
          Map.entry("header-based-testing-filter", "the gateway's subset hint"),
          Map.entry("by-label", "the InferencePool's selector"),
          Map.entry("by-label-selector", "the InferencePool's selector"),
          Map.entry("label-selector-filter", "the InferencePool's selector"),
          Map.entry("decode-filter", "one InferencePool of servers that do both"),
          Map.entry("prefill-filter", "one InferencePool of servers that do both"),
          Map.entry("encode-filter", "one InferencePool of servers that do both"),
          Map.entry("utilization-filter", "utilization-detector as a filter"),
          Map.entry("concurrency-detector", "utilization-detector"),
          Map.entry("weighted-random-picker", "max-score-picker, which breaks ties at random"),
          Map.entry("disagg-profile-handler", "single-profile-handler"),
          Map.entry("pd-profile-handler", "single-profile-handler"),
          Map.entry("header-profile-handler", "single-profile-handler"),
          Map.entry(
              "data-parallel-profile-handler",
              "targetPorts of the InferencePool: each port is an endpoint"),
          Map.entry("disagg-headers-handler", "single-profile-handler"),
          Map.entry("prefill-header-handler", "single-profile-handler"),
          Map.entry("prefix-based-pd-decider", "single-profile-handler"),
          Map.entry("always-disagg-pd-decider", "single-profile-handler"),
          Map.entry("always-disagg-multimodal-decider", "single-profile-handler"),
          Map.entry("request-attribute-reporter", "the picker's metrics, which count usage"),
          Map.entry(
              "disaggregatedset-rollout-screener", "readiness gates: only ready pods are picked"),
          Map.entry("k8s-notification-source", "an Observer plugin, see CONTRIBUTING.md"),
          Map.entry("models-data-source", "InferenceModels, which name what is served"),
          Map.entry("models-data-extractor", "InferenceModels, which name what is served"),
          Map.entry("dcgm-data-source", "kv-cache-utilization-scorer"),
          Map.entry("dcgm-extractor", "kv-cache-utilization-scorer"),
          Map.entry("file-discovery", "the option --endpoints FILE"),
          Map.entry("vllmhttp-parser", BODIES + ", those of other calls too"),
          Map.entry("sglanghttp-parser", BODIES + ", those of other calls too"),
          Map.entry("passthrough-parser", BODIES + ", and what isn't is refused"),
          Map.entry("vertexai-parser", BODIES + ", not gRPC"),
          Map.entry("vllmgrpc-parser", BODIES + ", not gRPC"));

  private UpstreamTypes() {}

  static String unknown(String type, Collection<String> known) {
    String instead = INSTEAD.get(type);
    if (instead != null) {
      return "\"" + type + "\" is not supported; use " + instead;
    }
    if (type.startsWith("multicluster-")) {
      return "\"" + type + "\" is not supported; run one picker in each cluster";
    }
    List<String> near =
        known.stream()
            .filter(other -> distance(type, other) <= Math.max(2, other.length() / 4))
            .sorted(Comparator.comparingInt(other -> distance(type, other)))
            .limit(3)
            .toList();
    return "\""
        + type
        + "\" is not a known plugin type; "
        + (near.isEmpty() ? "" : "did you mean " + String.join(" or ", near) + "? ")
        + "docs/plugins.md lists all; a type of your own needs its jar on the class path";
  }

  /** Characters to insert, remove or replace to get from one to the other. */
  private static int distance(String a, String b) {
    if (Math.abs(a.length() - b.length()) > 16) {
      return 16;
    }
    int[] row = new int[b.length() + 1];
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
