package io.fairlead.core;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One place in the {@link RequestTable} with the account of the request that has it now. Reused for
 * request after request; only the core's own classes see it.
 */
final class Flight {

  private static final RequestFacts NOBODY = new RequestFacts("", 0, new long[0], 0, -1, 0);
  private static final RequestListener DEAF =
      new RequestListener() {
        @Override
        public void send(long request, Route route) {}

        @Override
        public void pass(long request) {}

        @Override
        public void reject(long request, Rejection rejection) {}
      };

  /** Never 0 or negative, and never the same again after this request. */
  long ticket;

  boolean live;
  RequestFacts facts = NOBODY;
  RequestListener listener = DEAF;
  int attempts;

  /** Endpoints whose attempts failed; as many places as retries are allowed. */
  private final @Nullable EndpointState[] tried;

  /** Where it was sent; null when it is not sent anywhere right now. */
  @Nullable EndpointState at;

  /**
   * Who computes its prompt for {@link #at}, until the first token; null when that does it itself.
   */
  @Nullable EndpointState prefillAt;

  /** Of the current attempt. */
  String target = "";

  long salt;
  boolean critical;
  boolean sheddable;
  boolean firstTokenSeen;
  long sentAt;
  long firstTokenAt;

  /** Since when its prefill was the endpoint's next. */
  long prefillSince;

  /** Prompt tokens, and those believed to be cached by whoever computes the prompt. */
  int tokens;

  int cached;

  /** Leading blocks of the prompt that the index was told of. */
  int blocks;

  /** Leading blocks that {@link #at} was believed to hold before this request was sent there. */
  int matched;

  /** The same of whoever computes the prompt. */
  int matchedAtPrefill;

  /** Whether that is another endpoint than {@link #at}. */
  boolean prefilledElsewhere;

  /**
   * The endpoint's running sums at the first token: what they grow by until the end is the mean.
   */
  long decodingArea;

  long tokensArea;

  /** Neighbours in the prefill queue. */
  @Nullable Flight before;

  @Nullable Flight after;

  Flight(int retries, long ticket) {
    this.tried = new EndpointState[retries];
    this.ticket = ticket;
  }

  int uncached() {
    return tokens - cached;
  }

  /** What attention costs in a prefill: each new token looks at all before it. */
  double attention() {
    double uncached = uncached();
    return uncached * (cached + uncached / 2);
  }

  /** The attempt is over; its endpoint won't be tried again, as long as another try is allowed. */
  void failed(EndpointState endpoint) {
    if (attempts <= tried.length) {
      tried[attempts - 1] = endpoint;
    }
  }

  boolean hasTried(EndpointState endpoint) {
    for (int i = 0; i < attempts && i < tried.length; i++) {
      if (tried[i] == endpoint) {
        return true;
      }
    }
    return false;
  }

  void start(RequestFacts request, RequestListener told) {
    live = true;
    facts = request;
    listener = told;
    attempts = 0;
    firstTokenSeen = false;
    tokens = TokenEstimate.usual(request.prompt());
  }

  /** Lets go of all that the request referred to. */
  void clear() {
    live = false;
    facts = NOBODY;
    listener = DEAF;
    at = null;
    prefillAt = null;
    target = "";
    Arrays.fill(tried, null);
  }
}
