package io.fairlead.lab.trace;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PromptSize;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Subset;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.epp.capture.CaptureFields;
import io.fairlead.lab.trace.CaptureEvent.Request;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads a capture whole: what a core was told, in order. */
final class CaptureReader {

  private final SortedMap<Long, CaptureEvent> events = new TreeMap<>();

  /** What was last said of each endpoint in the present file. */
  private final Map<String, EndpointMetrics> scrapes = new HashMap<>();

  private @Nullable PoolLimits limits;
  private double share;
  private long origin;

  private CaptureReader() {}

  /**
   * Reads a capture.
   *
   * @throws InvalidTraceException if it can't be read
   */
  static CapturedRun read(CaptureFiles files) {
    CaptureReader reader = new CaptureReader();
    for (Path file : files.states()) {
      reader.scrapes.clear();
      each(file, reader::state);
    }
    PoolLimits limits = reader.limits;
    if (limits == null) {
      throw new InvalidTraceException(
          files.name(), "has no lines in files named *" + CaptureFields.STATE_SUFFIX);
    }
    for (Path file : files.requests()) {
      each(file, reader::request);
    }
    return new CapturedRun(limits, reader.share, reader.events);
  }

  private interface Lines {
    void take(JsonLine line, String place);
  }

  private static void each(Path file, Lines lines) {
    List<String> texts = TraceFile.wholeLines(file);
    for (int i = 0; i < texts.size(); i++) {
      lines.take(JsonLine.parse(file, i + 1, texts.get(i)), file.getFileName() + ":" + (i + 1));
    }
  }

  private void state(JsonLine line, String place) {
    String kind = line.text("kind");
    switch (kind) {
      case CaptureFields.KIND_CAPTURE -> header(line);
      case CaptureFields.KIND_CONFIG ->
          add(line, new CaptureEvent.Configured(now(line), config(line, place)));
      case CaptureFields.KIND_ENDPOINTS ->
          add(
              line,
              new CaptureEvent.Endpoints(
                  now(line),
                  line.objects("endpoints").stream().map(CaptureReader::endpoint).toList()));
      case CaptureFields.KIND_SCRAPE -> add(line, scrape(line));
      default -> throw line.wrong("kind", "a kind that this version knows");
    }
  }

  private void header(JsonLine line) {
    if (line.whole("version") != CaptureFields.VERSION) {
      throw line.wrong("version", CaptureFields.VERSION + ", the one that this version reads,");
    }
    origin = line.whole("origin");
    share = line.number("share");
    JsonLine bounds = line.object("limits");
    limits =
        new PoolLimits(
            bounds.atLeast(0, "retries"),
            bounds.atLeast(1, "unknown_prefix_blocks"),
            bounds.atLeast(1, "max_prefix_blocks"),
            bounds.whole("max_prefix_bytes"));
  }

  private static PoolConfig config(JsonLine line, String place) {
    try {
      return ConfigDocument.read(place, line.text("document")).value();
    } catch (DocumentException e) {
      throw line.invalid("document can't be read: " + e.getMessage());
    }
  }

  private static EndpointSpec endpoint(JsonLine endpoint) {
    return new EndpointSpec(
        endpoint.text("name"),
        endpoint.text("incarnation"),
        endpoint.text("address"),
        endpoint.atLeast(1, "port"),
        endpoint.map("labels", object -> object::text));
  }

  private CaptureEvent scrape(JsonLine line) {
    String endpoint = line.text("endpoint");
    EndpointMetrics metrics =
        line.has("same") ? scrapes.get(endpoint) : metrics(line.object("metrics"));
    if (metrics == null) {
      throw line.invalid("same refers to no earlier scrape of " + endpoint + " in this file");
    }
    scrapes.put(endpoint, metrics);
    return new CaptureEvent.Scraped(now(line), endpoint, origin + line.whole("begun"), metrics);
  }

  private static EndpointMetrics metrics(JsonLine metrics) {
    return new EndpointMetrics(
        (int) metrics.whole("waiting"),
        (int) metrics.whole("running"),
        metrics.number("kv_usage"),
        (int) metrics.whole("block_size"),
        (int) metrics.whole("blocks"),
        metrics.text("base_model"),
        (int) metrics.whole("max_adapters"),
        metrics.texts("running_adapters"),
        metrics.texts("waiting_adapters"),
        metrics.map("values", object -> object::number));
  }

  private void request(JsonLine line, String place) {
    Request request = new Request(place);
    for (JsonLine event : line.objects("events")) {
      String kind = event.text("event");
      long now = now(event);
      add(
          event,
          switch (kind) {
            case CaptureFields.ARRIVED ->
                new CaptureEvent.Arrived(
                    now, request, facts(line), line.has("withheld"), Effect.read(event));
            case CaptureFields.ATTEMPT_FAILED ->
                new CaptureEvent.AttemptFailed(now, request, Effect.read(event));
            case CaptureFields.FIRST_TOKEN -> new CaptureEvent.FirstToken(now, request);
            case CaptureFields.ENDED ->
                new CaptureEvent.Ended(now, request, outcome(line), usage(event));
            default -> throw event.wrong("event", "an event that this version knows");
          });
    }
  }

  private static RequestFacts facts(JsonLine line) {
    Map<String, String> headers = line.map("headers", object -> object::text);
    return new RequestFacts(
        line.text("model"),
        line.whole("seed"),
        line.packed("blocks"),
        PromptSize.ofTokens(line.atLeast(0, "input_length")),
        line.atLeast(-1, "max_output_tokens"),
        line.whole("body_bytes"),
        Delivery.STREAMED,
        Timeouts.UNSET,
        headers::get,
        line.has("subset") ? new Subset(line.texts("subset")) : null);
  }

  private static Outcome outcome(JsonLine line) {
    String code = line.text("outcome");
    return Stream.of(Outcome.values())
        .filter(outcome -> outcome.code().equals(code))
        .findFirst()
        .orElseThrow(() -> line.wrong("outcome", "how a request ends"));
  }

  private static Usage usage(JsonLine event) {
    long[] usage = event.wholes("usage");
    if (usage.length != 4) {
      throw event.wrong("usage", "a list of 4 numbers");
    }
    return new Usage((int) usage[0], (int) usage[1], (int) usage[2], (int) usage[3]);
  }

  private long now(JsonLine line) {
    return origin + line.whole("at");
  }

  /** A config and endpoints in force are said again in each file. */
  private void add(JsonLine line, CaptureEvent event) {
    events.putIfAbsent(line.whole("seq"), event);
  }
}
