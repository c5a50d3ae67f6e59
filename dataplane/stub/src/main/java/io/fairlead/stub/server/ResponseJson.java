package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/** The JSON objects of an answer to {@code /v1/responses}, which is one message of one text. */
final class ResponseJson {

  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  /** Of the message, cut short or not: the API has no "cancelled" for it. */
  static final String ITEM_STATUS = "incomplete";

  private final CompletionRequest request;
  private final String id;
  private final String itemId;
  private final long createdSeconds;

  ResponseJson(CompletionRequest request, long number, long createdSeconds) {
    this.request = request;
    this.id = request.api().id(number);
    this.itemId = "msg_" + Long.toHexString(number);
    this.createdSeconds = createdSeconds;
  }

  /** How the answer ends: after as many tokens as were asked for, unless the server stops. */
  String status(Progress progress) {
    return cutShort(progress) ? "cancelled" : "incomplete";
  }

  private static boolean cutShort(Progress progress) {
    return progress.finishReason(0).equals("abort");
  }

  ObjectNode begun() {
    ObjectNode root = root("in_progress");
    root.putNull("incomplete_details").putArray("output");
    return root.putNull("usage");
  }

  ObjectNode whole(Progress progress) {
    ObjectNode root = root(status(progress));
    if (cutShort(progress)) {
      root.putNull("incomplete_details");
    } else {
      root.putObject("incomplete_details").put("reason", "max_output_tokens");
    }
    int output = progress.allTokens();
    root.putArray("output").add(message(ITEM_STATUS, Filler.text(output)));
    ObjectNode usage = root.putObject("usage");
    usage.put("input_tokens", request.promptTokens());
    // Unlike with the other paths vLLM tells this always.
    usage.putObject("input_tokens_details").put("cached_tokens", progress.cachedTokens());
    usage.put("output_tokens", output);
    usage.putObject("output_tokens_details").put("reasoning_tokens", 0);
    usage.put("total_tokens", request.promptTokens() + output);
    return root;
  }

  /** The event that carries a response. */
  ObjectNode about(ObjectNode response) {
    return NODES.objectNode().set("response", response);
  }

  ObjectNode item(String status, String text) {
    ObjectNode event = NODES.objectNode().put("output_index", 0);
    return event.set("item", message(status, text));
  }

  ObjectNode part(String text) {
    return inPart().set("part", outputText(text));
  }

  ObjectNode delta(String text) {
    return inPart().put("delta", text);
  }

  ObjectNode text(String text) {
    return inPart().put("text", text);
  }

  private ObjectNode inPart() {
    return NODES.objectNode().put("item_id", itemId).put("output_index", 0).put("content_index", 0);
  }

  private ObjectNode message(String status, String text) {
    ObjectNode message =
        NODES
            .objectNode()
            .put("id", itemId)
            .put("type", "message")
            .put("role", "assistant")
            .put("status", status);
    var content = message.putArray("content");
    if (!text.isEmpty()) {
      content.add(outputText(text));
    }
    return message;
  }

  private static ObjectNode outputText(String text) {
    ObjectNode part = NODES.objectNode().put("type", "output_text").put("text", text);
    part.putArray("annotations");
    return part;
  }

  private ObjectNode root(String status) {
    return NODES
        .objectNode()
        .put("id", id)
        .put("object", "response")
        .put("created_at", createdSeconds)
        .put("status", status)
        .put("model", request.model())
        .put("max_output_tokens", request.outputTokens());
  }
}
