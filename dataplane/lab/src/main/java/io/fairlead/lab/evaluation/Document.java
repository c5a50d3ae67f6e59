package io.fairlead.lab.evaluation;

import io.fairlead.lab.report.Measure;
import io.fairlead.lab.report.Shown;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The document: a template's prose, with whatever can be computed in place of {@code {{WORD …}}}.
 *
 * <ul>
 *   <li>{@code headline}: what passes, and what doesn't
 *   <li>{@code plan}: what is judged by what
 *   <li>{@code made PART}: commit, seeds, command
 *   <li>{@code verdict PART}: a judgement per case and measure
 *   <li>{@code values PART MEASURE…}: means of all contenders
 *   <li>{@code knees PART}: up to which load each contender keeps up
 *   <li>{@code flows PART}: latency of each flow
 *   <li>{@code one PART WORKLOAD CONTENDER MEASURE}: a mean
 *   <li>{@code off PART WORKLOAD CONTENDER MEASURE NUMBER}: how far it is from a number
 * </ul>
 */
public final class Document {

  private static final Pattern FIELD = Pattern.compile("\\{\\{([a-z]+)((?: [a-z0-9.-]+)*)}}");

  /** Where {@code one} and {@code off} have it, the part being the first. */
  private static final int MEASURE = 3;

  private final Plan plan;
  private final Map<String, PartResults> results;
  private final String scheduler;
  private final UnaryOperator<String> policies;

  private Document(
      Plan plan,
      Map<String, PartResults> results,
      String scheduler,
      UnaryOperator<String> policies) {
    this.plan = plan;
    this.results = results;
    this.scheduler = scheduler;
    this.policies = policies;
  }

  /**
   * Fills a template in.
   *
   * @param results of the parts that have been made, by name
   * @param scheduler {@link SchedulerVersion} of the one that there is now
   * @param policies the text that each policy has now, by its name or file
   * @throws IllegalArgumentException if the template asks for what isn't there
   */
  public static String render(
      String template,
      Plan plan,
      Map<String, PartResults> results,
      String scheduler,
      UnaryOperator<String> policies) {
    var document = new Document(plan, results, scheduler, policies);
    Matcher field = FIELD.matcher(template);
    return field.replaceAll(
        match ->
            Matcher.quoteReplacement(
                document.field(match.group(1), match.group(2).strip().split(" +"))));
  }

  private String field(String word, String[] arguments) {
    if (word.equals("headline")) {
      return new Headline(plan, results, scheduler, policies).text();
    }
    if (word.equals("plan")) {
      return PlanTables.text(plan);
    }
    String name = arguments[0];
    Plan.Part part = plan.parts().get(name);
    if (part == null) {
      throw new IllegalArgumentException(
          "{{%s}}: \"%s\" is none of the plan's parts %s"
              .formatted(word, name, plan.parts().keySet()));
    }
    PartResults made = results.get(name);
    if (made == null) {
      return word.equals("made") ? "Not run yet: `./hack/evaluate %s`.".formatted(name) : "–";
    }
    var tables = new ResultTables(part, made);
    return switch (word) {
      case "one" -> Shown.value(last(arguments), one(made, arguments));
      case "off" -> off(one(made, arguments), arguments[arguments.length - 1]);
      case "made" -> made(made);
      case "verdict" -> tables.verdict();
      case "values" -> tables.values(measures(arguments));
      case "knees" -> tables.knees();
      case "flows" -> tables.flows();
      default -> throw new IllegalArgumentException("{{" + word + "}} is not known");
    };
  }

  private static double one(PartResults made, String[] arguments) {
    return made.rows().stream()
        .filter(row -> row.setting().workload().equals(arguments[1]))
        .filter(row -> row.contender().equals(arguments[2]))
        .findFirst()
        .map(row -> row.mean(last(arguments)))
        .orElse(Double.NaN);
  }

  private static Measure last(String[] arguments) {
    return measures(new String[] {arguments[0], arguments[MEASURE]}).getFirst();
  }

  private static String off(double value, String from) {
    double number = Double.parseDouble(from);
    return String.format(Locale.ROOT, "%+.1f %%", 100 * (value / number - 1));
  }

  private static String made(PartResults made) {
    return "`%s` at commit `%s`, seeds %s, scheduler `%s`."
        .formatted(
            made.command(),
            made.commit(),
            made.seeds().getFirst() + ".." + made.seeds().getLast(),
            made.scheduler());
  }

  private static List<Measure> measures(String[] arguments) {
    List<Measure> measures = new ArrayList<>();
    for (String id : Arrays.copyOfRange(arguments, 1, arguments.length)) {
      measures.add(
          Objects.requireNonNullElseGet(
              measure(id),
              () -> {
                throw new IllegalArgumentException("{{values}}: there is no measure " + id);
              }));
    }
    return measures;
  }

  private static @Nullable Measure measure(String id) {
    return Row.MEASURES.stream().filter(each -> each.id().equals(id)).findFirst().orElse(null);
  }
}
