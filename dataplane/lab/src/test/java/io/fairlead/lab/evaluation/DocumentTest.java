package io.fairlead.lab.evaluation;

import static io.fairlead.lab.evaluation.Rows.CHAT;
import static io.fairlead.lab.evaluation.Rows.CHAT_TWICE;
import static io.fairlead.lab.evaluation.Rows.diverged;
import static io.fairlead.lab.evaluation.Rows.refusing;
import static io.fairlead.lab.evaluation.Rows.results;
import static io.fairlead.lab.evaluation.Rows.row;
import static io.fairlead.lab.evaluation.Rows.with;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.Flow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DocumentTest {

  private static final Plan PLAN = Plan.read(Rows.PLAN);

  /** As in the results. */
  private static final String SCHEDULER = "abcdef";

  private static final PartResults RESULTS =
      results(
          row(CHAT, "cost", 100, 200, 300),
          row(CHAT, "weighted", 100, 200, 300),
          row(CHAT, "product", 400, 400, 400),
          diverged(row(CHAT_TWICE, "cost", 1_000, 2_000, 3_000), true, true, false),
          row(CHAT_TWICE, "weighted", 900, 900, 900),
          diverged(row(CHAT_TWICE, "product", 5_000, 5_000, 5_000), true, true, true));

  @Test
  void theHeadlineCountsAndNamesEachFailure() {
    String headline = render("{{headline}}", RESULTS);

    assertThat(headline)
        .startsWith("**On the test set (`main`) 4 of 5 judgements pass, 1 don't**: mean 1 of 1")
        .contains("sustained rate 0 of 1")
        .contains("- `cost`, `chat@2` on `8xh100-8b`: sustained rate ×1.00")
        .contains("falls behind")
        .contains("**On the tuning set nothing has been run.**");
    assertThat(headline.lines().filter(line -> line.startsWith("- `cost`"))).hasSize(1);
  }

  @Test
  void theHeadlineSaysWhatNumbersAreNotOfThisScheduler() {
    Map<String, PartResults> results = Map.of("main", RESULTS);
    assertThat(Document.render("{{headline}}", PLAN, results, "fedcba", Rows::policy))
        .contains("- **Of another version of the scheduler than this one**: `main`.");
    assertThat(render("{{headline}}", RESULTS)).doesNotContain("another version");
  }

  @Test
  void theVersionOfTheSchedulerIsThatOfItsSources(@TempDir Path folder) throws IOException {
    Path file = Files.createDirectories(folder.resolve("a")).resolve("A.java");
    Files.writeString(file, "one");
    String one = SchedulerVersion.of(folder);
    Files.writeString(file, "two");

    assertThat(one).hasSize(12).isNotEqualTo(SchedulerVersion.of(folder));
    Files.writeString(file, "one");
    assertThat(SchedulerVersion.of(folder)).isEqualTo(one);
  }

  /** To refuse half of what comes is not to keep up with it. */
  @Test
  void whoRefusesKeepsUpWithNoMore() {
    String knees =
        render(
            "{{knees main}}",
            results(
                refusing(row(CHAT, "cost", 1, 1, 1), 0.02),
                row(CHAT, "weighted", 1, 1, 1),
                row(CHAT, "product", 1, 1, 1),
                refusing(row(CHAT_TWICE, "cost", 1, 1, 1), 0.5),
                diverged(row(CHAT_TWICE, "weighted", 1, 1, 1), true, false, false),
                row(CHAT_TWICE, "product", 1, 1, 1)));

    assertThat(knees).contains("| `chat` | 1 | 2 or more | 2 or more |");
  }

  @Test
  void theHeadlineSaysWhatNumbersAreNotOfThisPlan() {
    Plan other = Plan.read(Rows.PLAN.replace("seconds: 10", "seconds: 20"));

    assertThat(headline(other, Map.of("main", RESULTS), Rows::policy))
        .contains("`main` was run by an older plan.");
    assertThat(render("{{headline}}", RESULTS)).doesNotContain("older plan");
    assertThat(headline(PLAN, Map.of(), Rows::policy))
        .contains("`main` has not been run.")
        .contains("On the test set nothing has been run");
  }

  @Test
  void theHeadlineSaysWhatNumbersAreNotOfThesePolicies() {
    assertThat(headline(PLAN, Map.of("main", RESULTS), name -> Rows.policy(name) + "edited"))
        .contains("`main` was run by an older plan.");
    assertThat(
            PLAN.fingerprint("main", name -> name.equals("other") ? "edited" : Rows.policy(name)))
        .as("a policy that does not compete")
        .isEqualTo(RESULTS.plan());
  }

  @Test
  void tablesMarkWhoDoesNotKeepUp() {
    assertThat(render("{{values main end-to-end-mean}}", RESULTS).lines())
        .containsExactly(
            "| case | `cost` | `weighted` | `product` |",
            "|---|--:|--:|--:|",
            "| `chat` | 200 | 200 | 400 |",
            "| `chat@2` | (2000) | 900 | (5000) |");
    assertThat(render("{{knees main}}", RESULTS))
        .contains("| `chat` | 1 | 2 or more | 1 | @2: 50 · 50 · 50 |");
    assertThat(render("{{verdict main}}", RESULTS))
        .contains("| `chat` | `weighted` | ×1.00 [1.00, 1.00] ✓ |")
        .contains("| `chat@2` | `weighted` |  |  |");
  }

  @Test
  void whatIsJudgedByWhatIsThePlans() {
    assertThat(render("{{plan}}", RESULTS))
        .contains(
            "| `main` | test | 6..8 | `cost` | `weighted` `product` |"
                + " `chat`, × 1 2, up to 3, 10 s |")
        .contains("Frozen constants of `cost`: `omega` 48, `criticalWeight` 0.5.");
    assertThat(render("{{made main}}", RESULTS))
        .isEqualTo(
            "`./hack/evaluate main` at commit `0123456789`, seeds 6..8, scheduler `abcdef`.");
    assertThat(render("{{off main chat cost end-to-end-mean 160}}", RESULTS)).isEqualTo("+25.0 %");
    assertThat(render("{{one main chat cost end-to-end-mean}}", RESULTS)).isEqualTo("200");
  }

  @ParameterizedTest
  @CsvSource({
    "{{values other end-to-end-mean}}, other",
    "{{values main speed}}, there is no measure speed",
    "{{picture main}}, {{picture}} is not known",
  })
  void refusesWhatIsNotThere(String template, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> render(template, RESULTS))
        .withMessageContaining(message);
  }

  @Test
  void resultsAreKeptAsTheyAre() throws IOException {
    Row some =
        with(row(CHAT, "cost", 100, 200, 300), Measure.SLOWEST_FLOW, 1.5, 1 / 0.0, Double.NaN);
    var flows = List.of(new Flow("a b", 6, 3, 2, 1, 12.5, 7), new Flow("c", 5, 1, 2, 0, 2, 3));
    PartResults results =
        results(
            new Row(
                some.setting(),
                some.contender(),
                List.of(false, true, false),
                some.values(),
                flows));

    assertThat(PartResults.read(results.json())).isEqualTo(results);
    assertThatIOException()
        .isThrownBy(() -> PartResults.read(results.json().replace("[6,7,8]", "[6,7]")))
        .withMessageContaining("3 values of end-to-end-mean for 2 seeds");
    assertThatIOException()
        .isThrownBy(() -> PartResults.read(results.json().replace("false,true,false", "1")))
        .withMessageContaining("diverged of a row has 1 values for 3 seeds");
    assertThatIOException()
        .isThrownBy(() -> PartResults.read("{}"))
        .withMessageContaining("no measures");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "peers: [weighted, product] | peers: [nobody] | parts.main names \"nobody\"",
        "kind: test | kind: exam | parts.main.kind",
        "seeds: 6..8 | seeds: 5 | seeds is 5; set a first and a last",
        "seconds: 10 | second: 10 | second",
        "peers: [weighted, product] | peers: [] | peers is empty",
        "loads: [1, 2] | loads: [0] | loads is [0.0]",
      })
  void namesWhatIsWrongWithAPlan(String good, String bad, String message) {
    assertThat(Rows.PLAN).contains(good);

    assertThatIllegalArgumentException()
        .isThrownBy(() -> Plan.read(Rows.PLAN.replace(good, bad)))
        .withMessageStartingWith("plan, line ")
        .withMessageContaining(message);
  }

  @Test
  void aLadderGoesOnInStepsOfAQuarter() {
    assertThat(PLAN.parts().values().iterator().next().cases().getFirst().steps())
        .containsExactly(1.0, 2.0, 2.5);
  }

  private static String render(String template, PartResults results) {
    return Document.render(template, PLAN, Map.of("main", results), SCHEDULER, Rows::policy);
  }

  private static String headline(
      Plan plan, Map<String, PartResults> results, UnaryOperator<String> policies) {
    return Document.render("{{headline}}", plan, results, SCHEDULER, policies);
  }
}
