package io.fairlead.core.receipt;

import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.view.CostTerm;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How one profile chose. Candidates are numbered as in {@link Decision#candidates}. */
public final class ProfileRun {

  /** In {@link #rejectedBy}: by no filter. */
  public static final int KEPT = -1;

  /** In {@link #rejectedBy}: the assigner gave the profile other partitions. */
  public static final int NOT_ASSIGNED = -2;

  private final ProfileOutline outline;
  private final byte @Nullable [] rejectedBy;
  private final int @Nullable [] origins;
  private final double[][] scores;
  private final double[] sums;
  private final int[] picked;
  private final @Nullable Costs costs;

  /**
   * A run; the arrays are its own from here on.
   *
   * @param rejectedBy by candidate; null where all were kept
   * @param origins the candidates that were left, in the order of scores and sums; null for all
   * @param scores by scorer
   * @param sums the scores with their weights
   * @param picked best first
   */
  ProfileRun(
      ProfileOutline outline,
      byte @Nullable [] rejectedBy,
      int @Nullable [] origins,
      double[][] scores,
      double[] sums,
      int[] picked,
      @Nullable Costs costs) {
    this.outline = outline;
    this.rejectedBy = rejectedBy;
    this.origins = origins;
    this.scores = scores;
    this.sums = sums;
    this.picked = picked;
    this.costs = costs;
  }

  /**
   * What the score of a scorer came from.
   *
   * @param scorer its number in the profile
   * @param terms what each cost is the sum of
   * @param preference why the best one was preferred, where that was not its cost alone; else empty
   * @param places the candidates whose costs are kept, in the order of what was left
   * @param millis of each of these, by term
   * @param weights of each of these, by term
   */
  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  record Costs(
      int scorer,
      List<CostTerm> terms,
      String preference,
      int[] places,
      double[][] millis,
      double[][] weights) {

    int find(int place) {
      for (int i = 0; i < places.length; i++) {
        if (places[i] == place) {
          return i;
        }
      }
      return -1;
    }
  }

  /** The profile, and names of its plugins. */
  public ProfileOutline outline() {
    return outline;
  }

  /**
   * Number of the filter that rejected the candidate; {@link #KEPT} or {@link #NOT_ASSIGNED} for
   * none.
   */
  public int rejectedBy(int candidate) {
    return rejectedBy == null ? KEPT : rejectedBy[candidate];
  }

  /** How many candidates the filters left. */
  public int left() {
    return sums.length;
  }

  /** Which candidate is at this place among those left. */
  public int candidate(int place) {
    return origins == null ? place : origins[place];
  }

  /** Where the candidate is among those left; -1 if a filter rejected it. */
  public int place(int candidate) {
    if (origins == null) {
      return candidate;
    }
    for (int i = 0; i < origins.length; i++) {
      if (origins[i] == candidate) {
        return i;
      }
    }
    return -1;
  }

  /** What the scorer said of the one at this place among those left, from 0 to 1. */
  public double score(int scorer, int place) {
    return scores[scorer][place];
  }

  /** All its scores with their weights. */
  public double sum(int place) {
    return sums[place];
  }

  /** How many were picked; 0 where the filters left nobody. */
  public int pickCount() {
    return picked.length;
  }

  /** The place among those left of the pick of this rank, 0 being the best. */
  public int pick(int rank) {
    return picked[rank];
  }

  /**
   * Why the one that was picked was preferred by the scorer that scores by a cost, where that was
   * not its cost alone; else empty, also where that scorer preferred another.
   */
  public String preference() {
    if (costs == null || picked.length == 0) {
      return "";
    }
    double[] liked = scores[costs.scorer()];
    for (double score : liked) {
      if (score > liked[picked[0]]) {
        return "";
      }
    }
    return costs.preference();
  }

  /** Name of the scorer whose scores come from the cost; empty where none does. */
  public String costScorer() {
    return costs == null ? "" : outline.scorers().get(costs.scorer()).name();
  }

  /** What costs are the sum of; empty where no scorer scores by a cost. */
  public List<CostTerm> costTerms() {
    return costs == null ? List.of() : costs.terms();
  }

  /** Whether the cost of the one at this place is kept: of the best few it is. */
  public boolean hasCost(int place) {
    return costs != null && costs.find(place) >= 0;
  }

  /** Milliseconds that a term of {@link #costTerms} takes there. */
  public double costMillis(int place, int term) {
    return costs == null ? 0 : costs.millis()[costs.find(place)][term];
  }

  /** What a millisecond of that term counts; 1 where it takes none. */
  public double costWeight(int place, int term) {
    return costs == null ? 0 : costs.weights()[costs.find(place)][term];
  }

  /** What the request costs there, in weighted milliseconds. */
  public double cost(int place) {
    double sum = 0;
    for (int t = 0; t < costTerms().size(); t++) {
      sum += costMillis(place, t) * costWeight(place, t);
    }
    return sum;
  }

  /** Milliseconds until the first token that the cost expects there. */
  public double expectedFirstToken(int place) {
    double sum = 0;
    for (int t = 0; t < costTerms().size(); t++) {
      if (costTerms().get(t).beforeFirstToken()) {
        sum += costMillis(place, t);
      }
    }
    return sum;
  }
}
