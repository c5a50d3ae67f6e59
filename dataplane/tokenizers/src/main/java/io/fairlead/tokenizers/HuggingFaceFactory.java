package io.fairlead.tokenizers;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.plugin.PromptTokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Opens folders as models have them on Hugging Face: {@code tokenizer.json}, and for chats the
 * template in {@code chat_template.jinja} or {@code tokenizer_config.json}. Reads nothing from
 * anywhere else.
 */
public final class HuggingFaceFactory implements PromptTokenizer.Factory {

  private static final ObjectMapper JSON = new ObjectMapper();

  static {
    // Else the library tells its makers where it runs, and looks for files on the network.
    System.setProperty("OPT_OUT_TRACKING", "true");
    System.setProperty("ai.djl.offline", "true");
  }

  @Override
  public @Nullable PromptTokenizer open(String path) throws IOException {
    Path folder = Path.of(path);
    Path file = folder.resolve("tokenizer.json");
    if (!Files.isRegularFile(file)) {
      return null;
    }
    JsonNode config = config(folder.resolve("tokenizer_config.json"));
    String template = template(folder.resolve("chat_template.jinja"), config);
    ChatTemplate chat =
        template == null
            ? null
            : new ChatTemplate(
                template, text(config.path("bos_token")), text(config.path("eos_token")));
    HuggingFaceTokenizer tokenizer;
    try {
      tokenizer =
          HuggingFaceTokenizer.builder()
              .optTokenizerPath(file)
              .optTruncation(false)
              .optPadding(false)
              .build();
    } catch (RuntimeException | LinkageError e) {
      throw new IOException(file + " is no tokenizer that can be used: " + e.getMessage(), e);
    }
    return new HuggingFacePrompts(tokenizer, chat);
  }

  private static JsonNode config(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      return JSON.createObjectNode();
    }
    try {
      return JSON.readTree(file.toFile());
    } catch (IOException e) {
      throw new IOException(file + " is no JSON: " + e.getMessage(), e);
    }
  }

  /** A file of its own, a text, or the one of several that is named {@code default}. */
  private static @Nullable String template(Path file, JsonNode config) throws IOException {
    if (Files.isRegularFile(file)) {
      return Files.readString(file);
    }
    JsonNode own = config.path("chat_template");
    if (own.isTextual()) {
      return own.textValue();
    }
    for (JsonNode each : own) {
      if (each.path("name").asText().equals("default")) {
        return each.path("template").textValue();
      }
    }
    return null;
  }

  /** Tokens are texts, or objects with their text among other things. */
  private static String text(JsonNode token) {
    return token.isTextual() ? token.textValue() : token.path("content").asText("");
  }
}
