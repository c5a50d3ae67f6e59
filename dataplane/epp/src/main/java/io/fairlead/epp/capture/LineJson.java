package io.fairlead.epp.capture;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.crds.document.ConfigDocument;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Lines of a file of state as JSON. Used by the writer alone. */
final class LineJson {

  static final JsonFactory JSON = new JsonFactory();

  /** What was last written of each endpoint in the current file: most scrapes bring nothing new. */
  private final Map<String, EndpointMetrics> last = new HashMap<>();

  /** Writes one object. */
  interface Content {
    void write(JsonGenerator json) throws IOException;
  }

  /** A line, with what ends it. */
  static byte[] line(Content content) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);
    try (JsonGenerator json = JSON.createGenerator(bytes)) {
      json.writeStartObject();
      content.write(json);
      json.writeEndObject();
      json.writeRaw('\n');
    } catch (IOException e) {
      throw new UncheckedIOException("memory can't fail", e);
    }
    return bytes.toByteArray();
  }

  byte[] header(Header header) {
    last.clear();
    return line(
        json -> {
          json.writeStringField("kind", CaptureFields.KIND_CAPTURE);
          json.writeNumberField("version", CaptureFields.VERSION);
          json.writeStringField("started", header.started().toString());
          json.writeNumberField("origin", header.origin());
          json.writeNumberField("share", header.config().share());
          strings(json, "headers", header.config().headers());
          json.writeObjectFieldStart("limits");
          json.writeNumberField("retries", header.limits().retries());
          json.writeNumberField("unknown_prefix_blocks", header.limits().unknownPrefixBlocks());
          json.writeNumberField("max_prefix_blocks", header.limits().maxPrefixBlocks());
          json.writeNumberField("max_prefix_bytes", header.limits().maxPrefixBytes());
          json.writeNumberField("max_waiting_bytes", header.limits().maxWaitingBytes());
          json.writeEndObject();
        });
  }

  byte[] config(Line.Config line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_CONFIG, line.seq(), line.at());
          json.writeStringField("document", ConfigDocument.write(line.config()));
        });
  }

  byte[] endpoints(Line.Endpoints line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_ENDPOINTS, line.seq(), line.at());
          json.writeArrayFieldStart("endpoints");
          for (EndpointSpec endpoint : line.endpoints()) {
            json.writeStartObject();
            json.writeStringField("name", endpoint.name());
            json.writeStringField("incarnation", endpoint.incarnation());
            json.writeStringField("address", endpoint.address());
            json.writeNumberField("port", endpoint.port());
            json.writeObjectFieldStart("labels");
            for (Map.Entry<String, String> label : new TreeMap<>(endpoint.labels()).entrySet()) {
              json.writeStringField(label.getKey(), label.getValue());
            }
            json.writeEndObject();
            json.writeEndObject();
          }
          json.writeEndArray();
        });
  }

  static byte[] replicas(Line.Replicas line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_REPLICAS, line.seq(), line.at());
          json.writeNumberField("replicas", line.replicas());
        });
  }

  byte[] scrape(Line.Scrape line) {
    boolean same = line.metrics().equals(last.put(line.endpoint(), line.metrics()));
    return line(
        json -> {
          event(json, CaptureFields.KIND_SCRAPE, line.seq(), line.at());
          json.writeStringField("endpoint", line.endpoint());
          json.writeNumberField("begun", line.begun());
          if (same) {
            json.writeBooleanField("same", true);
          } else {
            metrics(json, line.metrics());
          }
        });
  }

  static byte[] unreachable(Line.Unreachable line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_UNREACHABLE, line.seq(), line.at());
          json.writeStringField("endpoint", line.endpoint());
          json.writeNumberField("begun", line.begun());
          json.writeStringField("failure", line.failure().code());
        });
  }

  static byte[] ticks(Line.Ticks line) {
    return line(
        json -> {
          json.writeStringField("kind", CaptureFields.KIND_TICKS);
          line.run().write(json);
        });
  }

  static byte[] probed(Line.Probed line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_PROBED, line.seq(), line.at());
          json.writeNumberField("probe", line.probe());
          Failure failure = line.failure();
          if (failure != null) {
            json.writeStringField("failure", failure.code());
          }
        });
  }

  static byte[] refusedWaiting(Line.RefusedWaiting line) {
    return line(json -> event(json, CaptureFields.KIND_REFUSED_WAITING, line.seq(), line.at()));
  }

  static byte[] untold(Line.NotTold line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_UNTOLD, line.seq(), line.at());
          json.writeStringField("what", line.what().code());
        });
  }

  static byte[] unasked(Line.Unasked line) {
    return line(
        json -> {
          event(json, CaptureFields.KIND_UNASKED, line.seq(), line.at());
          json.writeNumberField("probe", line.probe());
        });
  }

  /** To be told of each new set of endpoints: what is remembered of others is let go. */
  void keep(List<EndpointSpec> endpoints) {
    last.keySet().retainAll(endpoints.stream().map(EndpointSpec::name).toList());
  }

  private static void metrics(JsonGenerator json, EndpointMetrics metrics) throws IOException {
    json.writeObjectFieldStart("metrics");
    json.writeNumberField("waiting", metrics.waiting());
    json.writeNumberField("running", metrics.running());
    number(json, "kv_usage", metrics.kvUsage());
    json.writeNumberField("block_size", metrics.blockSize());
    json.writeNumberField("blocks", metrics.blocks());
    json.writeStringField("base_model", metrics.baseModel());
    json.writeNumberField("max_adapters", metrics.maxAdapters());
    strings(json, "running_adapters", metrics.runningAdapters());
    strings(json, "waiting_adapters", metrics.waitingAdapters());
    if (!Double.isNaN(metrics.startedAt())) {
      number(json, "started_at", metrics.startedAt());
    }
    if (!Double.isNaN(metrics.progress())) {
      number(json, "progress", metrics.progress());
    }
    if (!Double.isNaN(metrics.usedTokens())) {
      number(json, "used_tokens", metrics.usedTokens());
    }
    json.writeObjectFieldStart("values");
    for (Map.Entry<String, Double> value : new TreeMap<>(metrics.values()).entrySet()) {
      number(json, value.getKey(), value.getValue());
    }
    json.writeEndObject();
    json.writeEndObject();
  }

  /** What JSON has no number for is written as Java names it, in a string. */
  private static void number(JsonGenerator json, String name, double value) throws IOException {
    if (Double.isFinite(value)) {
      json.writeNumberField(name, value);
    } else {
      json.writeStringField(name, Double.toString(value));
    }
  }

  static void strings(JsonGenerator json, String name, Iterable<String> values) throws IOException {
    json.writeArrayFieldStart(name);
    for (String value : values) {
      json.writeString(value);
    }
    json.writeEndArray();
  }

  private static void event(JsonGenerator json, String kind, long seq, long at) throws IOException {
    json.writeStringField("kind", kind);
    json.writeNumberField("seq", seq);
    json.writeNumberField("at", at);
  }
}
