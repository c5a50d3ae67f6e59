package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.Course;
import io.fairlead.lab.simulator.Disruption;
import io.fairlead.lab.simulator.Distribution;
import io.fairlead.lab.simulator.RunResult;
import io.fairlead.lab.simulator.TimeSeries;
import io.fairlead.lab.simulator.TimeSeries.Line;
import io.fairlead.lab.statistics.Estimate;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathConstants;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

final class HtmlReportTest {

  private static final List<String> POLICIES = List.of("cost", "weighted-2-2-3", "round-robin");
  private static final Report REPORT =
      report(MadeUpRuns.matrix(List.of("chat", "rag"), POLICIES, 3, 8), "weighted-2-2-3");

  private final XPath xpath = XPathFactory.newInstance().newXPath();

  @Test
  void isWellFormedAndLoadsNothing() throws Exception {
    Document page = parse(REPORT.html());

    assertThat(all(page, "//script | //link | //img | //iframe | //@src | //@style")).isEmpty();
    assertThat(all(page, "//a/@href")).containsExactly("#w1", "#w2");
    assertThat(REPORT.html()).doesNotContain("http:", "https:", "url(", "@import");
    assertThat(all(page, "//section/@id")).containsExactly("w1", "w2");
  }

  @Test
  void saysWhatMadeIt() throws Exception {
    Document page = parse(REPORT.html());

    assertThat(all(page, "//head/title")).containsExactly("A & <b>");
    assertThat(all(page, "//pre/code")).containsExactly("fairlead simulate --x '<y>'");
    assertThat(all(page, "//dl/div/dt")).containsExactly("seeds", "pool");
    assertThat(all(page, "//dl/div/dd")).containsExactly("3", "\"8xh100\"");
  }

  @Test
  void tablesHoldTheValuesOfTheComparison() throws Exception {
    Document page = parse(REPORT.html());
    PolicySummary cost = REPORT.comparison().groups().getFirst().policies().getFirst();
    Estimate ttft = cost.cell(Measure.TTFT_P50).value();

    String table = "//section[@id='w1']/div[@class='scroll'][1]/table";
    assertThat(all(page, table + "/tbody/tr/th")).isEqualTo(POLICIES);
    assertThat(all(page, table + "/thead/tr/th[position()<3]"))
        .containsExactly("policy", "TTFT p50, ms\u00a0↓");
    assertThat(all(page, table + "/tbody/tr[1]/td[1]/span[@class='value']"))
        .containsExactly(
            "★ "
                + Shown.mean(Measure.TTFT_P50, ttft)
                + " "
                + Shown.plusMinus(Measure.TTFT_P50, ttft));
    assertThat(all(page, table + "/tbody/tr/td[1]/span[@class='versus']/span[1]"))
        .containsExactly(
            Shown.ratio(cost.cell(Measure.TTFT_P50).versus()) + " ✓",
            "reference",
            Shown.ratio(
                    REPORT
                        .comparison()
                        .groups()
                        .getFirst()
                        .policies()
                        .getLast()
                        .cell(Measure.TTFT_P50)
                        .versus())
                + " ✗");
  }

  @Test
  void overviewHasEveryPolicyOnEveryWorkload() throws Exception {
    Document page = parse(REPORT.html());

    String table = "//main/div[@class='scroll'][1]/table";
    assertThat(all(page, table + "/thead/tr/th"))
        .containsExactly("policy", "chat on 8xh100-8b", "rag on 8xh100-8b");
    assertThat(all(page, table + "/tbody/tr/th")).isEqualTo(POLICIES);
    assertThat(all(page, table + "/tbody/tr/td")).hasSize(6).doesNotContain("–");
  }

  @Test
  void overviewOfManyWorkloadsHasThemInRows() throws Exception {
    List<RunResult> runs =
        new ArrayList<>(MadeUpRuns.matrix(List.of("a", "b", "c"), List.of("x", "y"), 1, 2));
    runs.removeLast();

    Document page = parse(report(runs, "x").html());

    String table = "//main/div[@class='scroll'][1]/table";
    assertThat(all(page, table + "/thead/tr/th")).containsExactly("workload", "x", "y");
    assertThat(all(page, table + "/tbody/tr/th"))
        .containsExactly("a on 2xh100-8b", "b on 2xh100-8b", "c on 2xh100-8b");
    assertThat(all(page, table + "/tbody/tr[3]/td")).containsExactly("reference", "–");
  }

  @Test
  void plotsHaveALinePerPolicyEndpointAndBand() throws Exception {
    Document page = parse(REPORT.html());

    String section = "//section[@id='w1']";
    assertThat(all(page, section + "/div[@class='pair']/figure[1]/svg/g/title"))
        .isEqualTo(POLICIES);
    assertThat(all(page, section + "/div[@class='pair']/figure[2]/svg/g/title"))
        .isEqualTo(POLICIES);
    assertThat(all(page, section + "/ul[@class='legend']/li")).isEqualTo(POLICIES);
    assertThat(all(page, section + "//table[@class='bars']//th")).isEqualTo(POLICIES);
    assertThat(all(page, section + "/details[1]//figure/svg/path/title"))
        .hasSize(3 * 8)
        .contains("h100-0", "h100-7");
    assertThat(all(page, section + "/details[2]//figure[1]/svg/path/title"))
        .containsExactly("critical", "standard", "sheddable");
    assertThat(all(page, "//svg//@d")).allSatisfy(d -> assertThat(d).doesNotContain("NaN"));
  }

  @Test
  void aBandInWhichNothingWaitsIsNotDrawn() throws Exception {
    RunResult idle =
        run(
            "none",
            new TimeSeries(
                1,
                List.of(
                    new Line("critical", List.of(0.0, 0.0)),
                    new Line("standard", List.of(0.0, 9_000.0)))));

    Document page = parse(report(List.of(idle), "none").html());

    assertThat(all(page, "//details[2]//figure/svg/path/title")).containsExactly("standard");
    assertThat(all(page, "//details[2]/ul/li")).containsExactly("standard");
  }

  @Test
  void saysWhereAnAxisIsLogarithmic() throws Exception {
    String log = "The upright axis is logarithmic from 1 on.";
    List<RunResult> runs =
        List.of(
            MadeUpRuns.run("chat", "fast", 1, 0.5, 4), MadeUpRuns.run("chat", "slow", 1, 20, 4));

    assertThat(all(parse(report(runs, "fast").html()), "//details/p")).contains(log);
    assertThat(all(parse(report(runs.subList(0, 1), "fast").html()), "//details/p"))
        .doesNotContain(log);
  }

  @Test
  void namesAreEscaped() throws Exception {
    String name = "<script>alert(\"x\")</script>&'|\u0001";
    Document page = parse(report(List.of(MadeUpRuns.run(name, name, 1, 1, 2)), name).html());

    assertThat(all(page, "//script")).isEmpty();
    assertThat(all(page, "//section/h2"))
        .containsExactly("<script>alert(\"x\")</script>&'|\uFFFD on 2xh100-8b");
  }

  @Test
  void whatIsAbsentIsADash() throws Exception {
    RunResult some = MadeUpRuns.run("chat", "cost", 1, 1, 2);
    Document page = parse(report(List.of(some, empty("none")), "cost").html());

    String row = "//section/div[@class='scroll'][1]/table/tbody/tr[2]";
    assertThat(all(page, row + "/th")).containsExactly("none");
    assertThat(all(page, row + "/td")).isNotEmpty().allMatch("––"::equals);
    assertThat(all(page, "//svg//@d")).allSatisfy(d -> assertThat(d).doesNotContain("NaN"));

    Document nothing = parse(report(List.of(empty("none")), "none").html());
    assertThat(all(nothing, "//p")).contains("The runs have no such series.");
  }

  @Test
  void manyEndpointsAndPoliciesFit() throws Exception {
    List<String> policies = IntStream.range(0, 30).mapToObj(i -> "policy-" + i).toList();
    List<RunResult> runs = new ArrayList<>();
    RunResult one = MadeUpRuns.run("any", "any", 1, 1.1, 100);
    for (String workload : List.of("a", "b", "c", "d")) {
      policies.forEach(policy -> runs.add(MadeUpRuns.as(one, workload, policy)));
    }

    String html = report(runs, "policy-3").html();

    assertThat(html.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(4_000_000);
    assertThat(all(parse(html), "//section[1]/details[1]//figure[1]/svg/path/title"))
        .containsExactly(busiest(runs.getFirst().load()), "mean");
  }

  @Test
  void sameInputSameBytes() {
    assertThat(
            report(MadeUpRuns.matrix(List.of("chat", "rag"), POLICIES, 3, 8), "weighted-2-2-3")
                .html())
        .isEqualTo(REPORT.html());
  }

  static Report report(List<RunResult> runs, String reference) {
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("seeds", "3");
    parameters.put("pool", "\"8xh100\"");
    return Report.of("A & <b>", "fairlead simulate --x '<y>'", parameters, runs, reference);
  }

  /** A run in which nothing was completed and nothing looked at. */
  static RunResult empty(String policy) {
    return run(policy, new TimeSeries(1, List.of()));
  }

  private static RunResult run(String policy, TimeSeries waiting) {
    return new RunResult(
        "chat",
        policy,
        "2xh100-8b",
        1,
        10,
        0,
        0,
        0,
        0,
        0,
        Distribution.NONE,
        Distribution.NONE,
        Distribution.NONE,
        Distribution.NONE,
        0,
        0,
        0,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        Double.NaN,
        0,
        0,
        0,
        new TimeSeries(1, List.of()),
        waiting,
        Disruption.NONE,
        List.of(),
        new Course(0, 0, 0, 0, 0, Double.NaN));
  }

  private static String busiest(TimeSeries load) {
    Map<String, Double> means = new HashMap<>();
    load.lines()
        .forEach(
            line ->
                means.put(
                    line.name(),
                    line.values().stream()
                        .mapToDouble(Double::doubleValue)
                        .average()
                        .orElseThrow()));
    return means.entrySet().stream().max(Map.Entry.comparingByValue()).orElseThrow().getKey();
  }

  private static Document parse(String html) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new InputSource(new StringReader(html)));
  }

  /** The text of every node that matches. */
  private List<String> all(Document page, String path) throws Exception {
    var nodes = (NodeList) xpath.evaluate(path, page, XPathConstants.NODESET);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> String.valueOf(nodes.item(i).getTextContent()).strip())
        .toList();
  }
}
