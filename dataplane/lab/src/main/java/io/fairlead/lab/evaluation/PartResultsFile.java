package io.fairlead.lab.evaluation;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import io.fairlead.lab.simulator.Flow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A part's results as JSON: what measures there are stands once, values in their order. A value
 * that isn't there is null, one beyond all bounds the string {@code "Infinity"}.
 */
final class PartResultsFile {

  private static final ObjectMapper JSON = new ObjectMapper();

  private PartResultsFile() {}

  static String write(PartResults results) {
    ObjectNode head = JSON.createObjectNode();
    head.put("command", results.command());
    head.put("commit", results.commit());
    head.put("scheduler", results.scheduler());
    head.put("plan", results.plan());
    head.put("quick", results.quick());
    results.seeds().forEach(head.putArray("seeds")::add);
    Row.MEASURES.forEach(measure -> head.withArray("measures").add(measure.id()));
    String fields =
        head.properties().stream()
            .map(field -> "  \"%s\": %s,\n".formatted(field.getKey(), field.getValue()))
            .collect(Collectors.joining());
    return results.rows().stream()
        .map(row -> "    " + node(row))
        .collect(Collectors.joining(",\n", "{\n" + fields + "  \"rows\": [\n", "\n  ]\n}\n"));
  }

  static PartResults read(String json) throws IOException {
    try {
      JsonNode root = JSON.readTree(json);
      List<Measure> measures = new ArrayList<>();
      for (JsonNode id : need(root, "measures")) {
        measures.add(measure(id.asText()));
      }
      List<Long> seeds = new ArrayList<>();
      need(root, "seeds").forEach(seed -> seeds.add(seed.asLong()));
      List<Row> rows = new ArrayList<>();
      for (JsonNode row : need(root, "rows")) {
        rows.add(row(row, measures, seeds.size()));
      }
      return new PartResults(
          need(root, "command").asText(),
          need(root, "commit").asText(),
          need(root, "scheduler").asText(),
          need(root, "plan").asText(),
          need(root, "quick").asBoolean(),
          seeds,
          rows);
    } catch (JsonProcessingException e) {
      throw new IOException("results can't be read: " + e.getOriginalMessage(), e);
    }
  }

  private static ObjectNode node(Row row) {
    ObjectNode node = JSON.createObjectNode();
    node.put("workload", row.setting().workload());
    node.put("load", row.setting().load());
    node.put("pool", row.setting().pool());
    node.put("faults", row.setting().faults());
    node.put("contender", row.contender());
    row.diverged().forEach(node.putArray("diverged")::add);
    ArrayNode values = node.putArray("values");
    for (Measure measure : Row.MEASURES) {
      ArrayNode seeds = values.addArray();
      for (double value : row.of(measure)) {
        if (Double.isNaN(value)) {
          seeds.addNull();
        } else if (Double.isInfinite(value)) {
          seeds.add(Double.toString(value));
        } else if (value == Math.rint(value)) {
          seeds.add((long) value);
        } else {
          seeds.add(value);
        }
      }
    }
    for (Flow flow : row.flows()) {
      ArrayNode one = node.withArray("flows").addArray();
      one.add(flow.name()).add(flow.arrived()).add(flow.completed());
      one.add(flow.rejected()).add(flow.good());
      one.add(orNull(flow.meanMs())).add(orNull(flow.ttftP99Ms()));
    }
    return node;
  }

  private static Row row(JsonNode row, List<Measure> measures, int seeds) throws IOException {
    Map<Measure, List<Double>> values = new EnumMap<>(Measure.class);
    JsonNode all = need(row, "values");
    for (int i = 0; i < measures.size(); i++) {
      List<Double> list = new ArrayList<>();
      all.path(i).forEach(value -> list.add(orNaN(value)));
      if (list.size() != seeds) {
        throw new IOException(
            "a row has %d values of %s for %d seeds"
                .formatted(list.size(), measures.get(i).id(), seeds));
      }
      values.put(measures.get(i), list);
    }
    List<Boolean> diverged = new ArrayList<>();
    need(row, "diverged").forEach(seed -> diverged.add(seed.asBoolean()));
    if (diverged.size() != seeds) {
      throw new IOException(
          "diverged of a row has %d values for %d seeds".formatted(diverged.size(), seeds));
    }
    List<Flow> flows = new ArrayList<>();
    for (JsonNode flow : row.path("flows")) {
      flows.add(
          new Flow(
              flow.path(0).asText(),
              flow.path(1).asLong(),
              flow.path(2).asLong(),
              flow.path(3).asLong(),
              flow.path(4).asLong(),
              orNaN(flow.path(5)),
              orNaN(flow.path(6))));
    }
    return new Row(
        new Setting(
            need(row, "workload").asText(),
            need(row, "load").asDouble(),
            need(row, "pool").asText(),
            need(row, "faults").asText()),
        need(row, "contender").asText(),
        diverged,
        values,
        flows);
  }

  private static @Nullable Double orNull(double value) {
    return Double.isFinite(value) ? value : null;
  }

  private static double orNaN(JsonNode value) {
    return value.asDouble(Double.NaN);
  }

  private static Measure measure(String id) throws IOException {
    for (Measure measure : Measure.values()) {
      if (measure.id().equals(id)) {
        return measure;
      }
    }
    throw new IOException("measures has \"" + id + "\", which is none");
  }

  private static JsonNode need(JsonNode node, String field) throws IOException {
    JsonNode value = node.get(field);
    if (value == null) {
      throw new IOException("results have no " + field + "; make them again");
    }
    return value;
  }
}
