package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.stub.server.RequestParser.InvalidField;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Lays a request's prompts out, each as one text, as a chat template would: a conversation's next
 * turn then begins with the whole text and answer of this one.
 */
final class Prompt {

  private static final Set<String> TEXT_PARTS =
      Set.of("text", "input_text", "output_text", "refusal", "thinking");

  /**
   * What an image, a sound or a file costs. A real model's cost follows from what it shows, which
   * nobody looks at here, and not from the length of its Base64.
   */
  static final int MEDIA_TOKENS = 1_024;

  private final Supplier<BlockHasher> hashers;
  private final boolean multimodal;

  /**
   * @param hashers a new one for each prompt
   * @param multimodal whether the model reads anything but text
   */
  Prompt(Supplier<BlockHasher> hashers, boolean multimodal) {
    this.hashers = hashers;
    this.multimodal = multimodal;
  }

  /** The prompts of a request's body, one or more. */
  List<BlockHasher> read(Api api, JsonNode root) {
    return switch (api) {
      case CHAT -> List.of(conversation("messages", root.path("messages")));
      case COMPLETIONS, EMBEDDINGS, TRANSCRIPTIONS ->
          prompts(api.promptField(), root.path(api.promptField()));
      case RESPONSES -> List.of(input(root));
    };
  }

  private BlockHasher conversation(String field, JsonNode messages) {
    BlockHasher hasher = hashers.get();
    addMessages(hasher, field, messages);
    hasher.add("assistant\n");
    return hasher;
  }

  private BlockHasher input(JsonNode root) {
    BlockHasher hasher = hashers.get();
    JsonNode instructions = root.path("instructions");
    if (instructions.isTextual()) {
      hasher.add("system\n" + instructions.textValue() + "\n");
    } else if (!instructions.isMissingNode() && !instructions.isNull()) {
      throw new InvalidField("instructions", "a string is needed");
    }
    JsonNode input = root.path("input");
    if (input.isTextual()) {
      hasher.add("user\n" + input.textValue() + "\n");
    } else if (input.isArray() && !input.isEmpty()) {
      addMessages(hasher, "input", input);
    } else {
      throw new InvalidField("input", "a string or a list of at least one message is needed");
    }
    hasher.add("assistant\n");
    return hasher;
  }

  private void addMessages(BlockHasher hasher, String field, JsonNode messages) {
    if (!messages.isArray() || messages.isEmpty()) {
      throw new InvalidField(field, "a list of at least one message is needed");
    }
    for (int i = 0; i < messages.size(); i++) {
      JsonNode message = messages.get(i);
      JsonNode role = message.path("role");
      if (!role.isTextual()) {
        throw new InvalidField(field + "[" + i + "].role", "a string is needed");
      }
      hasher.add(role.textValue() + "\n");
      addContent(hasher, message.path("content"), field + "[" + i + "].content");
      hasher.add("\n");
    }
  }

  private void addContent(BlockHasher hasher, JsonNode content, String field) {
    if (content.isTextual()) {
      hasher.add(content.textValue());
    } else if (content.isArray()) {
      for (JsonNode part : content) {
        addPart(hasher, part, field);
      }
    } else if (!content.isMissingNode() && !content.isNull()) {
      throw new InvalidField(field, "a string or a list of parts is needed");
    }
  }

  private void addPart(BlockHasher hasher, JsonNode part, String field) {
    JsonNode type = part.path("type");
    if (type.isTextual() && !TEXT_PARTS.contains(type.textValue())) {
      if (!multimodal) {
        throw new InvalidField(
            field, "a part is of type " + type + ", but this is not a multimodal model");
      }
      hasher.addMedia(part.toString(), MEDIA_TOKENS);
      return;
    }
    JsonNode text = part.path("text");
    hasher.add(text.isTextual() ? text.textValue() : part.toString());
  }

  /** A string, a list of strings, a list of token ids, or a list of such lists. */
  private List<BlockHasher> prompts(String field, JsonNode prompt) {
    if (prompt.isArray() && !prompt.isEmpty() && !prompt.get(0).isIntegralNumber()) {
      List<BlockHasher> hashers = new ArrayList<>();
      prompt.forEach(each -> hashers.add(prompt(field, each)));
      return hashers;
    }
    return List.of(prompt(field, prompt));
  }

  private BlockHasher prompt(String field, JsonNode prompt) {
    BlockHasher hasher = hashers.get();
    if (prompt.isTextual()) {
      hasher.add(prompt.textValue());
      return hasher;
    }
    if (!prompt.isArray() || prompt.isEmpty()) {
      throw notAPrompt(field);
    }
    for (JsonNode token : prompt) {
      if (!token.isIntegralNumber() || !token.canConvertToInt() || token.intValue() < 0) {
        throw notAPrompt(field);
      }
      hasher.addToken(token.intValue());
    }
    return hasher;
  }

  private static InvalidField notAPrompt(String field) {
    return new InvalidField(field, "a string, a list of token ids, or a list of either is needed");
  }
}
