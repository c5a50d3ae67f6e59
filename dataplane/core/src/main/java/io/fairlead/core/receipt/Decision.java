package io.fairlead.core.receipt;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Endpoint;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One choice of an endpoint, with what it was made from. Never changes. */
public final class Decision {

  private final long at;
  private final PoolConfig config;
  private final Endpoint[] candidates;
  private final List<Excluded> excluded;
  private final List<ProfileRun> runs;
  private final int primary;
  private final int prefill;
  private final int[] shown;
  private final EndpointFacts[] facts;

  /**
   * An endpoint that the scheduler was not asked about.
   *
   * @param endpoint its name
   */
  public record Excluded(String endpoint, Exclusion why) {}

  /**
   * A decision; the arrays are its own from here on.
   *
   * @param primary number of the run whose pick gets the request
   * @param prefill the candidate that computes the prompt for it; -1 where it does that itself
   * @param shown candidates of which facts are kept
   */
  Decision(
      long at,
      PoolConfig config,
      Endpoint[] candidates,
      List<Excluded> excluded,
      List<ProfileRun> runs,
      int primary,
      int prefill,
      int[] shown,
      EndpointFacts[] facts) {
    this.at = at;
    this.config = config;
    this.candidates = candidates;
    this.excluded = List.copyOf(excluded);
    this.runs = List.copyOf(runs);
    this.primary = primary;
    this.prefill = prefill;
    this.shown = shown;
    this.facts = facts;
  }

  /** When it was made, in nanoseconds of the pool's clock. */
  public long at() {
    return at;
  }

  /** What was in force. */
  public PoolConfig config() {
    return config;
  }

  /** How many endpoints the scheduler chose among. */
  public int candidates() {
    return candidates.length;
  }

  /** Name of a candidate. */
  public String candidate(int index) {
    return candidates[index].name();
  }

  /** Who was left out before. */
  public List<Excluded> excluded() {
    return excluded;
  }

  /** The profiles that ran, in order. */
  public List<ProfileRun> runs() {
    return runs;
  }

  /** The run whose pick got the request. */
  public ProfileRun primaryRun() {
    return runs.get(primary);
  }

  /** The candidate that got the request. */
  public int picked() {
    ProfileRun run = primaryRun();
    return run.candidate(run.pick(0));
  }

  /** The candidate that computed the prompt for it; -1 where it did that itself. */
  public int prefill() {
    return prefill;
  }

  /** What was known of a candidate; null where that is not kept: of the best few it is. */
  public @Nullable EndpointFacts facts(int candidate) {
    for (int i = 0; i < shown.length; i++) {
      if (shown[i] == candidate) {
        return facts[i];
      }
    }
    return null;
  }
}
