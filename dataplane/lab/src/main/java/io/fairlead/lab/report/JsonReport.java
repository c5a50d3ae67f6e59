package io.fairlead.lab.report;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import io.fairlead.lab.report.Comparison.Group;
import io.fairlead.lab.report.PolicySummary.Cell;
import io.fairlead.lab.simulator.RunResult;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A report as JSON, written piece by piece since it may be large. */
final class JsonReport {

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET)
          // A number that an older report doesn't have must not be read as 0.
          .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)
          .enable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .registerModule(
              new SimpleModule()
                  .addSerializer(Double.class, new NumberOrNull())
                  .addSerializer(double.class, new NumberOrNull())
                  .addDeserializer(double.class, new NumberOrNan())
                  .addDeserializer(Double.class, new NumberOrNan()));

  private JsonReport() {}

  static void write(Report report, Writer writer) throws IOException {
    try (JsonGenerator out = JSON.createGenerator(writer)) {
      out.writeStartObject();
      out.writeStringField("title", report.title());
      out.writeStringField("command", report.command());
      out.writePOJOField("parameters", report.parameters());
      out.writeStringField("reference", report.comparison().reference());
      out.writeArrayFieldStart("comparison");
      for (Group group : report.comparison().groups()) {
        write(group, out);
      }
      out.writeEndArray();
      out.writeArrayFieldStart("runs");
      for (RunResult run : report.runs()) {
        out.writeRaw('\n');
        out.writePOJO(run);
      }
      out.writeEndArray();
      out.writeEndObject();
      out.writeRaw('\n');
    }
  }

  /** The runs of a report that was written before. */
  static List<RunResult> runs(Reader in) throws IOException {
    JsonNode runs = JSON.readTree(in).path("runs");
    if (!runs.isArray()) {
      throw new IOException("runs is missing: this is no report of runs");
    }
    List<RunResult> read = new ArrayList<>();
    for (JsonNode run : runs) {
      try {
        read.add(JSON.treeToValue(run, RunResult.class));
      } catch (JsonProcessingException e) {
        throw new IOException("runs[%d]: %s".formatted(read.size(), e.getOriginalMessage()), e);
      }
    }
    return read;
  }

  private static void write(Group group, JsonGenerator out) throws IOException {
    out.writeRaw('\n');
    out.writeStartObject();
    out.writeStringField("workload", group.workload());
    out.writeStringField("pool", group.pool());
    out.writeArrayFieldStart("policies");
    for (PolicySummary policy : group.policies()) {
      out.writeStartObject();
      out.writeStringField("policy", policy.policy());
      out.writePOJOField("seeds", policy.seeds());
      out.writeObjectFieldStart("measures");
      for (Measure measure : Measure.values()) {
        out.writeFieldName(measure.id());
        write(policy.cell(measure), out);
      }
      out.writeEndObject();
      out.writeEndObject();
    }
    out.writeEndArray();
    out.writeEndObject();
  }

  private static void write(Cell cell, JsonGenerator out) throws IOException {
    out.writeStartObject();
    out.writePOJOField("mean", cell.value().mean());
    out.writePOJOField("halfWidth", cell.value().halfWidth());
    out.writeNumberField("seeds", cell.value().seeds());
    out.writeStringField(
        "standing", cell.standing().name().toLowerCase(Locale.ROOT).replace('_', '-'));
    Versus versus = cell.versus();
    if (versus != null) {
      out.writeObjectFieldStart("versus");
      out.writePOJOField("ratio", versus.ratio());
      out.writePOJOField("halfWidth", versus.halfWidth());
      out.writeNumberField("seeds", versus.seeds());
      out.writeStringField("verdict", versus.verdict().word());
      out.writeEndObject();
    }
    out.writeEndObject();
  }

  private static final class NumberOrNull extends StdSerializer<Double> {

    NumberOrNull() {
      super(Double.class);
    }

    @Override
    public void serialize(Double value, JsonGenerator out, SerializerProvider provider)
        throws IOException {
      if (Double.isNaN(value)) {
        out.writeNull();
      } else if (Double.isInfinite(value)) {
        // Not a number in JSON; JavaScript and Python make one of this string, and so do we.
        out.writeString(Double.toString(value));
      } else {
        out.writeNumber(value);
      }
    }
  }

  private static final class NumberOrNan extends StdDeserializer<Double> {

    NumberOrNan() {
      super(Double.class);
    }

    @Override
    public Double deserialize(JsonParser in, DeserializationContext context) throws IOException {
      return _parseDoublePrimitive(in, context);
    }

    @Override
    public Double getNullValue(DeserializationContext context) {
      return Double.NaN;
    }
  }
}
