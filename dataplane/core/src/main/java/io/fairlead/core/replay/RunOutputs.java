package io.fairlead.core.replay;

import io.fairlead.core.receipt.ProfileRun;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * What one profile came to. Endpoints are those of {@link DecisionInputs#endpoints}, by place.
 *
 * @param profile its name
 * @param filters names, in order
 * @param rejectedBy by endpoint: number of the filter, or {@link ProfileRun#KEPT} or {@link
 *     ProfileRun#NOT_ASSIGNED}
 * @param scorers in order
 * @param picker its name
 * @param picked best first
 */
public record RunOutputs(
    String profile,
    List<String> filters,
    List<Integer> rejectedBy,
    List<ScorerOutputs> scorers,
    String picker,
    List<Integer> picked) {

  public RunOutputs {
    filters = List.copyOf(filters);
    rejectedBy = List.copyOf(rejectedBy);
    scorers = List.copyOf(scorers);
    picked = List.copyOf(picked);
  }

  /**
   * What a scorer said.
   *
   * @param scores by endpoint; NaN where it was not asked
   */
  public record ScorerOutputs(String name, double weight, List<Double> scores) {

    public ScorerOutputs {
      scores = List.copyOf(scores);
    }
  }

  static RunOutputs of(ProfileRun run, int endpoints) {
    List<ScorerOutputs> scorers = new ArrayList<>();
    List<WeightedScorer> outline = run.outline().scorers();
    for (int s = 0; s < outline.size(); s++) {
      Double[] scores = new Double[endpoints];
      Arrays.fill(scores, Double.NaN);
      for (int place = 0; place < run.left(); place++) {
        scores[run.candidate(place)] = run.score(s, place);
      }
      scorers.add(
          new ScorerOutputs(outline.get(s).name(), outline.get(s).weight(), List.of(scores)));
    }
    return new RunOutputs(
        run.outline().name(),
        run.outline().filters(),
        IntStream.range(0, endpoints).mapToObj(run::rejectedBy).toList(),
        scorers,
        run.outline().picker(),
        IntStream.range(0, run.pickCount())
            .mapToObj(rank -> run.candidate(run.pick(rank)))
            .toList());
  }

  /** Whether a scheduler outside of the process scored, in the place of the profile's own. */
  boolean isAdvised() {
    return picker.equals(ExternalScheduler.TYPE);
  }

  /** The scores of an endpoint with their weights. */
  public double sum(int endpoint) {
    double sum = 0;
    for (ScorerOutputs scorer : scorers) {
      sum += scorer.weight() * scorer.scores().get(endpoint);
    }
    return sum;
  }

  /** The endpoints that the first so many filters left. */
  List<Integer> left(int filtersBefore) {
    return IntStream.range(0, rejectedBy.size())
        .filter(
            i ->
                rejectedBy.get(i) == ProfileRun.KEPT
                    || rejectedBy.get(i) >= Math.min(filtersBefore, Byte.MAX_VALUE))
        .boxed()
        .toList();
  }

  RunOutputs only(Map<Integer, Integer> places) {
    List<Integer> kept = IntStream.range(0, rejectedBy.size()).boxed().toList();
    kept = kept.stream().filter(places::containsKey).toList();
    return new RunOutputs(
        profile,
        filters,
        kept.stream().map(rejectedBy::get).toList(),
        scorers.stream().map(scorer -> only(scorer, places)).toList(),
        picker,
        picked.stream().map(places::get).filter(Objects::nonNull).toList());
  }

  private static ScorerOutputs only(ScorerOutputs scorer, Map<Integer, Integer> places) {
    return new ScorerOutputs(
        scorer.name(),
        scorer.weight(),
        IntStream.range(0, scorer.scores().size())
            .filter(places::containsKey)
            .mapToObj(scorer.scores()::get)
            .toList());
  }
}
