package io.fairlead.core.scheduling;

import io.fairlead.plugin.Setting;

/**
 * A listed type of upstream's configuration whose work is done here without a plugin.
 *
 * @param part which references may name it
 */
record BuiltIn(Part part) implements Setting {

  /** What upstream's sections refer to, as messages call it. */
  enum Part {
    DATA_SOURCE("a data source"),
    EXTRACTOR("an extractor"),
    PARSER("a parser"),
    PRODUCER("a producer"),
    ORDERING_POLICY("an ordering policy"),
    FAIRNESS_POLICY("a fairness policy"),
    USAGE_LIMIT_POLICY("a usage limit policy"),
    HEADERS("a handler of headers"),
    EVICTION("a part of eviction"),
    DISCOVERY("a discovery"),
    SYNCER("a syncer between replicas");

    private final String words;

    Part(String words) {
      this.words = words;
    }

    @Override
    public String toString() {
      return words;
    }
  }

  static BuiltIn of(Part part) {
    return new BuiltIn(part);
  }
}
