package io.fairlead.plugin;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A model's own tokenizer: makes of a request the token ids that the model's server computes, so
 * that its prompt can be compared with what servers say they hold. May be called by several threads
 * at once, and may take its time: nobody waits for it longer than the config says.
 */
public interface PromptTokenizer extends AutoCloseable {

  /**
   * The prompt's token ids.
   *
   * @param path the request's path, such as {@code /v1/chat/completions}, without a query
   * @param body the request's body, JSON in UTF-8; not to be changed or kept
   * @return null where the ids that the server has can't be known, such as those of an image
   */
  int @Nullable [] tokenize(String path, byte[] body);

  @Override
  void close();

  /** Opens tokenizers; found by {@link java.util.ServiceLoader}. */
  interface Factory {

    /**
     * Opens a model's tokenizer.
     *
     * @param folder path of the folder with the model's files
     * @return null where this is none of its kind
     * @throws IOException if it can't be read; the message names the file and what is wrong
     */
    @Nullable PromptTokenizer open(String folder) throws IOException;
  }
}
