package io.fairlead.stub.server;

/** Turns the tokens of one completion into an HTTP response; choices are counted from 0. */
sealed interface Reply permits StreamedReply, WholeReply, StreamedResponse {

  /** The first token of a choice is out. */
  void first(int choice, int cachedTokens);

  /** Token {@code n} of a choice is out, counted from 1. */
  void token(int choice, int n);

  /** No more tokens of the choice come, since all are out. */
  void end(int choice);

  /** Nothing comes any more: an error while nothing was sent, else a cut connection. */
  void fail(ApiError error);

  /** Ends every choice where it is. */
  void abort();
}
