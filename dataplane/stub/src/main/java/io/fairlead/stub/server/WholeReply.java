package io.fairlead.stub.server;

/** Answers in one piece when the last token is out. */
final class WholeReply implements Reply {

  private final Exchange exchange;
  private final ReplyJson json;
  private int tokens;
  private int cachedTokens;

  WholeReply(Exchange exchange, ReplyJson json) {
    this.exchange = exchange;
    this.json = json;
  }

  @Override
  public void first(int cachedTokens) {
    this.cachedTokens = cachedTokens;
    tokens = 1;
  }

  @Override
  public void token(int n) {
    tokens = n;
  }

  @Override
  public void fail(ApiError error) {
    exchange.error(error);
  }

  @Override
  public void end(String finishReason) {
    exchange.completion(json.model(), json.whole(tokens, cachedTokens, finishReason));
  }
}
