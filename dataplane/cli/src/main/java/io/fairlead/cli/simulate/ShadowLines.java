package io.fairlead.cli.simulate;

import io.fairlead.cli.ShadowTable;
import io.fairlead.epp.shadow.ShadowReport;
import io.fairlead.epp.status.ShadowPage;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.ShadowedRun;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** How shadows did beside each policy, over all seeds. */
final class ShadowLines {

  private ShadowLines() {}

  /** A table for each policy on each workload. */
  static List<String> of(List<ShadowedRun> runs) throws IOException {
    Map<String, List<ShadowedRun>> byPolicy = new LinkedHashMap<>();
    for (ShadowedRun run : runs) {
      RunResult result = run.result();
      byPolicy
          .computeIfAbsent(
              "%s on %s, beside %s:".formatted(result.workload(), result.pool(), result.policy()),
              title -> new ArrayList<>())
          .add(run);
    }
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, List<ShadowedRun>> seeds : byPolicy.entrySet()) {
      lines.add(seeds.getKey());
      lines.addAll(ShadowTable.lines(ShadowPage.of(reports(seeds.getValue()))));
    }
    return lines;
  }

  private static List<ShadowReport> reports(List<ShadowedRun> seeds) {
    List<ShadowReport> reports = new ArrayList<>();
    ShadowedRun.together(seeds)
        .forEach(
            (name, told) ->
                reports.add(new ShadowReport(name, null, false, told.leftOut(), 0, told)));
    return reports;
  }
}
