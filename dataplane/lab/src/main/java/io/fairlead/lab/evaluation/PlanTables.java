package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Plan.Case;
import io.fairlead.lab.evaluation.Plan.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** The plan for readers. */
final class PlanTables {

  private PlanTables() {}

  static String text(Plan plan) {
    var table =
        new MarkdownTable(
            List.of("part", "set", "seeds", "judged", "by the best of", "workloads and loads"));
    for (Map.Entry<String, Part> each : plan.parts().entrySet()) {
      Part part = each.getValue();
      table.row(
          List.of(
              "`" + each.getKey() + "`",
              part.kind().name().toLowerCase(Locale.ROOT),
              part.seeds(),
              names(part.subjects()),
              names(part.peers()),
              part.cases().stream().map(PlanTables::text).collect(Collectors.joining("; "))));
    }
    String frozen =
        plan.frozen().entrySet().stream()
            .map(each -> "`%s` %s".formatted(each.getKey(), Row.plain(each.getValue())))
            .collect(Collectors.joining(", "));
    return table.text() + "\n\nFrozen constants of `cost`: " + frozen + ".";
  }

  private static String names(List<String> names) {
    return names.stream().map(name -> "`" + name + "`").collect(Collectors.joining(" "));
  }

  private static String text(Case each) {
    List<String> parts = new ArrayList<>();
    parts.add("`" + each.workload() + "`");
    if (each.loads().size() > 1 || each.loads().getFirst() != 1) {
      parts.add(each.loads().stream().map(Row::plain).collect(Collectors.joining(" ", "× ", "")));
    }
    Optional.ofNullable(each.upTo()).ifPresent(most -> parts.add("up to " + Row.plain(most)));
    Optional.ofNullable(each.pool()).ifPresent(pool -> parts.add("on `" + pool + "`"));
    parts.addAll(each.faults());
    parts.add(Row.plain(each.seconds()) + " s");
    Optional.ofNullable(each.bound())
        .ifPresent(bound -> parts.add("mean at most ×" + Row.plain(bound)));
    return String.join(", ", parts);
  }
}
