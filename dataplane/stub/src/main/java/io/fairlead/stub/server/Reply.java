package io.fairlead.stub.server;

/** Turns the tokens of one completion into an HTTP response. */
sealed interface Reply permits StreamedReply, WholeReply {

  /** The first token is out. */
  void first(int cachedTokens);

  /** Token {@code n} is out, counted from 1. */
  void token(int n);

  /** Nothing comes any more: an error while nothing was sent, else a cut connection. */
  void fail(ApiError error);

  /** No more tokens come; says why in the API's words. Called once. */
  void end(String finishReason);
}
