package io.fairlead.core.scheduling;

import io.fairlead.crds.config.Spelling;
import java.util.Collection;
import java.util.Map;

/** What to say of a plugin type that there is no factory for. */
final class UpstreamTypes {

  private static final String LOAD =
      "token-load-scorer and prefix-cache-scorer: no model of latency is trained beside the picker";
  private static final String CRITICALITY =
      "the criticality of InferenceModels: sheddable requests are refused when all is full";
  private static final String JSON = "openai-parser: requests are read as JSON";
  private static final String PREFIXES =
      "approx-prefix-cache-producer, which learns from what is sent";
  private static final String DISAGG = "disagg-profile-handler";

  /** Upstream's types that are not supported, and what to use. */
  static final Map<String, String> INSTEAD =
      Map.ofEntries(
          Map.entry("burst-prefix-cache-producer", PREFIXES),
          Map.entry("mm-embeddings-cache-producer", PREFIXES),
          Map.entry("mm-embeddings-cache-scorer", "prefix-cache-scorer"),
          Map.entry("p2p-source-producer", "topology-affinity-scorer"),
          Map.entry("slo-headroom-tier-filter", LOAD),
          Map.entry("latency-scorer", LOAD),
          Map.entry("predicted-latency-scorer", LOAD),
          Map.entry("predicted-latency-producer", LOAD),
          Map.entry("latency-slo-admitter", CRITICALITY),
          Map.entry("probabilistic-admitter", CRITICALITY),
          Map.entry(
              "session-id-producer", "sessionIdConfig.sources of the session affinity plugins"),
          Map.entry("agent-identity", "sessionIdConfig.sources of the session affinity plugins"),
          Map.entry("encode-filter", "label-selector-filter: there is no encode stage"),
          Map.entry("pd-profile-handler", DISAGG),
          Map.entry("always-disagg-multimodal-decider", "always-disagg-pd-decider"),
          Map.entry(
              "data-parallel-profile-handler",
              "targetPorts of the InferencePool: each port is an endpoint"),
          Map.entry("request-attribute-reporter", "the picker's metrics, which count usage"),
          Map.entry(
              "disaggregatedset-rollout-screener", "readiness gates: only ready pods are picked"),
          Map.entry("k8s-notification-source", "endpoint-notification-source"),
          Map.entry("models-data-source", "InferenceModels, which name what is served"),
          Map.entry("models-data-extractor", "InferenceModels, which name what is served"),
          Map.entry("dcgm-data-source", "a data source of your own, see CONTRIBUTING.md"),
          Map.entry("dcgm-extractor", "a data source of your own, see CONTRIBUTING.md"),
          Map.entry("file-discovery", "the option --endpoints FILE"),
          Map.entry("vllmhttp-parser", JSON + ", those of other calls too"),
          Map.entry("sglanghttp-parser", JSON + ", those of other calls too"),
          Map.entry("passthrough-parser", JSON + ", and what isn't is refused"),
          Map.entry("vertexai-parser", JSON + ", not gRPC"),
          Map.entry("vllmgrpc-parser", JSON + ", not gRPC"));

  private UpstreamTypes() {}

  static String unknown(String type, Collection<String> known) {
    String instead = INSTEAD.get(type);
    if (instead != null) {
      return "\"" + type + "\" is not supported; use " + instead;
    }
    if (type.startsWith("multicluster-")) {
      return "\"" + type + "\" is not supported; run one picker in each cluster";
    }
    String near = Spelling.near(type, known);
    return "\""
        + type
        + "\" is not a known plugin type; "
        + (near.isEmpty() ? "" : "did you mean " + near + "? ")
        + "docs/plugins.md lists all; a type of your own needs its jar on the class path";
  }
}
