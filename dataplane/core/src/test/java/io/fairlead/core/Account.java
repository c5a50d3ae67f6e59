package io.fairlead.core;

import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Prefills;
import java.util.List;
import java.util.function.Predicate;

/** All that plugins are shown of one endpoint, as one value. */
record Account(
    int inFlight,
    int awaiting,
    int decoding,
    int critical,
    int sheddable,
    long tokens,
    long uncached,
    int queueDepth,
    Line prefills,
    Scrape scrape,
    Lora lora) {

  /** Every target model that a test sends to or scrapes. */
  static final List<String> TARGETS = List.of("", "base", "critical", "one", "two", "unknown");

  /** The prefill queue. */
  record Line(
      int count,
      long uncached,
      double attention,
      int headUncached,
      double headAttention,
      long headSince) {

    static final Line EMPTY = new Line(0, 0, 0, 0, 0, 0);
  }

  /** What the server said last. */
  record Scrape(int waiting, int running, double kvUsage, long kvTokens, double custom) {}

  /** The adapters. */
  record Lora(
      int slots,
      int loaded,
      int reported,
      List<String> needed,
      List<String> resident,
      List<String> running,
      List<String> waiting) {}

  static Account shown(Endpoint endpoint) {
    Prefills line = endpoint.prefills();
    Adapters adapters = endpoint.adapters();
    return new Account(
        endpoint.inFlight(),
        endpoint.awaitingFirstToken(),
        endpoint.decoding(),
        endpoint.criticalInFlight(),
        endpoint.sheddableInFlight(),
        endpoint.inFlightTokens(),
        endpoint.uncachedInFlightTokens(),
        endpoint.queueDepth(),
        new Line(
            line.count(),
            line.uncachedTokens(),
            line.attention(),
            line.headUncached(),
            line.headAttention(),
            line.count() == 0 ? 0 : line.headSince()),
        new Scrape(
            endpoint.scrapedWaiting(),
            endpoint.scrapedRunning(),
            endpoint.kvUsage(),
            endpoint.kvCapacityTokens(),
            endpoint.metric("custom")),
        new Lora(
            adapters.slots(),
            adapters.loaded(),
            adapters.reported(),
            targets(adapters::needed),
            targets(adapters::resident),
            targets(adapters::running),
            targets(adapters::waiting)));
  }

  static List<String> targets(Predicate<String> those) {
    return TARGETS.stream().filter(those).toList();
  }
}
