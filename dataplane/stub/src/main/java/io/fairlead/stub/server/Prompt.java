package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.stub.server.RequestParser.InvalidField;

/**
 * Lays a request's prompt out as one text, as a chat template would: a conversation's next turn
 * then begins with the whole text and answer of this one.
 */
final class Prompt {

  private Prompt() {}

  static void addTo(BlockHasher hasher, boolean chat, JsonNode root) {
    if (chat) {
      addMessages(hasher, root.path("messages"));
    } else {
      addPrompt(hasher, root.path("prompt"));
    }
  }

  private static void addMessages(BlockHasher hasher, JsonNode messages) {
    if (!messages.isArray() || messages.isEmpty()) {
      throw new InvalidField("messages", "a list of at least one message is needed");
    }
    for (int i = 0; i < messages.size(); i++) {
      JsonNode message = messages.get(i);
      JsonNode role = message.path("role");
      if (!role.isTextual()) {
        throw new InvalidField("messages[" + i + "].role", "a string is needed");
      }
      hasher.add(role.textValue() + "\n");
      addContent(hasher, message.path("content"), i);
      hasher.add("\n");
    }
    hasher.add("assistant\n");
  }

  private static void addContent(BlockHasher hasher, JsonNode content, int index) {
    if (content.isTextual()) {
      hasher.add(content.textValue());
    } else if (content.isArray()) {
      for (JsonNode part : content) {
        JsonNode text = part.path("text");
        hasher.add(text.isTextual() ? text.textValue() : part.toString());
      }
    } else if (!content.isMissingNode() && !content.isNull()) {
      throw new InvalidField(
          "messages[" + index + "].content", "a string or a list of parts is needed");
    }
  }

  private static void addPrompt(BlockHasher hasher, JsonNode prompt) {
    if (prompt.isTextual()) {
      hasher.add(prompt.textValue());
    } else if (prompt.isArray() && prompt.size() == 1 && prompt.get(0).isTextual()) {
      hasher.add(prompt.get(0).textValue());
    } else {
      throw new InvalidField("prompt", "a string, or a list of one string, is needed");
    }
  }
}
