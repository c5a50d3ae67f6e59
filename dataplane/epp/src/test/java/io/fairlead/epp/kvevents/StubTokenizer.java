package io.fairlead.epp.kvevents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.plugin.PromptTokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** What the stub does: a token is four bytes of the text, and a chat is laid out by its lines. */
public final class StubTokenizer implements PromptTokenizer {

  /** Found by {@link java.util.ServiceLoader}, for folders with a file {@code stub-tokenizer}. */
  public static final class Factory implements PromptTokenizer.Factory {

    @Override
    public @Nullable PromptTokenizer open(String folder) {
      return Files.exists(Path.of(folder, "stub-tokenizer")) ? new StubTokenizer() : null;
    }
  }

  @Override
  public int @Nullable [] tokenize(String path, byte[] body) {
    try {
      JsonNode root = new ObjectMapper().readTree(body);
      if (path.endsWith("/chat/completions")) {
        StringBuilder text = new StringBuilder();
        for (JsonNode message : root.path("messages")) {
          text.append(message.path("role").textValue()).append('\n');
          text.append(message.path("content").textValue()).append('\n');
        }
        return tokens(text.append("assistant\n").toString());
      }
      JsonNode prompt = root.path("prompt");
      return prompt.isTextual() ? tokens(prompt.textValue()) : null;
    } catch (IOException e) {
      return null;
    }
  }

  /** The token ids of a text. */
  static int[] tokens(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int[] tokens = new int[Math.ceilDiv(bytes.length, 4)];
    Arrays.setAll(
        tokens,
        i -> {
          int token = 0;
          for (int b = 0; b < 4 && 4 * i + b < bytes.length; b++) {
            token |= (bytes[4 * i + b] & 0xFF) << (8 * b);
          }
          return token;
        });
    return tokens;
  }

  @Override
  public void close() {}
}
