package io.fairlead.epp.capture;

import com.fasterxml.jackson.core.JsonGenerator;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.epp.capture.CapturedRequest.Event;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** A request as a line: what Mooncake's readers need first, then what replays it. */
final class RequestJson {

  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final String PREFILLER = "x-prefiller-host-port";

  private RequestJson() {}

  static byte[] line(CapturedRequest request) {
    return LineJson.line(
        json -> {
          RequestFacts facts = request.facts();
          List<Event> events = request.events();
          json.writeNumberField("timestamp", events.getFirst().at / NANOS_PER_MILLI);
          json.writeNumberField("input_length", HashIds.inputLength(facts));
          json.writeNumberField("output_length", outputLength(request.usage()));
          long[] ids = HashIds.of(facts);
          json.writeFieldName("hash_ids");
          json.writeArray(ids, 0, ids.length);
          json.writeStringField("model", facts.model());
          json.writeNumberField("seed", facts.seed());
          json.writeNumberField("body_bytes", facts.bodyBytes());
          json.writeNumberField("max_output_tokens", facts.maxOutputTokens());
          if (facts.answers() > 1) {
            json.writeNumberField("answers", facts.answers());
          }
          json.writeNumberField("text_bytes", facts.prompt().textBytes());
          json.writeNumberField("media_tokens", facts.prompt().mediaTokens());
          json.writeBooleanField("streamed", facts.delivery().streamed());
          json.writeBooleanField("resendable", facts.delivery().resendable());
          timeouts(json, facts.timeouts());
          json.writeStringField("blocks", base64(facts.blocks()));
          if (facts.subset() != null) {
            LineJson.strings(json, "subset", facts.subset().entries());
          }
          headers(json, request);
          outcome(json, request);
          events(json, request);
        });
  }

  private static void timeouts(JsonGenerator json, Timeouts timeouts) throws IOException {
    if (!timeouts.equals(Timeouts.UNSET)) {
      json.writeObjectFieldStart("timeouts");
      timeout(json, "first_byte", timeouts.firstByte());
      timeout(json, "silence", timeouts.silence());
      timeout(json, "total", timeouts.total());
      json.writeEndObject();
    }
  }

  private static void timeout(JsonGenerator json, String name, @Nullable Duration value)
      throws IOException {
    if (value != null) {
      json.writeNumberField(name, value.toNanos());
    }
  }

  private static void headers(JsonGenerator json, CapturedRequest request) throws IOException {
    if (!request.headers().isEmpty()) {
      json.writeObjectFieldStart("headers");
      for (Map.Entry<String, String> header : request.headers().entrySet()) {
        json.writeStringField(header.getKey(), header.getValue());
      }
      json.writeEndObject();
    }
    if (!request.withheld().isEmpty()) {
      LineJson.strings(json, "withheld", request.withheld());
    }
  }

  /** For people and their tools; a replay reads the events. */
  private static void outcome(JsonGenerator json, CapturedRequest request) throws IOException {
    json.writeStringField("outcome", request.outcome());
    long arrived = request.events().getFirst().at;
    @Nullable Route route = null;
    for (Event event : request.events()) {
      route = event.route == null ? route : event.route;
      switch (event.kind) {
        case CaptureFields.FIRST_BYTE -> {
          if (request.facts().delivery().streamed()) {
            millis(json, "ttft_ms", event.at - arrived);
          }
        }
        case CaptureFields.ENDED, CaptureFields.PRESUMED_OVER ->
            millis(json, "e2e_ms", event.at - arrived);
        default -> {}
      }
    }
    if (route != null) {
      json.writeStringField("endpoint", route.endpoint());
    }
    if (request.usage().promptTokens() >= 0) {
      json.writeNumberField("prompt_tokens", request.usage().promptTokens());
    }
    if (request.usage().cachedTokens() >= 0) {
      json.writeNumberField("cached_tokens", request.usage().cachedTokens());
    }
  }

  private static void millis(JsonGenerator json, String name, long nanos) throws IOException {
    json.writeNumberField(name, (double) nanos / NANOS_PER_MILLI);
  }

  private static void events(JsonGenerator json, CapturedRequest request) throws IOException {
    json.writeArrayFieldStart("events");
    for (Event event : request.events()) {
      json.writeStartObject();
      event.run.write(json);
      json.writeStringField("event", event.kind);
      if (event.failure != null) {
        json.writeStringField("failure", event.failure.code());
      }
      if (event.answeredBy != null) {
        json.writeStringField("by", event.answeredBy);
      }
      if (event.advice != null) {
        advice(json, event.advice);
      }
      if (event.route != null) {
        pick(json, event.route);
      }
      Rejection rejection = event.rejection;
      if (rejection != null) {
        json.writeStringField("rejected", rejection.reason().code());
      }
      if (event.passed) {
        json.writeBooleanField("passed", true);
      }
      if (event.kind.equals(CaptureFields.ENDED)) {
        Usage usage = request.usage();
        json.writeFieldName("usage");
        json.writeArray(
            new int[] {
              usage.promptTokens(),
              usage.completionTokens(),
              usage.cachedTokens(),
              usage.streamedEvents()
            },
            0,
            4);
      }
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void advice(JsonGenerator json, Advice advice) throws IOException {
    long[] endpoints = advice.endpoints();
    double[] scores = LongStream.of(endpoints).mapToDouble(advice::score).toArray();
    json.writeObjectFieldStart("advice");
    json.writeFieldName("endpoints");
    json.writeArray(endpoints, 0, endpoints.length);
    json.writeFieldName("scores");
    json.writeArray(scores, 0, scores.length);
    json.writeEndObject();
  }

  private static void pick(JsonGenerator json, Route route) throws IOException {
    json.writeObjectFieldStart("pick");
    json.writeStringField("endpoint", route.endpoint());
    json.writeStringField("target", route.targetModel());
    json.writeNumberField("matched", route.matchedBlocks());
    json.writeNumberField("cached", route.expectedCachedTokens());
    if (!route.fallbacks().isEmpty()) {
      LineJson.strings(json, "fallbacks", route.fallbacks());
    }
    for (Route.Header header : route.requestHeaders()) {
      if (header.name().equals(PREFILLER)) {
        json.writeStringField("prefill", header.value());
      }
    }
    json.writeEndObject();
  }

  /** Tokens as reported, else events, which are about as many; 0 when nothing is known. */
  private static int outputLength(Usage usage) {
    return usage.completionTokens() >= 0 ? usage.completionTokens() : usage.streamedEvents();
  }

  private static String base64(long[] blocks) {
    ByteBuffer bytes =
        ByteBuffer.allocate(blocks.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asLongBuffer().put(blocks);
    return Base64.getEncoder().encodeToString(bytes.array());
  }
}
