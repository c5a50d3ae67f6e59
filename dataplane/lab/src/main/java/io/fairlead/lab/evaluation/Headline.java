package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Judgement.Criterion;
import io.fairlead.lab.evaluation.Judgement.Outcome;
import io.fairlead.lab.evaluation.Plan.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** What all parts together come to: a count, and everything that did not pass by its name. */
final class Headline {

  private final Plan plan;
  private final Map<String, PartResults> results;
  private final String scheduler;
  private final UnaryOperator<String> policies;
  private final StringBuilder out = new StringBuilder();

  Headline(
      Plan plan,
      Map<String, PartResults> results,
      String scheduler,
      UnaryOperator<String> policies) {
    this.plan = plan;
    this.results = results;
    this.scheduler = scheduler;
    this.policies = policies;
  }

  String text() {
    set(Kind.TEST, "On the test set");
    set(Kind.TUNING, "On the tuning set");
    caveats();
    return out.toString().strip();
  }

  private void set(Kind kind, String where) {
    List<String> parts = made(kind);
    List<Judgement> all = new ArrayList<>();
    List<Judgement> single = new ArrayList<>();
    for (String part : parts) {
      PartResults made = Objects.requireNonNull(results.get(part));
      Plan.Part of = Objects.requireNonNull(plan.parts().get(part));
      all.addAll(Verdict.of(of, made).judgements());
      single.addAll(Verdict.bySingleMeasures(of, made).judgements());
    }
    if (all.isEmpty()) {
      out.append("**%s nothing has been run.**\n\n".formatted(where));
      return;
    }
    List<Judgement> unjudged = all.stream().filter(each -> !each.judged()).toList();
    all.removeAll(unjudged);
    single.removeIf(each -> !each.judged());
    List<Judgement> open = all.stream().filter(each -> !each.passed()).toList();
    out.append(
        "**%s (%s) %d of %d judgements pass%s**: "
            .formatted(
                where,
                parts.stream().map(part -> "`" + part + "`").collect(Collectors.joining(", ")),
                all.size() - open.size(),
                all.size(),
                open.isEmpty() ? "" : ", %d don't".formatted(open.size())));
    List<String> counts = new ArrayList<>();
    for (Criterion criterion : Criterion.values()) {
      List<Judgement> of = all.stream().filter(each -> each.criterion() == criterion).toList();
      if (!of.isEmpty()) {
        long passed = of.stream().filter(Judgement::passed).count();
        counts.add("%s %d of %d".formatted(criterion.word(), passed, of.size()));
      }
    }
    out.append(String.join(", ", counts)).append(". Beside the best peer of each measure singly, ");
    out.append("%d of %d.\n\n".formatted(count(single), single.size()));
    list("Worse than the bound allows", open, EnumSet.of(Outcome.FAILED, Outcome.BEHIND));
    list(
        "Not shown, since the interval is on both sides of the bound",
        open,
        EnumSet.of(Outcome.UNCLEAR));
    list("Not judged, since both have nothing", unjudged, EnumSet.of(Outcome.NOT_JUDGED));
  }

  private static long count(List<Judgement> judgements) {
    return judgements.stream().filter(Judgement::passed).count();
  }

  private void list(String title, List<Judgement> open, Set<Outcome> outcomes) {
    List<Judgement> mine = open.stream().filter(each -> outcomes.contains(each.outcome())).toList();
    if (!mine.isEmpty()) {
      out.append("%s (%d):\n\n".formatted(title, mine.size()));
      mine.forEach(each -> out.append("- `%s`, %s\n".formatted(each.subject(), each.line())));
      out.append('\n');
    }
  }

  private List<String> made(Kind kind) {
    return plan.parts().entrySet().stream()
        .filter(part -> part.getValue().kind() == kind && results.containsKey(part.getKey()))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** What a reader must know before believing the count. */
  private void caveats() {
    List<String> caveats = new ArrayList<>();
    for (String part : plan.parts().keySet()) {
      PartResults made = results.get(part);
      if (made == null) {
        caveats.add("`%s` has not been run.".formatted(part));
      } else if (made.quick()) {
        caveats.add("`%s` is a trial of the command, with few seconds and seeds.".formatted(part));
      } else if (!made.plan().equals(plan.fingerprint(part, policies))) {
        caveats.add("`%s` was run by an older plan.".formatted(part));
      }
    }
    List<String> older =
        results.entrySet().stream()
            .filter(part -> !part.getValue().scheduler().equals(scheduler))
            .map(Map.Entry::getKey)
            .toList();
    if (!older.isEmpty()) {
      caveats.add(
          "**Of another version of the scheduler than this one**: `%s`."
              .formatted(String.join("`, `", older)));
    }
    caveats.forEach(caveat -> out.append("- ").append(caveat).append('\n'));
  }
}
