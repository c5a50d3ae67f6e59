package io.fairlead.lab.workload;

import io.fairlead.core.prefix.PromptTokens;

/**
 * One request as workloads and traces know it: sizes and identities, no text. A token is four bytes
 * of prompt wherever one is made into the other.
 *
 * @param model the model asked for
 * @param tenant whose request it is, for fairness between them; empty for nobody's in particular
 * @param blocks identities of the whole blocks of {@link #BLOCK_TOKENS} tokens, of the prompt first
 *     and then on into the answer; each stands for all content up to its end. Not copied, not
 *     changed.
 * @param promptTokens length of the prompt, 1 or more
 * @param outputTokens length that the answer will have, 1 or more
 * @param messages where what others than the model say in the prompt begins and ends, in tokens: a
 *     beginning, its end, the next beginning and so on; empty where nobody knows. Not copied, not
 *     changed.
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record RequestShape(
    String model,
    String tenant,
    long[] blocks,
    int promptTokens,
    int outputTokens,
    int[] messages) {

  /** Tokens per block: the usual KV block. */
  public static final int BLOCK_TOKENS = 16;

  private static final int[] UNKNOWN = {};

  public RequestShape {
    if (promptTokens < 1 || outputTokens < 1) {
      throw new IllegalArgumentException(
          "promptTokens is %d and outputTokens %d; both must be 1 or more"
              .formatted(promptTokens, outputTokens));
    }
    if (blocks.length > (promptTokens + outputTokens) / BLOCK_TOKENS) {
      throw new IllegalArgumentException(
          "blocks has %d entries, more than %d tokens fill"
              .formatted(blocks.length, promptTokens + outputTokens));
    }
  }

  /** One of which nobody knows what its messages are. */
  public RequestShape(
      String model, String tenant, long[] blocks, int promptTokens, int outputTokens) {
    this(model, tenant, blocks, promptTokens, outputTokens, UNKNOWN);
  }

  /** How many of {@link #blocks} are of the prompt alone. */
  public int promptBlocks() {
    return Math.min(blocks.length, promptTokens / BLOCK_TOKENS);
  }

  /** The prompt as its model's tokenizer might cut it. */
  public PromptTokens tokens(int grain) {
    int[] ids = tokens(blocks, 0, promptBlocks(), BLOCK_TOKENS);
    return new PromptTokens(PromptTokens.of(ids, grain).keys(), grain, promptTokens);
  }

  /** Ids that the tokens of blocks might have: others where their content is another. */
  public static int[] tokens(long[] identities, int from, int to, int blockTokens) {
    int[] ids = new int[(to - from) * blockTokens];
    for (int i = from; i < to; i++) {
      for (int t = 0; t < blockTokens; t++) {
        ids[(i - from) * blockTokens + t] = (int) (identities[i] >>> (t * Integer.SIZE & 63)) ^ t;
      }
    }
    return ids;
  }
}
