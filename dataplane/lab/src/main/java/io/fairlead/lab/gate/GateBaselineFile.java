package io.fairlead.lab.gate;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.gate.GateBaseline.MatrixCell;
import io.fairlead.lab.gate.GateBaseline.Row;
import io.fairlead.lab.report.Measure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The baseline as JSON. Strict: a gate that overlooks a row lets everything through. */
final class GateBaselineFile {

  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  private static final List<String> FIELDS =
      Stream.concat(
              Stream.of("workload", "pool", "policy", "seeds"),
              GateBaseline.MEASURES.stream().map(Measure::id))
          .toList();

  private GateBaselineFile() {}

  static String write(GateBaseline baseline) {
    return baseline.rows().stream()
        .map(row -> "    " + node(row))
        .collect(Collectors.joining(",\n", "{\n  \"rows\": [\n", "\n  ]\n}\n"));
  }

  static GateBaseline read(String json) throws IOException {
    try {
      JsonNode root = JSON.readTree(json);
      JsonNode rows = root.path("rows");
      if (!rows.isArray() || rows.isEmpty() || root.size() != 1) {
        throw broken("expected one field, rows, with at least one row");
      }
      List<Row> read = new ArrayList<>();
      for (JsonNode row : rows) {
        read.add(row("rows[" + read.size() + "]", row));
      }
      return new GateBaseline(read);
    } catch (JsonProcessingException e) {
      throw broken("line %d: %s".formatted(e.getLocation().getLineNr(), e.getOriginalMessage()));
    } catch (IllegalArgumentException e) {
      throw broken(String.valueOf(e.getMessage()));
    }
  }

  private static ObjectNode node(Row row) {
    ObjectNode node = JSON.createObjectNode();
    node.put("workload", row.cell().workload());
    node.put("pool", row.cell().pool());
    node.put("policy", row.cell().policy());
    row.seeds().forEach(node.putArray("seeds")::add);
    GateBaseline.MEASURES.forEach(measure -> node.put(measure.id(), row.mean(measure)));
    return node;
  }

  private static Row row(String path, JsonNode row) throws IOException {
    for (Map.Entry<String, JsonNode> field : row.properties()) {
      if (!FIELDS.contains(field.getKey())) {
        throw broken(path + "." + field.getKey() + " is not known; known are " + FIELDS);
      }
    }
    var means = new EnumMap<Measure, Double>(Measure.class);
    for (Measure measure : GateBaseline.MEASURES) {
      means.put(measure, number(path + "." + measure.id(), row.path(measure.id())));
    }
    List<Long> seeds = new ArrayList<>();
    for (JsonNode seed : row.path("seeds")) {
      if (!seed.canConvertToLong() || !seed.isIntegralNumber()) {
        throw broken(path + ".seeds must hold whole numbers, not " + seed);
      }
      seeds.add(seed.asLong());
    }
    if (seeds.isEmpty()) {
      throw broken(path + ".seeds is missing or empty");
    }
    return new Row(
        new MatrixCell(
            text(path + ".workload", row.path("workload")),
            text(path + ".pool", row.path("pool")),
            text(path + ".policy", row.path("policy"))),
        seeds,
        means);
  }

  private static String text(String path, JsonNode node) throws IOException {
    if (!node.isTextual()) {
      throw broken(path + " must be a string" + found(node));
    }
    return node.textValue();
  }

  private static double number(String path, JsonNode node) throws IOException {
    if (!node.isNumber() || !Double.isFinite(node.doubleValue()) || node.doubleValue() < 0) {
      throw broken(path + " must be a number of 0 or more" + found(node));
    }
    return node.doubleValue();
  }

  private static String found(JsonNode node) {
    return node.isMissingNode() ? ", but is missing" : ", not " + node;
  }

  private static IOException broken(String what) {
    return new IOException(
        "the gate's baseline can't be read: "
            + what
            + "; make it anew with "
            + GateBaseline.UPDATE);
  }
}
