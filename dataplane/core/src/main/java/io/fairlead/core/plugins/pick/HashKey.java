package io.fairlead.core.plugins.pick;

import com.dynatrace.hash4j.hashing.Hashing;
import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import java.util.List;

/**
 * What requests must have in common to go to the same endpoint: a header's value, or their prompt's
 * beginning. Requests without the header go by their prompts.
 *
 * @param header name of the header; empty for the prompt
 */
record HashKey(String header) {

  private static final String PREFIX = "prefix";

  /**
   * Reads {@code key} and {@code headerName}.
   *
   * @throws io.fairlead.plugin.InvalidParameterException if one is wrong or doesn't go with the
   *     other
   */
  static HashKey of(Parameters parameters) {
    String key = parameters.choice("key", PREFIX, List.of(PREFIX, "session", "user", "header"));
    if (key.equals(PREFIX) && parameters.has("headerName")) {
      throw parameters.invalid(
          "headerName", "has no meaning for key prefix; remove it, or set key to header");
    }
    return switch (key) {
      case PREFIX -> new HashKey("");
      case "session" -> new HashKey(Texts.header(parameters, "headerName", "x-session-id"));
      case "user" -> new HashKey(Texts.header(parameters, "headerName", "x-user-id"));
      default -> new HashKey(Texts.requiredHeader(parameters, "headerName"));
    };
  }

  /** The same for requests that belong together, in every picker. */
  long of(InferenceRequest request) {
    String value = header.isEmpty() ? null : request.header(header);
    long key =
        value == null || value.isEmpty()
            ? request.prefixKey()
            : Hashing.wyhashFinal4().hashCharsToLong(value);
    return HashRing.position(key);
  }
}
