package io.fairlead.stub.engine;

import org.jspecify.annotations.Nullable;

/**
 * What an {@link Engine} is asked for: sizes and identities, no text.
 *
 * <p>Roles of a disaggregated pool need no more than this. A prefill engine gets the prompt with
 * {@code outputTokens} 1; when that is finished, a decode engine gets the whole request with {@code
 * transferredTokens} set to the prompt's length.
 *
 * @param id the caller's name for it, unused by any request still in the engine
 * @param blocks identities of its full blocks from the first token on, each standing for all
 *     content up to its end; may go on into the output, and may end early: blocks without identity
 *     are never shared. Not copied, not changed.
 * @param promptTokens 1 or more
 * @param outputTokens 1 or more
 * @param adapter the LoRA adapter to use; empty for the base model
 * @param transferredTokens prompt tokens whose keys and values another engine computed and sent
 *     along, 0 to {@code promptTokens}: they take blocks but no computing, once. The prompt's last
 *     token is computed in any case, since that yields the output, and after a preemption all are.
 * @param tokens ids of its tokens, those of the answer too, for who is told of blocks; the engine
 *     does not look at them. Null where nobody is. Not copied, not changed.
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record EngineRequest(
    long id,
    long[] blocks,
    int promptTokens,
    int outputTokens,
    String adapter,
    int transferredTokens,
    int @Nullable [] tokens) {

  public EngineRequest {
    if (promptTokens < 1 || outputTokens < 1) {
      throw new IllegalArgumentException(
          "promptTokens: " + promptTokens + ", outputTokens: " + outputTokens + ": not both >= 1");
    }
    if (transferredTokens < 0 || transferredTokens > promptTokens) {
      throw new IllegalArgumentException(
          "transferredTokens: %d is not in 0..%d, the prompt"
              .formatted(transferredTokens, promptTokens));
    }
  }

  /** A request whose blocks nobody is told of. */
  public EngineRequest(
      long id,
      long[] blocks,
      int promptTokens,
      int outputTokens,
      String adapter,
      int transferredTokens) {
    this(id, blocks, promptTokens, outputTokens, adapter, transferredTokens, null);
  }

  /** A request of the base model of which nothing is computed yet. */
  public EngineRequest(long id, long[] blocks, int promptTokens, int outputTokens) {
    this(id, blocks, promptTokens, outputTokens, "", 0);
  }

  /** This request, of a LoRA adapter. */
  public EngineRequest withAdapter(String adapter) {
    return new EngineRequest(
        id, blocks, promptTokens, outputTokens, adapter, transferredTokens, tokens);
  }

  /** This request, with so many prompt tokens computed elsewhere. */
  public EngineRequest withTransferredTokens(int transferred) {
    return new EngineRequest(id, blocks, promptTokens, outputTokens, adapter, transferred, tokens);
  }

  /** This request, with its token ids. */
  public EngineRequest withTokens(int[] ids) {
    return new EngineRequest(
        id, blocks, promptTokens, outputTokens, adapter, transferredTokens, ids);
  }
}
