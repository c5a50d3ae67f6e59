package io.fairlead.stub.engine;

/** What an engine has done since it was made; see the accessors of {@link Engine}. */
final class Totals {
  long promptTokens;
  long cachedTokens;
  long transferredTokens;
  long computedTokens;
  long outputTokens;
  long preemptions;
}
