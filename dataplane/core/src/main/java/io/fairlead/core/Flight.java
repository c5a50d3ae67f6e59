package io.fairlead.core;

import io.fairlead.core.account.SharedBlocks;
import io.fairlead.core.external.Advice;
import io.fairlead.core.flow.FlowQueue;
import io.fairlead.core.flow.Waiting;
import io.fairlead.core.handover.SentRequest;
import io.fairlead.core.handover.SentRequest.Load;
import io.fairlead.core.receipt.Receipt;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One entry of the {@link RequestTable} with the account of the request that has it now. Reused for
 * request after request; only the core's own classes see it.
 */
final class Flight {

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

  private FlightState state = FlightState.ENDED;

  RequestFacts facts = NOBODY;
  RequestListener listener = DEAF;

  /** Told of its end once it is left; nobody before. */
  LeftListener leftListener = LeftListener.NONE;

  /** Where it is written down what was decided of it, unless another has it by now. */
  private @Nullable Receipt receipt;

  /** Whether another picker has sent it, and tells what becomes of it. */
  private boolean ofAnother;

  /** Where a scheduler outside of the process wants it; null where none has said. */
  @Nullable Advice advice;

  /** Its place among those that wait; null while it does not. */
  @Nullable Waiting waiting;

  /** Whose it is; null where nobody ever waits. */
  @Nullable FlowQueue flow;

  /** Work that its flow was charged with when it was sent first. */
  double work;

  /** The turn of its band in which that was. */
  long turn;

  /**
   * Its place among those that wait, where it waited or one was kept for it since it was refused;
   * else 0.
   */
  long place;

  /** What it goes on with, as far as that is known; null for a request that begins something. */
  Contexts.@Nullable Context goesOnWith;

  /** Whether it was counted, as one that goes on or as one that begins. */
  boolean counted;

  /** Whether nobody could keep what it asks for when it was to be sent last. */
  boolean unkept;

  /** What it lacked when it was to be sent last and could not go. */
  Lack lack = Lack.UNKNOWN;

  /** What its adapter was promised for its sake; null for nothing. */
  @Nullable SlotPromise promise;

  /** Its tokens that are in no other context. */
  long ownTokens;

  /** Whether its frontend was asked to end it for one that is more important. */
  boolean askedToEnd;

  int attempts;

  /** Endpoints whose attempts failed; as many as retries are allowed. */
  private final @Nullable EndpointState[] tried;

  /** Where it is. */
  final Attempt attempt = new Attempt();

  /** Whether it was sent again after an endpoint may have worked on it: that happens once. */
  boolean workedOn;

  /** Who failed it, while another may yet show whether that was the request's fault. */
  @Nullable Suspicion suspicion;

  /** Whether it was to be sent again and nobody was found who might get it. */
  boolean nowhereElse;

  /** Since when nobody sees what becomes of it, and how long it is expected to take from there. */
  long leftAt;

  long expected;

  long arrivedAt;

  /** Whether it is in a prefill queue, and its neighbours there. */
  boolean inLine;

  @Nullable Flight before;

  @Nullable Flight after;

  /** Neighbours in {@link EndpointState#requests}. */
  @Nullable Flight sentBefore;

  @Nullable Flight sentAfter;

  Flight(int retries, long ticket) {
    this.tried = new EndpointState[retries];
    this.ticket = ticket;
  }

  /**
   * One that another picker has sent, and that no table has: it counts and is never decided. When
   * its first token came is told late, so it counts as one that nobody sees: whoever waited until
   * it is told would wait for prompts that are computed.
   */
  static Flight ofAnother(long now, SentRequest told) {
    Flight flight = new Flight(0, 0);
    Load load = told.load();
    flight.start(now, WHOLE_AND_LEFT, DEAF);
    flight.to(FlightState.PREFILLING);
    flight.ofAnother = true;
    flight.attempt.tokens = load.tokens();
    flight.attempt.cached = load.cached();
    flight.attempt.answers = Math.max(1, load.answers());
    flight.attempt.critical = load.critical();
    flight.attempt.sheddable = load.sheddable();
    flight.attempt.sentAt = now - told.age();
    return flight;
  }

  /** Whether another picker has sent it, and tells what becomes of it. */
  boolean isOfAnother() {
    return ofAnother;
  }

  /** Whether no more is kept of its prompt than {@link Attempt#sampledBlocks}. */
  boolean hasSampleOnly() {
    return ofAnother || state.isLeft();
  }

  FlightState state() {
    return state;
  }

  /**
   * The only way from one state to the next.
   *
   * @throws IllegalStateException if no request goes that way
   */
  void to(FlightState next) {
    if (!state.mayBecome(next)) {
      throw new IllegalStateException("a request that is " + state + " can't become " + next);
    }
    state = next;
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

  /**
   * Whether its client has some of the answer, or gets it from here on: no other endpoint can give
   * it another one, and nobody can end it without leaving half of one.
   */
  boolean hasReachedClient() {
    return state.isAnswered() || attempt.passing;
  }

  /** Whether its first token was seen, and not just its end, or a failure in its place. */
  boolean firstTokenSeen() {
    return state.isAnswered() && !attempt.judged && facts.delivery().streamed();
  }

  /** Whether its first token is seen if it comes: else it is presumed. */
  boolean showsFirstToken() {
    return facts.delivery().streamed() && !state.isLeft();
  }

  void start(long now, RequestFacts request, RequestListener told) {
    to(FlightState.DECIDING);
    arrivedAt = now;
    facts = request;
    listener = told;
    attempts = 0;
    place = 0;
    counted = false;
    unkept = false;
    lack = Lack.UNKNOWN;
    workedOn = false;
    nowhereElse = false;
    suspicion = null;
    askedToEnd = false;
  }

  /** It waits for this slot, and counts on none that it was promised before. */
  void promised(SlotPromise slot) {
    promise = slot;
    Waiting waits = waiting;
    if (waits != null) {
      waits.promised(true);
    }
  }

  /**
   * It can't go for want of room: a slot that is kept for it is one for others, who may be more
   * important and fill servers more than it may.
   */
  void lacksRoom() {
    SlotPromise given = promise;
    if (given != null && given.isKept()) {
      countsOnNoSlot();
    }
  }

  /** It counts on no slot any more. */
  void countsOnNoSlot() {
    SlotPromise given = promise;
    if (given != null) {
      given.takeBack();
      promise = null;
    }
    Waiting waits = waiting;
    if (waits != null) {
      waits.promised(false);
    }
  }

  /** A byte of its answer came. */
  void answered(long now) {
    attempt.answers(now);
    if (!state.isAnswered()) {
      to(state.answered());
    }
  }

  /** All that still counts of such a request. */
  private static RequestFacts left(boolean streamed) {
    return new RequestFacts(
        "",
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
    to(state.left());
    leftAt = now;
    this.expected = expected;
    advice = null;
    attempt.sampledBlocks =
        SharedBlocks.sample(facts.blocks(), attempt.blocks, attempt.sampledBlocks);
    facts = facts.delivery().streamed() ? STREAMED_AND_LEFT : WHOLE_AND_LEFT;
    listener = DEAF;
    leftListener = told;
  }

  /** Whether its first token will be seen. */
  boolean isWatched() {
    return facts.delivery().streamed() && !state().isLeft();
  }

  /** It is to be written down there what is decided of it; null for nowhere. */
  void receipt(@Nullable Receipt given) {
    receipt = given;
  }

  /** Where it is written down what is decided of it; null where it is not, or not any more. */
  @Nullable Receipt receipt() {
    Receipt own = receipt;
    return own != null && own.isOf(ticket) ? own : null;
  }

  /** It is over: lets go of all that it referred to. */
  void clear() {
    to(FlightState.ENDED);
    facts = NOBODY;
    listener = DEAF;
    leftListener = LeftListener.NONE;
    advice = null;
    waiting = null;
    flow = null;
    promise = null;
    goesOnWith = null;
    receipt = null;
    attempt.clear();
    Arrays.fill(tried, null);
  }
}
