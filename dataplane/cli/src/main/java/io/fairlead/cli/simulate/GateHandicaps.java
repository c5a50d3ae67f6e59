package io.fairlead.cli.simulate;

import io.fairlead.lab.gate.GateBaseline;
import io.fairlead.lab.gate.GateReport;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.Policy;
import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.simulator.SimulationSpec;
import io.fairlead.lab.simulator.SimulationSpec.Client;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import java.util.ArrayList;
import java.util.List;

/**
 * Something injected for each of the gate's measures, which it must make fail: a measure that can't
 * would let everything through.
 */
final class GateHandicaps {

  private static final String CHAT = "chat@0.5";
  private static final String PRIORITY = "priority@1.25";

  private static final List<Handicap> HANDICAPS =
      List.of(
          new Handicap(CHAT, "", 0, List.of()),
          new Handicap(PRIORITY, "", 0, List.of()),
          new Handicap(
              CHAT,
              "kind=slow,server=0-7,factor=1.05",
              0,
              List.of(Measure.END_TO_END_MEAN, Measure.TTFT_P90)),
          new Handicap(
              CHAT, "kind=freeze-live,server=2-4,at=20s,for=4s", 0, List.of(Measure.TTFT_P99)),
          new Handicap(CHAT, "", 0.05, List.of(Measure.HIT_RATE)),
          new Handicap(
              CHAT,
              "kind=fail-fast,server=0-7,share=0.05",
              0,
              List.of(Measure.REQUESTS_PER_SECOND)),
          new Handicap(
              PRIORITY, "kind=slow,server=0-2,factor=1.1", 0, List.of(Measure.REJECTED_SHARE)));

  private static final double SECONDS = 40;

  private GateHandicaps() {}

  /**
   * What is done to a workload.
   *
   * @param scenario none for nothing
   * @param lostHits share of requests that find nothing cached
   * @param fails the measures that must notice
   */
  private record Handicap(String workload, String scenario, double lostHits, List<Measure> fails) {

    boolean none() {
      return fails.isEmpty();
    }

    List<SimulationSpec> specs() {
      LoadedWorkload loaded = LoadedWorkload.of(workload);
      Settings usual = Settings.of(SECONDS, SECONDS / 4);
      Settings settings = usual.toBuilder().lostHits(lostHits).client(Client.EXT_PROC).build();
      Scenario happening = scenario.isEmpty() ? Scenario.NONE : Scenario.line(scenario);
      List<SimulationSpec> specs = new ArrayList<>();
      for (long seed = 1; seed <= GateMatrix.SEEDS; seed++) {
        specs.add(
            new SimulationSpec(
                loaded.whole(),
                Policy.named(GateMatrix.SUBJECT),
                PoolSpec.parse(loaded.preset().pool()),
                seed,
                settings,
                happening.events(SECONDS)));
      }
      return specs;
    }

    @Override
    public String toString() {
      return scenario.isEmpty() ? "hit-rate=" + lostHits : scenario;
    }
  }

  /** The runs, with and without. */
  static List<SimulationSpec> specs() {
    return HANDICAPS.stream().flatMap(each -> each.specs().stream()).toList();
  }

  /** One line per measure: whether it has failed as it must. */
  record Noticed(Measure measure, String handicap, boolean noticed) {

    @Override
    public String toString() {
      return "%s: %s %s"
          .formatted(measure.title(), noticed ? "notices" : "DOES NOT NOTICE", handicap);
    }
  }

  /**
   * Whether each is noticed.
   *
   * @param results of {@link #specs}, in their order
   */
  static List<Noticed> noticed(List<RunResult> results) {
    List<Noticed> noticed = new ArrayList<>();
    for (int i = 0; i < HANDICAPS.size(); i++) {
      Handicap handicap = HANDICAPS.get(i);
      GateReport report =
          GateReport.of(GateBaseline.of(runs(results, plain(handicap))), runs(results, i));
      for (Measure measure : handicap.fails()) {
        noticed.add(new Noticed(measure, handicap.toString(), report.worseBy(measure)));
      }
    }
    for (Measure measure : GateBaseline.MEASURES) {
      if (noticed.stream().noneMatch(each -> each.measure() == measure)) {
        noticed.add(new Noticed(measure, "anything: it has no handicap", false));
      }
    }
    return noticed;
  }

  private static int plain(Handicap handicap) {
    return HANDICAPS.stream()
        .map(each -> each.none() ? each.workload() : "")
        .toList()
        .indexOf(handicap.workload());
  }

  private static List<RunResult> runs(List<RunResult> results, int handicap) {
    return results.subList(handicap * GateMatrix.SEEDS, (handicap + 1) * GateMatrix.SEEDS);
  }
}
