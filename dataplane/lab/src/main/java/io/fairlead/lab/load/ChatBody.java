package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.workload.RequestShape;
import java.nio.charset.StandardCharsets;

/** Writes a request as an OpenAI chat completion. */
final class ChatBody {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ChatBody() {}

  /**
   * The body.
   *
   * @param number of the request in its run
   */
  static byte[] of(RequestShape request, long number, boolean stream, LoadSettings settings) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", settings.models().apply(request.model()));
    body.putArray("messages")
        .addObject()
        .put("role", "user")
        .put("content", PromptText.of(request, number));
    body.put("max_tokens", request.outputTokens());
    if (settings.ignoreEos()) {
      body.put("ignore_eos", true);
    }
    if (stream) {
      body.put("stream", true);
      body.putObject("stream_options").put("include_usage", true);
    }
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }
}
