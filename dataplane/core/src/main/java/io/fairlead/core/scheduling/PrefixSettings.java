package io.fairlead.core.scheduling;

import io.fairlead.core.account.TokenEstimate;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;

/**
 * How much the prefix index remembers, in its own blocks of {@value #TOKENS_PER_BLOCK} tokens. A
 * document counts in blocks of {@code blockSizeTokens}; what it says is kept in tokens.
 *
 * @param maxBlocks longest head of a prompt that is matched and learned, at least 1; {@link
 *     Integer#MAX_VALUE} for no limit
 * @param endpointBlocks what an endpoint is believed to hold, at least 1; 0 when the document does
 *     not say
 * @param measured whether an endpoint's own KV cache size counts instead, where it is known
 */
public record PrefixSettings(int maxBlocks, int endpointBlocks, boolean measured)
    implements Setting {

  /** Nothing set: no limit per prompt, and the size that an endpoint tells. */
  public static final PrefixSettings DEFAULT = new PrefixSettings(Integer.MAX_VALUE, 0, true);

  /** Tokens that one block of the index is taken for in a document. */
  public static final int TOKENS_PER_BLOCK = TokenEstimate.USUAL_BLOCK_TOKENS;

  /** What upstream believes of an endpoint that may not tell itself. */
  private static final int UPSTREAM_CAPACITY = 31_250;

  public PrefixSettings {
    if (maxBlocks < 1 || endpointBlocks < 0) {
      throw new IllegalArgumentException(
          "maxBlocks is "
              + maxBlocks
              + " and endpointBlocks "
              + endpointBlocks
              + "; the first must be at least 1, the second not negative");
    }
  }

  /** What upstream's prefix cache producer takes, also where it stands on the scorer. */
  static PrefixSettings read(Parameters parameters) {
    boolean measured = parameters.flag("autoTune", true);
    int tokens = parameters.integer("blockSizeTokens", TOKENS_PER_BLOCK, 1, 1 << 20);
    int blocks = parameters.integer("maxPrefixBlocksToMatch", 0, 1, Integer.MAX_VALUE);
    int most = parameters.integer("maxPrefixTokensToMatch", 0, 0, Integer.MAX_VALUE);
    int capacity = parameters.integer("lruCapacityPerServer", 0, 1, Integer.MAX_VALUE);
    if (parameters.has("blockSize")) {
      throw parameters.invalid(
          "blockSize", "is no setting any more; set blockSizeTokens, a number of tokens");
    }
    if (capacity == 0 && !measured) {
      capacity = UPSTREAM_CAPACITY;
    }
    int maxBlocks = Integer.MAX_VALUE;
    if (most > 0) {
      maxBlocks = Math.max(1, most / TOKENS_PER_BLOCK);
    } else if (blocks > 0) {
      maxBlocks = own(blocks, tokens);
    }
    return new PrefixSettings(maxBlocks, capacity == 0 ? 0 : own(capacity, tokens), measured);
  }

  private static int own(int blocks, int tokens) {
    return Math.clamp((long) blocks * tokens / TOKENS_PER_BLOCK, 1, Integer.MAX_VALUE);
  }
}
