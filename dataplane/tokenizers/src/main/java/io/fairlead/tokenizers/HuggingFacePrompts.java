package io.fairlead.tokenizers;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.plugin.PromptTokenizer;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Tokens of prompts as vLLM makes them: a chat is laid out by the model's template first. */
final class HuggingFacePrompts implements PromptTokenizer {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final HuggingFaceTokenizer tokenizer;
  private final @Nullable ChatTemplate chat;

  /**
   * @param chat how chats are laid out; null where the model has no template
   */
  HuggingFacePrompts(HuggingFaceTokenizer tokenizer, @Nullable ChatTemplate chat) {
    this.tokenizer = tokenizer;
    this.chat = chat;
  }

  @Override
  public int @Nullable [] tokenize(String path, byte[] body) {
    JsonNode root;
    try {
      root = JSON.readTree(body);
    } catch (IOException e) {
      return null;
    }
    // A salt keeps what is cached apart, which tokens don't show. What is cut off is the server's
    // to
    // say: it has its own limits.
    if (root == null
        || root.hasNonNull("cache_salt")
        || root.hasNonNull("truncate_prompt_tokens")) {
      return null;
    }
    JsonNode special = root.path("add_special_tokens");
    if (path.endsWith("/chat/completions")) {
      String text = chat == null ? null : chat.render(root);
      return text == null ? null : ids(text, special.asBoolean(false));
    }
    return path.endsWith("/completions")
        ? prompt(root.path("prompt"), special.asBoolean(true))
        : null;
  }

  /** A text, or token ids as they are; of several prompts none is the one. */
  private int @Nullable [] prompt(JsonNode prompt, boolean special) {
    if (prompt.isTextual()) {
      return ids(prompt.textValue(), special);
    }
    if (!prompt.isArray() || prompt.isEmpty()) {
      return null;
    }
    int[] ids = new int[prompt.size()];
    for (int i = 0; i < ids.length; i++) {
      if (!prompt.get(i).canConvertToInt() || !prompt.get(i).isIntegralNumber()) {
        return null;
      }
      ids[i] = prompt.get(i).intValue();
    }
    return ids;
  }

  private int[] ids(String text, boolean special) {
    long[] ids = tokenizer.encode(text, special, false).getIds();
    int[] narrow = new int[ids.length];
    for (int i = 0; i < ids.length; i++) {
      narrow[i] = (int) ids[i];
    }
    return narrow;
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
