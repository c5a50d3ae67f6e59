package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.TextNode;
import io.fairlead.lab.simulator.Flow;
import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JsonReportTest {

  private static final List<RunResult> RUNS =
      MadeUpRuns.matrix(List.of("chat"), List.of("cost", "weighted"), 3, 4);

  @Test
  void runsComeBackAsTheyWere() throws IOException {
    List<RunResult> runs = new ArrayList<>(RUNS);
    runs.add(HtmlReportTest.empty("none"));

    assertThat(Report.readRuns(new StringReader(json(runs)))).isEqualTo(runs);
  }

  @Test
  void holdsTheComparison() throws IOException {
    JsonNode report = new ObjectMapper().readTree(json(RUNS));
    Comparison comparison = Comparison.of(RUNS, "weighted");
    PolicySummary cost = comparison.groups().getFirst().policies().getFirst();

    assertThat(fields(report))
        .containsExactly("title", "command", "parameters", "reference", "comparison", "runs");
    assertThat(report.path("reference").asText()).isEqualTo("weighted");
    JsonNode policy = report.at("/comparison/0/policies/0");
    assertThat(policy.path("policy").asText()).isEqualTo("cost");
    assertThat(policy.path("seeds").toString()).isEqualTo("[1,2,3]");
    assertThat(fields(policy.path("measures")))
        .isEqualTo(Arrays.stream(Measure.values()).map(Measure::id).toList());
    JsonNode ttft = policy.at("/measures/ttft-p99");
    PolicySummary.Cell cell = cost.cell(Measure.TTFT_P99);
    assertThat(ttft.path("mean").asDouble()).isEqualTo(cell.value().mean());
    assertThat(ttft.path("halfWidth").asDouble()).isEqualTo(cell.value().halfWidth());
    assertThat(ttft.path("standing").asText()).isEqualTo("best");
    assertThat(ttft.at("/versus/verdict").asText()).isEqualTo("better");
    assertThat(ttft.at("/versus/ratio").asDouble()).isBetween(0.1, 0.97);
  }

  @Test
  void whatIsAbsentIsNull() throws IOException {
    JsonNode report =
        new ObjectMapper().readTree(json(List.of(RUNS.get(3), HtmlReportTest.empty("none"))));

    assertThat(report.at("/runs/1/goodput").isNull()).isTrue();
    assertThat(report.at("/runs/1/ttftMs/mean").isNull()).isTrue();
    assertThat(report.at("/comparison/1/policies/0/measures/ttft-p50/mean").isNull()).isTrue();
  }

  @Test
  void aFlowThatIsNeverServedIsInfinitelySlow() throws IOException {
    RunResult run =
        MadeUpRuns.of(
            RUNS.getFirst(),
            new Flow("served", 6, 6, 0, 6, 12.5, 7),
            new Flow("starved", 6, 0, 6, 0, Double.NaN, Double.NaN));
    JsonNode report = new ObjectMapper().readTree(json(List.of(run, RUNS.get(3))));

    JsonNode slowest = report.at("/comparison/0/policies/0/measures/slowest-flow/mean");
    assertThat(slowest).isEqualTo(TextNode.valueOf("Infinity"));
    assertThat(report.at("/runs/0/flows/1/meanMs").isNull()).isTrue();
  }

  @Test
  void sameInputSameBytes() throws IOException {
    assertThat(json(MadeUpRuns.matrix(List.of("chat"), List.of("cost", "weighted"), 3, 4)))
        .isEqualTo(json(RUNS));
  }

  @Test
  void leavesTheWriterOpen() throws IOException {
    var closed = new boolean[1];
    var out =
        new StringWriter() {
          @Override
          public void close() {
            closed[0] = true;
          }
        };

    HtmlReportTest.report(RUNS, "weighted").json(out);

    assertThat(closed[0]).isFalse();
  }

  @Test
  void doesNotMakeUpWhatAReportLacks() throws IOException {
    String json = json(RUNS.subList(3, 4)).replaceFirst("\"goodput\":[0-9.]+,", "");

    assertThatIOException()
        .isThrownBy(() -> Report.readRuns(new StringReader(json)))
        .withMessageContaining("runs[0]")
        .withMessageContaining("goodput");
  }

  @Test
  void namesWhatIsNoReport() {
    assertThatIOException()
        .isThrownBy(() -> Report.readRuns(new StringReader("{}")))
        .withMessageContaining("runs is missing");
    assertThatIOException()
        .isThrownBy(() -> Report.readRuns(new StringReader("{\"runs\":[{\"seed\":\"x\"}]}")))
        .withMessageContaining("runs[0]");
  }

  private static String json(List<RunResult> runs) throws IOException {
    var out = new StringWriter();
    HtmlReportTest.report(runs, "weighted").json(out);
    return out.toString();
  }

  private static List<String> fields(JsonNode node) {
    List<String> fields = new ArrayList<>();
    node.fieldNames().forEachRemaining(fields::add);
    return fields;
  }
}
