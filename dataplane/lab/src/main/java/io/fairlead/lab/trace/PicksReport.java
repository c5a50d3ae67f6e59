package io.fairlead.lab.trace;

import java.util.List;

/**
 * What a replay of a capture came to.
 *
 * @param events that the core was told
 * @param decisions among them that sent a request or turned it away
 * @param same decisions that came out the same in all: endpoint, target model, matched blocks,
 *     expected cached tokens, fallbacks, who prefills; or the reason of a rejection
 * @param sameEndpoint decisions that came out at the same endpoint, or the same rejection
 * @param exact decisions that must come out the same, as all that led to them was captured
 * @param differentInExact those of {@code exact} that did not
 * @param differences the first decisions that did not come out the same
 * @param incomplete why not all decisions must come out the same; empty for a complete capture
 */
public record PicksReport(
    int events,
    int decisions,
    int same,
    int sameEndpoint,
    int exact,
    int differentInExact,
    List<String> differences,
    List<String> incomplete) {

  public PicksReport {
    differences = List.copyOf(differences);
    incomplete = List.copyOf(incomplete);
  }

  /** Whether every decision that must come out the same did. */
  public boolean agrees() {
    return differentInExact == 0;
  }
}
