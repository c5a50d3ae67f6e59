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
    this.id = request.api().id(number);
    this.createdSeconds = createdSeconds;
  }

  /** Who answers. */
  String model() {
    return request.model();
  }

  ObjectNode whole(Progress progress) {
    ObjectNode root = root(chat() ? "chat.completion" : "text_completion");
    ArrayNode choices = root.putArray("choices");
    for (int i = 0; i < progress.choices(); i++) {
      ObjectNode choice = choices.addObject().put("index", i);
      String text = Filler.text(progress.tokens(i));
      if (chat()) {
        choice.putObject("message").put("role", "assistant").put("content", text);
      } else {
        choice.put("text", text);
      }
      choice.putNull("logprobs").put("finish_reason", progress.finishReason(i));
    }
    ObjectNode usage = usage(progress);
    if (!request.promptTokensDetails()) {
      usage.putNull("prompt_tokens_details");
    }
    root.set("usage", usage);
    return root;
  }

  /** What opens a stream of chat chunks. */
  ObjectNode roleChunk(int index) {
    ObjectNode root = chunk();
    ObjectNode choice = choice(root, index);
    choice.putObject("delta").put("role", "assistant").put("content", "");
    choice.putNull("logprobs").putNull("finish_reason");
    return root;
  }

  /** Text of a stream; the last chunk of a choice says why it ends. */
  ObjectNode textChunk(int index, String text, @Nullable String finishReason) {
    ObjectNode root = chunk();
    ObjectNode choice = choice(root, index);
    if (chat()) {
      choice.putObject("delta").put("content", text);
    } else {
      choice.put("text", text);
    }
    choice.putNull("logprobs").put("finish_reason", finishReason);
    return root;
  }

  ObjectNode usageChunk(Progress progress) {
    ObjectNode root = chunk();
    root.putArray("choices");
    root.set("usage", usage(progress));
    return root;
  }

  private boolean chat() {
    return request.api() == Api.CHAT;
  }

  private ObjectNode chunk() {
    return root(chat() ? "chat.completion.chunk" : "text_completion");
  }

  private static ObjectNode choice(ObjectNode root, int index) {
    ArrayNode choices = root.putArray("choices");
    return choices.addObject().put("index", index);
  }

  private ObjectNode root(String object) {
    return NODES
        .objectNode()
        .put("id", id)
        .put("object", object)
        .put("created", createdSeconds)
        .put("model", request.model());
  }

  private ObjectNode usage(Progress progress) {
    int output = progress.allTokens();
    ObjectNode usage =
        NODES
            .objectNode()
            .put("prompt_tokens", request.promptTokens())
            .put("total_tokens", request.promptTokens() + output)
            .put("completion_tokens", output);
    if (request.promptTokensDetails()) {
      usage.putObject("prompt_tokens_details").put("cached_tokens", progress.cachedTokens());
    }
    return usage;
  }
}
