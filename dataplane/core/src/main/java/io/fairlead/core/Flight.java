package io.fairlead.core;

import io.fairlead.core.account.SharedBlocks;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the {@link RequestTable} with the account of the request that has it now. Reused for
 * request after request; only the core's own classes see it.
 */
final class Flight {

  /** How far the current attempt is, as the accounts of its endpoint have it. */
  enum Phase {
    /** Sent nowhere. */
    DECIDING,
    /** In line for its first token. */
    PREFILLING,
    /** Past its first token, as told or, for an answer in one piece, as estimated. */
    DECODING
  }

  private static final RequestFacts NOBODY = new RequestFacts("", 0, new long[0], 0, -1, 0);
  private static final RequestFacts STREAMED_AND_LEFT = left(true);
  private static final RequestFacts WHOLE_AND_LEFT = left(false);
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

  /** Told of its end once it is left; nobody before. */
  LeftListener leftListener = LeftListener.NONE;

  int attempts;

  /** Endpoints whose attempts failed; as many as retries are allowed. */
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
  Phase phase = Phase.DECIDING;

  /** Whether a byte of the answer has come: from then on the client may have it. */
  boolean answered;

  /** Whether what came of the attempt has been told to the endpoint's health. */
  boolean judged;

  /** Whether it goes to an endpoint on trial. */
  boolean trial;

  /** Whether its prompt does. */
  boolean prefillTrial;

  /** Whether it was sent again after an endpoint may have worked on it: that happens once. */
  boolean workedOn;

  /** Whether it was to be sent again and nobody was found who might get it. */
  boolean nowhereElse;

  /** Whether nobody sees what becomes of it; since when, and how long it is expected to take. */
  boolean left;

  long leftAt;
  long expected;

  long arrivedAt;
  long sentAt;
  long firstTokenAt;

  /** When the last byte of the answer came, as far as was told. */
  long lastByteAt;

  /** What the request, its model and the pool bound its time to. */
  Timeouts timeouts = Timeouts.UNSET;

  /** When the first byte is late. */
  long firstByteBy;

  /** Whether that was asked for. */
  boolean firstByteSet;

  /**
   * When the first byte is late whatever anybody asks for: from then on its endpoint is to blame.
   */
  long firstByteOverdue;

  /** When all of it is late. */
  long over;

  /** Longest time between two bytes. */
  long mostSilence;

  /** Since when its prefill was the endpoint's next. */
  long prefillSince;

  /** Prompt tokens, and those believed to be cached by whoever computes the prompt. */
  int tokens;

  int cached;

  /** Leading blocks of the prompt that the index was told of. */
  int blocks;

  /** What {@link SharedBlocks} needs of a prompt that was left. */
  long[] sampledBlocks = {};

  /** Leading blocks that {@link #at} was believed to hold before this request was sent there. */
  int matched;

  /** The same of whoever computes the prompt. */
  int matchedAtPrefill;

  /** Who computed its prompt or was to, if that is another endpoint than {@link #at}. */
  @Nullable EndpointState prefilledBy;

  /**
   * The endpoint's running sums at the first token: what they grow by until the end is the mean.
   */
  long decodingArea;

  long tokensArea;

  /** Neighbours in the prefill queue. */
  @Nullable Flight before;

  @Nullable Flight after;

  /** Neighbours in {@link EndpointState#requests}. */
  @Nullable Flight sentBefore;

  @Nullable Flight sentAfter;

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

  /** Whether its first token was seen, and not just its end, or a failure in its place. */
  boolean firstTokenSeen() {
    return answered && !judged && facts.delivery().streamed();
  }

  /** Whether its first token is seen if it comes: else it is presumed. */
  boolean showsFirstToken() {
    return facts.delivery().streamed() && !left;
  }

  void start(long now, RequestFacts request, RequestListener told) {
    live = true;
    arrivedAt = now;
    facts = request;
    listener = told;
    attempts = 0;
    phase = Phase.DECIDING;
    answered = false;
    workedOn = false;
    nowhereElse = false;
    left = false;
  }

  /** All that still counts of such a request. */
  private static RequestFacts left(boolean streamed) {
    return new RequestFacts(
        "",
        0,
        new long[0],
        PromptSize.NONE,
        -1,
        0,
        new RequestFacts.Delivery(streamed, false),
        Timeouts.UNSET,
        RequestHeaders.NONE,
        null);
  }

  /**
   * Nobody sees it any more. It may be counted for seconds, and there may be thousands: what only
   * its frontend and its choice needed would fill the heap, and is not kept.
   */
  void leave(long now, long expected, LeftListener told) {
    left = true;
    leftAt = now;
    this.expected = expected;
    sampledBlocks = SharedBlocks.sample(facts.blocks(), blocks, sampledBlocks);
    facts = facts.delivery().streamed() ? STREAMED_AND_LEFT : WHOLE_AND_LEFT;
    listener = DEAF;
    leftListener = told;
  }

  /** Lets go of all that the request referred to. */
  void clear() {
    live = false;
    facts = NOBODY;
    listener = DEAF;
    leftListener = LeftListener.NONE;
    at = null;
    prefillAt = null;
    prefilledBy = null;
    target = "";
    timeouts = Timeouts.UNSET;
    Arrays.fill(tried, null);
  }
}
