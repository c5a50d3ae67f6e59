package io.fairlead.lab.trace;

import io.fairlead.core.PromptSize;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.Subset;
import io.fairlead.core.Timeouts;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads what a core was told of a request. */
final class CapturedFacts {

  private CapturedFacts() {}

  /** What the first version did not write was always so, or not told to the core. */
  static RequestFacts read(JsonLine line) {
    Map<String, String> headers = line.map("headers", object -> object::text);
    return new RequestFacts(
        "",
        line.text("model"),
        line.whole("seed"),
        line.packed("blocks"),
        line.has("text_bytes")
            ? new PromptSize(line.positive("text_bytes"), line.atLeast(0, "media_tokens"))
            : PromptSize.ofTokens(line.atLeast(0, "input_length")),
        line.atLeast(-1, "max_output_tokens"),
        line.has("answers") ? line.atLeast(1, "answers") : 1,
        line.whole("body_bytes"),
        line.has("streamed")
            ? new Delivery(line.flag("streamed"), line.flag("resendable"))
            : Delivery.STREAMED,
        line.has("timeouts") ? timeouts(line.object("timeouts")) : Timeouts.UNSET,
        headers::get,
        line.has("subset") ? new Subset(line.texts("subset")) : null,
        null);
  }

  private static Timeouts timeouts(JsonLine timeouts) {
    return new Timeouts(
        timeout(timeouts, "first_byte"), timeout(timeouts, "silence"), timeout(timeouts, "total"));
  }

  private static @Nullable Duration timeout(JsonLine timeouts, String field) {
    if (!timeouts.has(field)) {
      return null;
    }
    long nanos = timeouts.whole(field);
    if (nanos <= 0) {
      throw timeouts.wrong(field, "a number above 0");
    }
    return Duration.ofNanos(nanos);
  }
}
