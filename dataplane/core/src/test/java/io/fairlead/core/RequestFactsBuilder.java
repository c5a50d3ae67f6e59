package io.fairlead.core;

import org.jspecify.annotations.Nullable;

/**
 * Another request like one that there is: a test says what is special about its own, and nothing
 * else.
 */
public final class RequestFactsBuilder {

  private final RequestFacts like;
  private String id;
  private PromptSize prompt;
  private int maxOutputTokens;
  private int answers;
  private long bodyBytes;
  private RequestFacts.Delivery delivery;
  private Timeouts timeouts;
  private RequestHeaders headers;
  private @Nullable Subset subset;

  private RequestFactsBuilder(RequestFacts like) {
    this.like = like;
    id = like.id();
    prompt = like.prompt();
    maxOutputTokens = like.maxOutputTokens();
    answers = like.answers();
    bodyBytes = like.bodyBytes();
    delivery = like.delivery();
    timeouts = like.timeouts();
    headers = like.headers();
    subset = like.subset();
  }

  /** Begins with all that is said of this one. */
  public static RequestFactsBuilder like(RequestFacts one) {
    return new RequestFactsBuilder(one);
  }

  /**
   * Begins with a streamed request without headers that may be sent again, to any endpoint, whose
   * prompt is as long as its blocks.
   */
  public static RequestFactsBuilder of(String model, long seed, long... blocks) {
    return like(Pool.request(model, seed, blocks));
  }

  /** What its client calls it. */
  public RequestFactsBuilder id(String name) {
    id = name;
    return this;
  }

  /** How large its prompt is, in its body, too: four bytes a token. */
  public RequestFactsBuilder tokens(int count) {
    return prompt(PromptSize.ofTokens(count)).bodyBytes(4L * count);
  }

  /** How large its prompt is. */
  public RequestFactsBuilder prompt(PromptSize size) {
    prompt = size;
    return this;
  }

  /** How long its answer may be; -1 where it doesn't say. */
  public RequestFactsBuilder maxOutputTokens(int most) {
    maxOutputTokens = most;
    return this;
  }

  /** How many answers it asks for. */
  public RequestFactsBuilder answers(int count) {
    answers = count;
    return this;
  }

  /** How large its body is. */
  public RequestFactsBuilder bodyBytes(long size) {
    bodyBytes = size;
    return this;
  }

  /** Whether its answer is streamed; it may be sent again. */
  public RequestFactsBuilder streamed(boolean is) {
    return delivery(new RequestFacts.Delivery(is, true));
  }

  /** How its answer comes, and whether it may be sent again. */
  public RequestFactsBuilder delivery(RequestFacts.Delivery how) {
    delivery = how;
    return this;
  }

  /** Its own bounds in time. */
  public RequestFactsBuilder timeouts(Timeouts own) {
    timeouts = own;
    return this;
  }

  /** Its one header. */
  public RequestFactsBuilder header(String name, String value) {
    return headers(asked -> asked.equals(name) ? value : null);
  }

  /** Its headers. */
  public RequestFactsBuilder headers(RequestHeaders all) {
    headers = all;
    return this;
  }

  /** Where the gateway lets it go; null for anywhere. */
  public RequestFactsBuilder subset(@Nullable Subset allowed) {
    subset = allowed;
    return this;
  }

  /** The request. */
  public RequestFacts build() {
    return new RequestFacts(
        id,
        like.model(),
        like.seed(),
        like.blocks(),
        prompt,
        maxOutputTokens,
        answers,
        bodyBytes,
        delivery,
        timeouts,
        headers,
        subset,
        like.tokens());
  }
}
