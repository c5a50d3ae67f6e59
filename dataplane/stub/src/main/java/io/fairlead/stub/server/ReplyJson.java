package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.jspecify.annotations.Nullable;

/** The JSON objects of one completion's answer, whole or in chunks. */
final class ReplyJson {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private final CompletionRequest request;
  private final String id;
  private final long createdSeconds;

  ReplyJson(CompletionRequest request, long number, long createdSeconds) {
    this.request = request;
    this.id = (request.chat() ? "chatcmpl-" : "cmpl-") + Long.toHexString(number);
    this.createdSeconds = createdSeconds;
  }

  /** Who answers. */
  String model() {
    return request.model();
  }

  ObjectNode whole(int outputTokens, int cachedTokens, String finishReason) {
    ObjectNode choice = NODES.objectNode().put("index", 0);
    String text = Filler.text(outputTokens);
    if (request.chat()) {
      choice.putObject("message").put("role", "assistant").put("content", text);
    } else {
      choice.put("text", text);
    }
    choice.putNull("logprobs").put("finish_reason", finishReason);
    ObjectNode root = root(request.chat() ? "chat.completion" : "text_completion");
    root.putArray("choices").add(choice);
    root.set("usage", usage(outputTokens, cachedTokens));
    return root;
  }

  /** What opens a stream of chat chunks. */
  ObjectNode roleChunk() {
    ObjectNode root = chunk();
    ObjectNode choice = choice(root);
    choice.putObject("delta").put("role", "assistant").put("content", "");
    choice.putNull("logprobs").putNull("finish_reason");
    return root;
  }

  /** Text of a stream; the last chunk says why it ends. */
  ObjectNode textChunk(String text, @Nullable String finishReason) {
    ObjectNode root = chunk();
    ObjectNode choice = choice(root);
    if (request.chat()) {
      choice.putObject("delta").put("content", text);
    } else {
      choice.put("text", text);
    }
    choice.putNull("logprobs").put("finish_reason", finishReason);
    return root;
  }

  ObjectNode usageChunk(int outputTokens, int cachedTokens) {
    ObjectNode root = chunk();
    root.putArray("choices");
    root.set("usage", usage(outputTokens, cachedTokens));
    return root;
  }

  private ObjectNode chunk() {
    return root(request.chat() ? "chat.completion.chunk" : "text_completion");
  }

  private static ObjectNode choice(ObjectNode root) {
    ArrayNode choices = root.putArray("choices");
    return choices.addObject().put("index", 0);
  }

  private ObjectNode root(String object) {
    return NODES
        .objectNode()
        .put("id", id)
        .put("object", object)
        .put("created", createdSeconds)
        .put("model", request.model());
  }

  private ObjectNode usage(int outputTokens, int cachedTokens) {
    ObjectNode usage =
        NODES
            .objectNode()
            .put("prompt_tokens", request.promptTokens())
            .put("total_tokens", request.promptTokens() + outputTokens)
            .put("completion_tokens", outputTokens);
    usage.putObject("prompt_tokens_details").put("cached_tokens", cachedTokens);
    return usage;
  }
}
