package io.fairlead.core;

import io.fairlead.crds.config.Criticality;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One request that has not ended, as it should be. */
final class TruthRequest {

  final RequestFacts facts;
  final Set<TruthServer> tried = new HashSet<>();
  long ticket;
  int attempts;
  boolean firstToken;

  /** Whether it was sent again after an endpoint may have worked on it. */
  boolean workedOn;

  /** Whether it is taken off the accounts before it is sent again. */
  boolean apart;

  /** Whether an error of an endpoint's is passed on as its answer. */
  boolean passed;

  /** Of the current attempt; {@code prefillAt} until the first token, and only if it is another. */
  @Nullable TruthServer at;

  @Nullable TruthServer prefillAt;
  Criticality criticality = Criticality.STANDARD;
  String target = "";
  int tokens;
  int cached;
  long sentAt;
  long firstTokenAt;

  /** Since when {@link #at} has it, which may be after another one had computed its prompt. */
  long thereSince;

  /** Whether its client takes nothing of its answer, since when, and whether that was ever so. */
  boolean heldUp;

  long heldUpSince;
  boolean wasHeldUp;

  /** Whether {@link #at} is through with it and its client is not. */
  boolean unread;

  /** Summed over time since the first token. */
  double decodingArea;

  double tokensArea;

  TruthRequest(RequestFacts facts) {
    this.facts = facts;
  }

  int uncached() {
    return tokens - cached;
  }

  double attention() {
    return uncached() * (cached + uncached() / 2.0);
  }

  /** Its client takes no more, or takes more again. */
  void heldUp(long now, boolean held) {
    if (held != heldUp) {
      heldUp = held;
      heldUpSince = now;
      wasHeldUp = true;
    }
  }

  /** What observers should be told if it ended now. */
  End end(long now, Outcome outcome, Usage usage) {
    TruthServer server = at;
    if (server == null) {
      throw new AssertionError("request " + ticket + " is not sent anywhere");
    }
    server.advance(now);
    long since = firstToken ? now - firstTokenAt : -1;
    // Nothing is told here of bytes after the first; the core allows for some that it has not
    // heard.
    long told = outcome == Outcome.COMPLETED ? since : Math.min(since, 250_000_000);
    long decodeTime = wasHeldUp ? -1 : told;
    double decoding = firstToken ? server.decoding() : 0;
    double tokens = firstToken ? server.tokens() : 0;
    return new End(
        now,
        server,
        target,
        outcome == Outcome.COMPLETED,
        firstToken ? firstTokenAt - sentAt : -1,
        decodeTime,
        usage,
        cached,
        since > 0 ? decodingArea / since : decoding,
        since > 0 ? tokensArea / since : tokens);
  }

  /** A completion. */
  record End(
      long now,
      TruthServer server,
      String target,
      boolean succeeded,
      long timeToFirstToken,
      long decodeTime,
      Usage usage,
      int expectedCached,
      double meanDecoding,
      double meanTokens) {}
}
