package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.lab.workload.WorkloadRequest;
import java.nio.charset.StandardCharsets;

/** Writes a workload's request as an OpenAI chat completion. */
final class ChatBody {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ChatBody() {}

  static byte[] of(WorkloadRequest request) {
    ObjectNode body = JSON.createObjectNode();
    body.put("model", request.model());
    var messages = body.putArray("messages");
    messages.addObject().put("role", "system").put("content", request.system());
    messages.addObject().put("role", "user").put("content", request.prompt());
    body.put("max_tokens", request.outputTokens());
    if (request.stream()) {
      body.put("stream", true);
      body.putObject("stream_options").put("include_usage", true);
    }
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }
}
