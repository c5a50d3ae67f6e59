package io.fairlead.core.account;

import io.fairlead.core.prefix.BlockHasher;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * How many tokens prompts have: the one place where bytes become tokens. Begins with what is usual
 * and learns from the prompt lengths that servers report, for each target model by itself, since
 * each has a tokenizer of its own. Not thread-safe; owned by the pool's loop.
 *
 * <p>Bound: {@value #MOST_MODELS} models, of which the one used least recently is forgotten first.
 */
public final class TokenEstimate {

  /** Bytes of English text per token, for the vocabularies of today's models. */
  public static final int USUAL_BYTES = 4;

  /** Tokens that a block of the prefix index stands for where nothing has been learned. */
  public static final int USUAL_BLOCK_TOKENS = BlockHasher.BLOCK_BYTES / USUAL_BYTES;

  private static final int MOST_MODELS = 1_024;

  private static final float FULL = 0.75f;

  /** By target model, those of which something has been learned. */
  private final Map<String, ModelTokens> models =
      new LinkedHashMap<>(16, FULL, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ModelTokens> eldest) {
          return size() > MOST_MODELS;
        }
      };

  private final ModelTokens unknown = new ModelTokens();

  /** All models as one. */
  private final ModelTokens pool = new ModelTokens();

  /** A prompt's tokens where nothing has been learned. */
  public static int usual(long textBytes, int mediaTokens) {
    return (int) Math.min(textBytes / USUAL_BYTES + mediaTokens, Integer.MAX_VALUE);
  }

  /**
   * What is known of this target model's tokens. To be asked once for a request: it looks the name
   * up.
   */
  public ModelTokens of(String targetModel) {
    return models.getOrDefault(targetModel, unknown);
  }

  /**
   * A server has reported how long a prompt was.
   *
   * @param textBytes bytes of its text
   * @param mediaTokens what else is in it, as it was estimated before anything was learned
   * @param promptTokens as reported; 0 and less say nothing
   */
  public void learn(String targetModel, long textBytes, int mediaTokens, int promptTokens) {
    if (promptTokens > 0) {
      models
          .computeIfAbsent(targetModel, name -> new ModelTokens())
          .learn(textBytes, mediaTokens, promptTokens);
      pool.learn(textBytes, mediaTokens, promptTokens);
    }
  }

  /** Tokens of text in a block of the prefix index, whichever model it is of. */
  public double poolBlockTokens() {
    return pool.blockTokens();
  }

  /** Tells what was learned, model by model; of all as one under an empty name. */
  public void tell(BiConsumer<String, double[]> to) {
    to.accept("", pool.tell());
    models.forEach((model, tokens) -> to.accept(model, tokens.tell()));
  }

  /** Another has learned this. */
  public void take(String model, double[] told) {
    if (model.isEmpty()) {
      pool.take(told);
    } else {
      models.computeIfAbsent(model, name -> new ModelTokens()).take(told);
    }
  }
}
