package io.fairlead.crds.config;

import java.util.List;

/**
 * Plugin types that are there without being listed, by the role in which a document may name them.
 */
public enum ImpliedTypes {
  /** What says how full endpoints are. */
  SATURATION_DETECTOR,
  /** What says from when on endpoints are full for a band. */
  USAGE_LIMIT_POLICY,
  /** What shares out a band among its flows. */
  FAIRNESS_POLICY,
  /** What says who goes first in a flow. */
  ORDERING_POLICY,
  /** Where metrics are read. */
  DATA_SOURCE,
  /** What reads them. */
  EXTRACTOR,
  /** What reads requests. */
  PARSER,
  /** What must be listed. */
  NONE;

  /** In the order in which they are to be told. */
  public List<String> types() {
    return switch (this) {
      case SATURATION_DETECTOR -> List.of("expected-wait-detector", "utilization-detector");
      case USAGE_LIMIT_POLICY -> List.of("static-usage-limit-policy");
      case FAIRNESS_POLICY -> List.of("work-fairness-policy", "global-strict-fairness-policy");
      case ORDERING_POLICY -> List.of("conversation-ordering-policy", "fcfs-ordering-policy");
      case DATA_SOURCE -> List.of("metrics-data-source");
      case EXTRACTOR -> List.of("core-metrics-extractor");
      case PARSER -> List.of("openai-parser", "anthropic-parser");
      case NONE -> List.of();
    };
  }

  /** Whether this type may be named as it is. */
  public boolean has(String type) {
    return types().contains(type);
  }
}
