package io.fairlead.lab.simulator;

import io.fairlead.core.shadow.ShadowSnapshot;
import io.fairlead.core.shadow.ShadowSnapshot.Choices;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A run, and what policies that only looked on say that they would have made of it.
 *
 * @param result of the policy that placed the requests
 * @param shadows of the others, by name, over the whole run
 */
public record ShadowedRun(RunResult result, Map<String, ShadowSnapshot> shadows) {

  public ShadowedRun {
    shadows = Collections.unmodifiableMap(new LinkedHashMap<>(shadows));
  }

  /** The results alone, in their order. */
  public static List<RunResult> results(List<ShadowedRun> runs) {
    return runs.stream().map(ShadowedRun::result).toList();
  }

  /** What the shadows say of all of these runs together, in the order of the first run's. */
  public static Map<String, ShadowSnapshot> together(List<ShadowedRun> runs) {
    Map<String, ShadowSnapshot> all = new LinkedHashMap<>();
    for (ShadowedRun run : runs) {
      run.shadows().forEach((name, told) -> all.merge(name, told, ShadowedRun::sum));
    }
    return all;
  }

  private static ShadowSnapshot sum(ShadowSnapshot one, ShadowSnapshot other) {
    return new ShadowSnapshot(
        one.requests() + other.requests(),
        one.agreed() + other.agreed(),
        one.notPlaced() + other.notPlaced(),
        one.leftOut() + other.leftOut(),
        one.active() + other.active(),
        one.promptTokens() + other.promptTokens(),
        sum(one.requests(), one.own(), other.requests(), other.own()),
        sum(one.requests(), one.real(), other.requests(), other.real()));
  }

  /** A spread is a mean; a run counts in it by its requests. */
  private static Choices sum(long requests, Choices one, long otherRequests, Choices other) {
    double spread = one.spread() * requests + other.spread() * otherRequests;
    return new Choices(
        one.cachedTokens() + other.cachedTokens(),
        one.firstTokenSeconds() + other.firstTokenSeconds(),
        spread / Math.max(1, requests + otherRequests));
  }
}
