package io.fairlead.lab.trace;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.DocumentException;
import io.fairlead.epp.capture.CaptureFields;
import io.fairlead.epp.capture.Untold;
import io.fairlead.lab.trace.CaptureEvent.Request;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.LongFunction;
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
      case CaptureFields.KIND_REPLICAS ->
          add(line, new CaptureEvent.Replicas(now(line), line.atLeast(1, "replicas")));
      case CaptureFields.KIND_SCRAPE -> add(line, scrape(line));
      case CaptureFields.KIND_UNREACHABLE ->
          add(
              line,
              new CaptureEvent.Unreachable(
                  now(line), line.text("endpoint"), origin + line.whole("begun"), failure(line)));
      case CaptureFields.KIND_TICKS -> each(line, CaptureEvent.Ticked::new);
      case CaptureFields.KIND_PROBED ->
          add(
              line,
              new CaptureEvent.Probed(
                  now(line), line.whole("probe"), line.has("failure") ? failure(line) : null));
      case CaptureFields.KIND_UNASKED ->
          add(line, new CaptureEvent.Unasked(now(line), line.whole("probe")));
      case CaptureFields.KIND_REFUSED_WAITING ->
          add(line, new CaptureEvent.RefusedWaiting(now(line)));
      case CaptureFields.KIND_UNTOLD ->
          add(line, new CaptureEvent.NotTold(now(line), untold(line)));
      default -> throw line.wrong("kind", "a kind that this version knows");
    }
  }

  private void header(JsonLine line) {
    long version = line.whole("version");
    if (version < CaptureFields.FIRST_VERSION || version > CaptureFields.VERSION) {
      throw line.wrong(
          "version",
          CaptureFields.FIRST_VERSION
              + " to "
              + CaptureFields.VERSION
              + ", those that this version reads,");
    }
    origin = line.whole("origin");
    share = line.number("share");
    JsonLine bounds = line.object("limits");
    limits =
        new PoolLimits(
            bounds.atLeast(0, "retries"),
            bounds.atLeast(1, "unknown_prefix_blocks"),
            bounds.atLeast(1, "max_prefix_blocks"),
            bounds.whole("max_prefix_bytes"),
            // Captures of earlier versions knew no such bound.
            bounds.has("max_waiting_bytes") ? bounds.whole("max_waiting_bytes") : Long.MAX_VALUE);
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
        metrics.map("values", object -> object::number),
        metrics.has("started_at") ? metrics.number("started_at") : Double.NaN,
        metrics.has("progress") ? metrics.number("progress") : Double.NaN,
        metrics.has("used_tokens") ? metrics.number("used_tokens") : Double.NaN);
  }

  private void request(JsonLine line, String place) {
    Request request = new Request(place);
    for (JsonLine event : line.objects("events")) {
      String kind = event.text("event");
      long now = now(event);
      switch (kind) {
        case CaptureFields.ARRIVED ->
            add(
                event,
                new CaptureEvent.Arrived(
                    now,
                    request,
                    CapturedFacts.read(line),
                    advice(event),
                    line.has("withheld"),
                    Effect.read(event)));
        case CaptureFields.ADVISED ->
            add(event, new CaptureEvent.Advised(now, request, advice(event)));
        case CaptureFields.ATTEMPT_FAILED ->
            add(
                event,
                new CaptureEvent.AttemptFailed(
                    now,
                    request,
                    event.has("failure") ? failure(event) : Failure.DIED,
                    Effect.read(event)));
        case CaptureFields.ANSWERED_BY ->
            add(
                event,
                new CaptureEvent.AnsweredBy(now, request, event.text("by"), Effect.read(event)));
        case CaptureFields.FIRST_BYTE, CaptureFields.FIRST_TOKEN ->
            add(event, new CaptureEvent.FirstByte(now, request));
        case CaptureFields.ANSWERING -> add(event, new CaptureEvent.Answering(now, request));
        case CaptureFields.PROGRESS ->
            each(event, time -> new CaptureEvent.Progress(time, request));
        case CaptureFields.HELD_UP -> add(event, new CaptureEvent.HeldUp(now, request, true));
        case CaptureFields.GOES_ON -> add(event, new CaptureEvent.HeldUp(now, request, false));
        case CaptureFields.PRESUMED_OVER -> add(event, new CaptureEvent.PresumedOver(now, request));
        case CaptureFields.LEFT -> add(event, new CaptureEvent.Left(now, request));
        case CaptureFields.DECIDED ->
            add(event, new CaptureEvent.Decided(now, request, Effect.read(event)));
        case CaptureFields.ENDED ->
            add(event, new CaptureEvent.Ended(now, request, outcome(line), usage(event)));
        default -> throw event.wrong("event", "an event that this version knows");
      }
    }
  }

  private static @Nullable Advice advice(JsonLine event) {
    if (!event.has("advice")) {
      return null;
    }
    JsonLine advice = event.object("advice");
    try {
      return new Advice(advice.wholes("endpoints"), advice.numbers("scores"));
    } catch (IllegalArgumentException e) {
      throw event.invalid("advice has " + e.getMessage());
    }
  }

  private static Untold untold(JsonLine line) {
    String code = line.text("what");
    return Stream.of(Untold.values())
        .filter(what -> what.code().equals(code))
        .findFirst()
        .orElseThrow(() -> line.wrong("what", "something that captures lack"));
  }

  private static Failure failure(JsonLine line) {
    String code = line.text("failure");
    return Stream.of(Failure.values())
        .filter(failure -> failure.code().equals(code))
        .findFirst()
        .orElseThrow(() -> line.wrong("failure", "how an endpoint fails"));
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

  /** Adds each event of a run of them. */
  private void each(JsonLine run, LongFunction<CaptureEvent> event) {
    long seq = run.whole("seq");
    long now = now(run);
    events.putIfAbsent(seq, event.apply(now));
    long[] next = run.has("next") ? run.wholes("next") : new long[0];
    if (next.length % 2 != 0) {
      throw run.wrong("next", "a list of pairs of numbers");
    }
    for (int i = 0; i < next.length; i += 2) {
      seq += next[i];
      now += next[i + 1];
      events.putIfAbsent(seq, event.apply(now));
    }
  }

  /** A config and endpoints in force are said again in each file. */
  private void add(JsonLine line, CaptureEvent event) {
    events.putIfAbsent(line.whole("seq"), event);
  }
}
