package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Judgement.Criterion;
import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Judgements of one part.
 *
 * @param judgements by case, then subject
 */
record Verdict(List<Judgement> judgements) {

  /** Where next to nothing is shared, a difference of hit rates is no matter. */
  private static final double SHARED = 0.05;

  private static final List<Criterion> OF_LATENCY =
      List.of(Criterion.MEAN, Criterion.TTFT_P99, Criterion.GOODPUT);

  Verdict {
    judgements = List.copyOf(judgements);
  }

  /**
   * Each subject beside the best peer of the case: of those that kept up and left no more requests
   * without an answer the one with the lowest mean. Where the subject did not keep up, or served
   * fewer of the requests than one that did, latencies are of different requests: it is held
   * against those that answered most, and most in time.
   */
  static Verdict of(Plan.Part part, PartResults results) {
    return of(part, results, false);
  }

  /** The same, but beside the best peer of each measure: nobody is the best in everything. */
  static Verdict bySingleMeasures(Plan.Part part, PartResults results) {
    return of(part, results, true);
  }

  private static Verdict of(Plan.Part part, PartResults results, boolean single) {
    List<Judgement> judgements = new ArrayList<>();
    for (Setting setting : results.settings()) {
      List<Row> peers =
          part.peers().stream().flatMap(name -> results.row(setting, name).stream()).toList();
      for (String name : part.subjects()) {
        List<Row> others = peers.stream().filter(row -> !row.contender().equals(name)).toList();
        Optional<Row> subject = results.row(setting, name);
        if (subject.isPresent() && !others.isEmpty()) {
          judge(subject.get(), others, single, bound(part, setting), judgements);
        }
      }
    }
    return new Verdict(judgements);
  }

  private static double bound(Plan.Part part, Setting setting) {
    List<Plan.Case> alike =
        part.cases().stream()
            .filter(each -> each.workload().equals(setting.workload()))
            .filter(each -> each.steps().contains(setting.load()))
            .filter(each -> String.join("; ", each.faults()).equals(setting.faults()))
            .toList();
    // A case that names no pool is of the workload's own, which no case needs to name.
    return Stream.concat(
            alike.stream().filter(each -> setting.pool().equals(each.pool())),
            alike.stream().filter(each -> each.pool() == null))
        .findFirst()
        .map(Plan.Case::bound)
        .orElse(Criterion.MEAN.bound());
  }

  private static void judge(
      Row subject, List<Row> peers, boolean single, double bound, List<Judgement> judgements) {
    List<Row> kept = peers.stream().filter(Row::keptUp).toList();
    List<Row> alike = kept.stream().filter(subject::servedAsManyAs).toList();
    boolean served = kept.stream().noneMatch(peer -> peer.servedMoreThan(subject));
    if (subject.keptUp() && served && !alike.isEmpty()) {
      judgeLatencies(subject, alike, single, bound, judgements);
    } else {
      judgeRates(subject, peers, judgements);
    }
  }

  private static void judgeLatencies(
      Row subject, List<Row> alike, boolean single, double bound, List<Judgement> judgements) {
    Row lowest = best(subject, alike);
    for (Criterion criterion : OF_LATENCY) {
      Row peer = single ? best(alike, criterion.measure()) : lowest;
      double most = criterion == Criterion.MEAN ? bound : criterion.bound();
      judgements.add(Judgement.of(subject, peer, criterion, most));
    }
    if (!subject.neverDiverged()) {
      // Latencies leave out the seeds in which it did: what it completed in them counts here.
      judgements.add(judgement(subject, alike, Criterion.SUSTAINED));
    }
    Row peer = single ? best(alike, Measure.HIT_RATE) : lowest;
    if (peer.mean(Measure.HIT_RATE) >= SHARED) {
      judgements.add(Judgement.of(subject, peer, Criterion.HIT_RATE, Criterion.HIT_RATE.bound()));
    }
  }

  /** Of what is answered, and of what is answered in time: each beside the best peer of it. */
  private static void judgeRates(Row subject, List<Row> peers, List<Judgement> judgements) {
    Judgement rate = judgement(subject, peers, Criterion.SUSTAINED);
    // Falling behind where a peer serves all is no matter of a ratio.
    boolean behind = !subject.keptUp() && peers.stream().anyMatch(Row::servedAll);
    judgements.add(behind ? rate.behind() : rate);
    judgements.add(judgement(subject, peers, Criterion.GOODPUT));
  }

  /** The one beside whom the subject's mean is the highest: by the seeds in which both kept up. */
  private static Row best(Row subject, List<Row> peers) {
    return peers.stream()
        .max(
            Comparator.comparingDouble(
                peer -> {
                  double ratio =
                      Judgement.of(subject, peer, Criterion.MEAN, Criterion.MEAN.bound())
                          .interval()
                          .middle();
                  return Double.isNaN(ratio) ? Double.NEGATIVE_INFINITY : ratio;
                }))
        .orElseThrow();
  }

  private static Judgement judgement(Row subject, List<Row> peers, Criterion criterion) {
    return Judgement.of(subject, best(peers, criterion.measure()), criterion, criterion.bound());
  }

  private static Row best(List<Row> rows, Measure measure) {
    Comparator<Row> rising =
        Comparator.comparingDouble(
            row -> {
              double mean = row.mean(measure);
              return Double.isNaN(mean)
                  ? Double.POSITIVE_INFINITY
                  : measure.better() == Measure.Better.LESS ? mean : -mean;
            });
    return rows.stream().min(rising).orElseThrow();
  }
}
