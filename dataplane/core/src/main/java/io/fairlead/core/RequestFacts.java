package io.fairlead.core;

import io.fairlead.core.prefix.PromptTokens;
import org.jspecify.annotations.Nullable;

/**
 * What the core knows of a request: sizes, hashes and names, never its text. Made on the
 * connection's loop, handed over once.
 *
 * @param id what its client or a proxy calls it; empty if neither has named it
 * @param model the model as asked for; empty for calls that name none (they go to any endpoint)
 * @param seed random bits for this request's draws and ties
 * @param blocks chained hashes of the prompt's whole blocks, first block first; owned by the core
 *     from here on
 * @param prompt how large the prompt is
 * @param maxOutputTokens the request's own limit, or -1; 0 where no answer has tokens, as with an
 *     embedding
 * @param answers that it asks for, each a sequence of its own to an engine: {@code n} or {@code
 *     best_of} times its prompts; 1 or more
 * @param bodyBytes size of the request body
 * @param delivery how its answer comes, and whether it can be sent again
 * @param timeouts its own bounds in time, as a trusted header says them
 * @param headers the request's headers
 * @param subset the endpoints that the gateway allows, or null for all
 * @param tokens the prompt as its model's own tokenizer cuts it; null where there is none
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not compared; copying would cost per block
public record RequestFacts(
    String id,
    String model,
    long seed,
    long[] blocks,
    PromptSize prompt,
    int maxOutputTokens,
    int answers,
    long bodyBytes,
    Delivery delivery,
    Timeouts timeouts,
    RequestHeaders headers,
    @Nullable Subset subset,
    @Nullable PromptTokens tokens) {

  /** More are counted as so many: no engine runs them at a time. */
  public static final int MOST_ANSWERS = 1_024;

  public RequestFacts {
    answers = Math.clamp(answers, 1, MOST_ANSWERS);
  }

  /** A request for one answer whose prompt nobody has cut into tokens. */
  public RequestFacts(
      String id,
      String model,
      long seed,
      long[] blocks,
      PromptSize prompt,
      int maxOutputTokens,
      long bodyBytes,
      Delivery delivery,
      Timeouts timeouts,
      RequestHeaders headers,
      @Nullable Subset subset) {
    this(
        id,
        model,
        seed,
        blocks,
        prompt,
        maxOutputTokens,
        1,
        bodyBytes,
        delivery,
        timeouts,
        headers,
        subset,
        null);
  }

  /** A streamed request without headers that may be sent again, to any endpoint. */
  public RequestFacts(
      String model,
      long seed,
      long[] blocks,
      int promptTokens,
      int maxOutputTokens,
      long bodyBytes) {
    this(model, seed, blocks, PromptSize.ofTokens(promptTokens), maxOutputTokens, bodyBytes);
  }

  /** A streamed request without headers that may be sent again, to any endpoint. */
  public RequestFacts(
      String model,
      long seed,
      long[] blocks,
      PromptSize prompt,
      int maxOutputTokens,
      long bodyBytes) {
    this(
        "",
        model,
        seed,
        blocks,
        prompt,
        maxOutputTokens,
        bodyBytes,
        Delivery.STREAMED,
        Timeouts.UNSET,
        RequestHeaders.NONE,
        null);
  }

  /** The same, to any endpoint, whatever the gateway allows. */
  public RequestFacts anywhere() {
    return subset == null ? this : with(null, tokens);
  }

  /** The same, to these endpoints alone. */
  RequestFacts only(Subset endpoints) {
    return with(endpoints, tokens);
  }

  /** The same, with what its model's own tokenizer makes of its prompt. */
  public RequestFacts with(PromptTokens cut) {
    return with(subset, cut);
  }

  private RequestFacts with(@Nullable Subset allowed, @Nullable PromptTokens cut) {
    return new RequestFacts(
        id,
        model,
        seed,
        blocks,
        prompt,
        maxOutputTokens,
        answers,
        bodyBytes,
        delivery,
        timeouts,
        headers,
        allowed,
        cut);
  }

  /**
   * How an answer comes, and whether the request can be sent again.
   *
   * @param streamed token by token, so that its first byte is its first token; otherwise in one
   *     piece, of which nothing is seen before its end
   * @param resendable whether the frontend can send it to another endpoint after the first one
   *     failed
   */
  public record Delivery(boolean streamed, boolean resendable) {

    /** Token by token, from a frontend that can send again. */
    public static final Delivery STREAMED = new Delivery(true, true);
  }

  /**
   * The same for requests that ask for the same, and hardly ever for others: one that was refused
   * is known by it when it comes again. Short prompts, which have no whole block, are alike if
   * their bodies are as long.
   */
  long likeness() {
    long whole = blocks.length == 0 ? model.hashCode() : blocks[blocks.length - 1];
    return whole ^ Long.rotateLeft(bodyBytes, Integer.SIZE);
  }
}
