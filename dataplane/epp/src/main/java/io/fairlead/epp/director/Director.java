package io.fairlead.epp.director;

import io.fairlead.core.Failure;
import io.fairlead.core.LeftListener;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.core.external.RequestBrief;
import io.fairlead.crds.config.Criticality;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CapturedRequest;
import io.fairlead.epp.external.ExternalScheduling;
import io.fairlead.epp.external.Word;
import io.fairlead.epp.shadow.Shadows.ShadowedRequest;
import io.fairlead.epp.tokens.PromptTokenizers;
import io.fairlead.epp.tracing.RequestTrace;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request in flight: carries the frontend's events to the pool's loop, and the core's effects
 * back.
 *
 * <p>The public methods are called on the frontend's loop ({@code home}); the lower half of the
 * class runs on the pool's loop. Each half owns its own fields, and the only way across is a task
 * on the other loop. So events arrive in order, and an effect that comes late meets a state that
 * says so.
 *
 * <p>The core may send a request elsewhere by itself, or reject it for want of a first byte, just
 * when the frontend reports something of the attempt before. So the frontend's events name their
 * attempt. If the answer had begun, the frontend stays with it, the core stops counting the
 * request, and the rest of the answer is timed here; if the attempt had failed, the new route is
 * the answer to that, too.
 */
public final class Director implements RequestListener {

  private enum State {
    NEW,
    /** The core has the word. */
    DECIDING,
    /** At an endpoint, nothing of an answer was told. */
    SENT,
    /** The client gets an answer: nothing is sent again. */
    ANSWERING,
    OVER
  }

  /** No attempt. */
  private static final int NONE = -1;

  private final PoolLoop pool;
  private final EventExecutor home;
  private final Exchange exchange;
  private final @Nullable RequestTrace trace;

  /** Owned by the frontend's loop. */
  private State state = State.NEW;

  private int attempt;

  /** Where the attempt is; null before the first. */
  private @Nullable Route at;

  private boolean firstByteSeen;
  private long progressToldAt;

  /** HTTP status of the endpoint's answer; 0 before it is there. */
  private int status;

  /** Withdraws the request from its model's tokenizer; null while it is not there. */
  private @Nullable Runnable cutting;

  /** What is known of a request that is at its model's tokenizer, and since when. */
  private @Nullable RequestFacts uncut;

  private long uncutSince;

  /** Null before the first piece of an answer's body. */
  private @Nullable PassedAnswer passed;

  /** Owned by the pool's loop. */
  private long ticket;

  private long arrivedAt;

  /** The bounds in time that the request itself sets. */
  private Timeouts timeouts = Timeouts.UNSET;

  /** What the client gets of an attempt that the core has given up; null where it gets none. */
  private @Nullable FormerAnswer former;

  /** Of a streamed answer, once there is a first token. */
  private long firstTokenAt;

  private boolean firstTokenSeen;

  /** Whether the client ever held the answer up: then it says nothing of the endpoint's pace. */
  private boolean wasHeldUp;

  private String model = "";
  private boolean streamed;

  /** That were asked for: their tokens come side by side. */
  private int answers = 1;

  /** Where the request is; null before it is sent and once it is over. */
  private @Nullable Route route;

  /** While an external scheduler is asked; null before and afterwards. */
  private ExternalScheduling.@Nullable Asked asked;

  /** What the core knows, for the case that it waits; null where no external scheduler is asked. */
  private @Nullable RequestFacts toAskAgain;

  /** What the external scheduler said last; null once that was counted. */
  private @Nullable Word word;

  /** Of a request that waits; null before and afterwards. */
  private @Nullable Criticality waitsWith;

  /** What the core is being told of the former attempt. */
  private @Nullable Failure failure;

  /**
   * The attempt as which the frontend may still tell of the current one, to which a proxy has gone
   * on; {@link #NONE} for none.
   */
  private int toldAs = NONE;

  /** Written down as it goes; null when it is not. */
  private @Nullable CapturedRequest captured;

  /** What the pool's shadows are asked about once it is sent; null where there are none. */
  private @Nullable RequestFacts toShadow;

  private @Nullable ShadowedRequest shadowed;

  /** A request that nobody traces. */
  public Director(PoolLoop pool, EventExecutor home, Exchange exchange) {
    this(pool, home, exchange, null);
  }

  /**
   * A request.
   *
   * @param trace told of its milestones on {@code home}; null for nobody
   */
  public Director(
      PoolLoop pool, EventExecutor home, Exchange exchange, @Nullable RequestTrace trace) {
    this.pool = pool;
    this.home = home;
    this.exchange = exchange;
    this.trace = trace;
  }

  /**
   * The request is read: decide. Answered by {@link Exchange#send} or {@link Exchange#reject}.
   *
   * @return false if too many wait for that already: nothing will be told then
   */
  public boolean submit(RequestFacts facts) {
    begin(facts);
    return arrive(pool.subsets() ? facts : facts.anywhere());
  }

  /**
   * The same of a request whose body is at hand: where its model's own tokenizer is, that cuts the
   * prompt first, within its time.
   *
   * @param path of the request
   * @param body asked for once at most, before this returns
   */
  public boolean submit(RequestFacts facts, String path, Supplier<byte[]> body) {
    PromptTokenizers tokenizers = pool.tokenizers();
    if (facts.bodyBytes() == 0
        || facts.bodyBytes() > PromptTokenizers.MOST_BYTES
        || !tokenizers.knows(facts.model())) {
      return submit(facts);
    }
    begin(facts);
    RequestFacts told = pool.subsets() ? facts : facts.anywhere();
    uncut = told;
    uncutSince = pool.now();
    cutting =
        tokenizers.cut(
            facts.model(),
            path,
            (int) facts.bodyBytes(),
            body,
            home,
            tokens -> {
              cutting = null;
              uncut = null;
              // How many are here at a time, the tokenizers bound.
              pool.run(() -> onArrive(tokens == null ? told : told.with(tokens)));
            });
    if (cutting != null) {
      return true;
    }
    uncut = null;
    return arrive(told);
  }

  private boolean arrive(RequestFacts told) {
    if (pool.arrive(() -> onArrive(told))) {
      return true;
    }
    state = State.OVER;
    return false;
  }

  private void begin(RequestFacts facts) {
    if (state != State.NEW) {
      throw new IllegalStateException("submitted before: state " + state);
    }
    if (trace != null) {
      trace.submitted(facts);
    }
    state = State.DECIDING;
  }

  /** The endpoint answers with this HTTP status: the newest counts. */
  public void status(int answered) {
    status = answered;
  }

  /**
   * The answer that begins is that endpoint's, as the proxy says, which has sent the request there
   * by itself. To be told before anything else of the answer; nothing where it is where it should
   * be.
   *
   * @param destination in the form of {@link Route#destination}
   */
  public void answeredBy(String destination) {
    Route sent = at;
    if (state == State.SENT && sent != null && !destination.equals(sent.destination())) {
      int of = attempt;
      pool.run(() -> onAnsweredBy(of, destination));
    }
  }

  /** The endpoint's answer says that it does not know the model: to be told before its end. */
  public void unknownModel() {
    int of = attempt;
    pool.run(
        () -> {
          if (isCurrent(of)) {
            pool.core().unknownModel(pool.now(), ticket);
          }
        });
  }

  /**
   * The endpoint failed before anything of an answer was given to the client. Answered by {@link
   * Exchange#send} or {@link Exchange#reject}, or by {@link Exchange#pass} if there is an answer of
   * the endpoint's own.
   */
  public void attemptFailed(Failure how) {
    if (state == State.SENT) {
      state = State.DECIDING;
      if (trace != null) {
        trace.attemptFailed(how);
      }
      int of = attempt;
      int with = status;
      status = 0;
      pool.run(() -> onAttemptFailed(of, how, with));
    }
  }

  /**
   * The head of a good answer came, and nothing of what was asked for: the client has none of it,
   * so that the request may still be sent elsewhere.
   */
  public void head() {
    if (state == State.SENT) {
      int of = attempt;
      pool.run(() -> onHead(of));
    }
  }

  /** The client gets what the endpoint answers: from now on nothing is sent again. */
  public void answering() {
    if (state == State.SENT) {
      state = State.ANSWERING;
      progressToldAt = pool.now();
      int of = attempt;
      pool.run(() -> onAnswering(of));
    }
  }

  /**
   * The first byte of what was asked for came, of a good answer; later calls change nothing. What
   * only tells the client to wait is none: {@link io.fairlead.epp.openai.AnswerBeginning} knows.
   */
  public void firstByte() {
    if (state == State.SENT || (state == State.ANSWERING && !firstByteSeen)) {
      state = State.ANSWERING;
      firstByteSeen = true;
      if (trace != null) {
        trace.firstByte();
      }
      progressToldAt = pool.now();
      int of = attempt;
      Route by = at;
      pool.run(() -> onFirstByte(of, by));
    }
  }

  /** More of the answer came. To be told of every piece: the core hears of few. */
  public void progress() {
    if (state == State.ANSWERING) {
      long now = pool.now();
      if (now - progressToldAt >= PoolCore.PROGRESS_NANOS) {
        tellProgress(now);
      }
    }
  }

  /**
   * The client takes no more of the answer now, or takes more again: while it doesn't, the endpoint
   * can't go on. To be told a few times a second at most.
   */
  public void heldUp(boolean held) {
    if (state == State.ANSWERING) {
      int of = attempt;
      pool.run(() -> onHeldUp(of, held));
    }
  }

  private void onHeldUp(int of, boolean held) {
    long now = pool.now();
    if (former != null) {
      former.heldUp(now, held);
    }
    if (!isCurrent(of)) {
      endUnjudged(now);
      return;
    }
    if (captured != null) {
      captured.heldUp(now, held);
    }
    wasHeldUp |= held;
    pool.core().heldUp(now, ticket, held);
  }

  /**
   * A piece of the answer's body goes to the client.
   *
   * @param bytes as the client gets it
   * @param events of a stream that have ended so far; 0 where the answer is none
   */
  public void passed(int bytes, int events) {
    PassedAnswer all = passed;
    if (all == null) {
      all = new PassedAnswer();
      passed = all;
    }
    all.passed(bytes);
    if (events > all.events()) {
      all.eventsAt(pool.now(), events);
    }
  }

  private void tellProgress(long now) {
    progressToldAt = now;
    int of = attempt;
    pool.run(() -> onProgress(of));
  }

  /** The response is delivered, or will never be; the first call counts. */
  public void end(Outcome outcome, Usage usage) {
    boolean submitted = state != State.NEW && state != State.OVER;
    state = State.OVER;
    if (submitted) {
      int of = attempt;
      if (trace != null) {
        trace.ended(outcome, usage);
      }
      Runnable withdrawal = cutting;
      if (withdrawal != null) {
        cutting = null;
        withdrawal.run();
        RequestFacts facts = uncut;
        if (facts != null) {
          pool.run(() -> onLeftUncut(facts));
        }
        return; // the core has not heard of it
      }
      tellPassed();
      int with = status;
      Route by = at;
      pool.run(() -> onEnd(of, by, outcome, usage, with));
    }
  }

  private void tellPassed() {
    PassedAnswer got = passed;
    if (got != null) {
      pool.run(() -> pool.observer().answered(model, got));
    }
  }

  /**
   * The request was sent, and nobody will see its answer: the frontend leaves it to the proxy. The
   * core counts it until it must be over.
   */
  public void left() {
    boolean sent = state == State.SENT || state == State.ANSWERING;
    if (!sent) {
      end(Outcome.DISCONNECTED, Usage.UNKNOWN);
      return;
    }
    state = State.OVER;
    if (trace != null) {
      trace.left();
    }
    int of = attempt;
    pool.run(() -> onLeft(of));
  }

  /** Its client went while its prompt was being cut into tokens. */
  private void onLeftUncut(RequestFacts facts) {
    long now = pool.now();
    pool.observer().arrived(facts.model(), facts.bodyBytes());
    RequestBrief brief = pool.core().brief(now, facts);
    if (brief != null) {
      pool.observer().gaveUp(facts.model(), brief.criticality(), now - uncutSince);
    }
  }

  private void onArrive(RequestFacts facts) {
    model = facts.model();
    streamed = facts.delivery().streamed();
    answers = facts.answers();
    timeouts = facts.timeouts();
    arrivedAt = pool.now();
    pool.observer().arrived(model, facts.bodyBytes());
    toShadow = pool.shadows().some() ? facts : null;
    ExternalScheduling scheduler = pool.external();
    if (scheduler == null) {
      decide(facts);
      return;
    }
    toAskAgain = facts;
    asked =
        scheduler.ask(
            facts,
            said -> {
              asked = null;
              word = said;
              decide(facts);
            });
  }

  /** The core and its capture are told of the same moment, or a replay would decide at another. */
  private void decide(RequestFacts facts) {
    long now = pool.now();
    try {
      pool.core().arrive(now, captured(now, facts), advice(), this);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    }
    pool.observer().decided(pool.now() - now);
  }

  private @Nullable Advice advice() {
    return word == null ? null : word.advice();
  }

  private void waitsNoMore() {
    waitsWith = null;
    toAskAgain = null;
    ExternalScheduling scheduler = pool.external();
    if (scheduler != null) {
      scheduler.waitsNoMore(ticket);
    }
  }

  /** If it has not been sent, it won't be. */
  private void sentNowhere() {
    if (word != null) {
      word.withdrawn();
      word = null;
    }
  }

  private void overForShadows(long now, Outcome how, Usage used) {
    if (shadowed != null) {
      shadowed.ended(now, how, used);
      shadowed = null;
    }
  }

  private RequestFacts captured(long now, RequestFacts facts) {
    Capture capture = pool.capture();
    if (capture == null) {
      return facts;
    }
    captured = capture.arrive(now, facts, advice());
    return captured == null ? facts : captured.facts();
  }

  private void onAttemptFailed(int of, Failure how, int with) {
    if (!isCurrent(of)) {
      return; // sent elsewhere meanwhile
    }
    long now = pool.now();
    if (captured != null) {
      captured.attemptFailed(now, how);
    }
    failure = how;
    try {
      tellStatus(with);
      pool.core().attemptFailed(now, ticket, how);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      failure = null;
    }
  }

  private void onAnsweredBy(int of, String destination) {
    if (!isCurrent(of)) {
      return; // sent elsewhere meanwhile, for which the rest of the answer is the former's
    }
    long now = pool.now();
    if (captured != null) {
      captured.answeredBy(now, destination);
    }
    failure = Failure.PASSED_OVER;
    try {
      pool.core().answeredBy(now, ticket, destination);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      failure = null;
    }
  }

  /** Of one that was answered with what was asked for nobody wants to know. */
  private void tellStatus(int with) {
    if (with != 0) {
      pool.core().status(ticket, with);
    }
  }

  private void onFirstByte(int of, @Nullable Route by) {
    long now = pool.now();
    Route there = isCurrent(of) ? route : by;
    if (!isCurrent(of)) {
      endUnjudged(now);
    } else {
      tellFirstByte(now);
    }
    if (route != null && there != null && streamed) {
      firstTokenAt = now;
      firstTokenSeen = true;
      pool.observer().firstToken(model, there, now - arrivedAt);
    }
  }

  private void tellFirstByte(long now) {
    if (captured != null) {
      captured.firstByte(now);
    }
    if (shadowed != null) {
      shadowed.firstByte(now);
    }
    try {
      pool.core().firstByte(now, ticket);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e); // of a request that waited for it
    }
  }

  private void onHead(int of) {
    if (isCurrent(of)) {
      progressed();
    }
  }

  private void onAnswering(int of) {
    long now = pool.now();
    if (!isCurrent(of)) {
      endUnjudged(now);
      return;
    }
    if (captured != null) {
      captured.answering(now);
    }
    pool.core().answering(now, ticket);
  }

  private void onProgress(int of) {
    if (former != null) {
      former.progressed(pool.now());
    }
    if (isCurrent(of)) {
      progressed();
    } else {
      endUnjudged(pool.now());
    }
  }

  private void progressed() {
    long now = pool.now();
    if (captured != null) {
      captured.progress(now);
    }
    pool.core().progress(now, ticket);
  }

  /**
   * For the core the request is over, and says nothing of the endpoint that it chose last: that one
   * never gets it, since the client gets the answer of an attempt that was given up meanwhile.
   * Called again, nothing happens.
   */
  private void endUnjudged(long now) {
    end(now, () -> pool.core().answeredByFormer(now, ticket));
  }

  /** The answer has begun all the same: the core times it no more. */
  private void staysWithFormer() {
    Route by = at;
    if (by != null) {
      pool.run(() -> onFormer(by));
    }
  }

  private void onFormer(Route by) {
    Timeouts set = pool.core().timeouts(model, timeouts);
    former = new FormerAnswer(pool.now(), arrivedAt, by, set);
    pool.watch(this);
  }

  /**
   * Breaks the answer of an attempt that the core has given up off where it is late. On the pool's
   * loop, now and then.
   *
   * @return whether it did
   */
  boolean breaksOff(long now) {
    Rejection late = former == null ? null : former.late(now);
    if (late == null) {
      return false;
    }
    former = null;
    atHome(
        () -> {
          if (state != State.OVER) {
            answer(late);
          }
        });
    if (route != null) { // else it was counted as rejected when it was given up
      route = null;
      pool.observer().rejected(model, late);
    }
    return true;
  }

  private void end(long now, Runnable toldToTheCore) {
    if (captured != null) {
      captured.ended(now, Outcome.DISCONNECTED, Usage.UNKNOWN);
    }
    overForShadows(now, Outcome.DISCONNECTED, Usage.UNKNOWN);
    try {
      toldToTheCore.run();
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    }
  }

  /**
   * It is over.
   *
   * @param of the attempt that the frontend was with, which the core may have given up
   * @param by where that was; null where the frontend knew of none
   */
  private void onEnd(int of, @Nullable Route by, Outcome outcome, Usage usage, int with) {
    long now = pool.now();
    if (former != null) {
      former = null;
      pool.watchNoMore(this);
    }
    ExternalScheduling.Asked waits = asked;
    if (waits != null) {
      asked = null;
      waits.withdraw();
      pool.observer().gaveUp(model, waits.criticality(), now - arrivedAt);
      return; // the core has not heard of it
    }
    // What an endpoint did that the core has given up says nothing of the one that it chose since.
    boolean told = isCurrent(of);
    Outcome how = told ? outcome : Outcome.DISCONNECTED;
    Usage used = told ? usage : Usage.UNKNOWN;
    if (captured != null) {
      captured.ended(now, how, used);
    }
    overForShadows(now, how, used);
    try {
      if (told && outcome != Outcome.COMPLETED) {
        tellStatus(with);
      }
      if (told || outcome == Outcome.DISCONNECTED) {
        pool.core().ended(now, ticket, how, used);
      } else {
        pool.core().answeredByFormer(now, ticket);
      }
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      if (route != null) {
        if (outcome == Outcome.COMPLETED && !wasHeldUp) {
          tellPace(now, (double) usage.completionTokens() / answers);
        }
        Route there = told || by == null ? route : by;
        pool.observer().ended(model, there, outcome, usage, now - arrivedAt);
        route = null;
      } else if (waitsWith != null) {
        pool.observer().gaveUp(model, waitsWith, now - arrivedAt);
      }
      waitsNoMore();
      sentNowhere();
    }
  }

  /** How long each token took of an answer with so many, or of answers with as many on average. */
  private void tellPace(long now, double tokens) {
    if (firstTokenSeen && tokens > 1) {
      pool.observer().paced(model, (now - firstTokenAt) / (tokens - 1));
    }
    if (tokens > 0) {
      pool.observer().spread(model, (now - arrivedAt) / tokens);
    }
  }

  private void onLeft(int of) {
    Route there = route;
    if (there == null || !isCurrent(of)) {
      // Sent elsewhere, where nobody carries it.
      onEnd(of, there, Outcome.DISCONNECTED, Usage.UNKNOWN, 0);
      return;
    }
    if (shadowed != null) {
      shadowed.left(pool.now());
      shadowed = null;
    }
    long now = pool.now();
    if (captured != null) {
      captured.left(now);
    }
    pool.core().left(now, ticket, leftListener());
    pool.observer().left(model, there);
    route = null;
  }

  /** Not this object: it would keep the frontend's stream for as long as the request may take. */
  private LeftListener leftListener() {
    CapturedRequest written = captured;
    PoolLoop clock = pool;
    return written == null ? LeftListener.NONE : request -> written.presumedOver(clock.now());
  }

  private boolean isCurrent(int of) {
    return route == null || route.attempt() == of || of == toldAs;
  }

  @Override
  public void waits(long request, Criticality criticality) {
    ticket = request; // its client may go before anything else is told of it
    waitsWith = criticality;
    ExternalScheduling scheduler = pool.external();
    if (scheduler != null && toAskAgain != null && word != null) {
      scheduler.waits(request, toAskAgain, word, this::advised);
    }
  }

  /** The external scheduler has another word on it while it waits. */
  private void advised(Word newest) {
    word = newest;
    if (captured != null) {
      captured.advised(pool.now(), newest.advice());
    }
    pool.core().advised(ticket, newest.advice());
  }

  @Override
  public void send(long request, Route next) {
    ticket = request;
    boolean again = route != null;
    boolean byProxy = failure == Failure.PASSED_OVER;
    int before = attempt();
    toldAs = byProxy ? before : NONE;
    route = next;
    waitsNoMore();
    if (word != null) {
      word.sent(next.endpoint());
      word = null;
    }
    if (captured != null) {
      captured.sent(next);
    }
    RequestFacts asked = toShadow;
    if (asked != null) {
      toShadow = null; // they are asked once
      shadowed = pool.shadows().sent(pool.now(), asked, next);
    }
    if (byProxy) {
      atHome(() -> followed(before, next));
    } else {
      atHome(() -> send(next));
    }
    if (again) {
      pool.observer().sentAgain(model, next, failure);
    } else {
      pool.observer().sent(model, next);
    }
  }

  private void send(Route next) {
    if (state == State.DECIDING || state == State.SENT) {
      state = State.SENT;
      attempt = next.attempt();
      at = next;
      status = 0; // that there is was the former attempt's
      exchange.send(trace == null ? next : trace.sent(next));
    } else if (state == State.ANSWERING) {
      staysWithFormer();
    }
  }

  /** The proxy has sent it there already. */
  private void followed(int before, Route next) {
    if (attempt == before) {
      attempt = next.attempt();
      at = next;
      if (trace != null && state != State.OVER) {
        trace.attemptFailed(Failure.PASSED_OVER);
        trace.sent(next);
      }
    }
  }

  @Override
  public void pass(long request) {
    if (captured != null) {
      captured.passed();
    }
    atHome(
        () -> {
          if (state == State.DECIDING) {
            state = State.ANSWERING;
            if (trace != null) {
              trace.passed();
            }
            exchange.pass();
          }
        });
  }

  @Override
  public void reject(long request, Rejection rejection) {
    route = null;
    waitsNoMore();
    sentNowhere();
    if (captured != null) {
      captured.rejected(rejection);
    }
    toShadow = null;
    overForShadows(pool.now(), Outcome.DISCONNECTED, Usage.UNKNOWN);
    atHome(
        () -> {
          if (state != State.OVER && hasComeAfterAll(rejection)) {
            staysWithFormer();
          } else if (state != State.OVER) {
            answer(rejection);
          }
        });
    pool.observer().rejected(model, rejection);
  }

  /**
   * Whether that is here which it is rejected for want of: the core had yet to hear of it, or found
   * nobody to send it to instead.
   */
  private boolean hasComeAfterAll(Rejection rejection) {
    return firstByteSeen
        && switch (rejection.reason()) {
          case SILENCE_TIMEOUT, TOTAL_TIMEOUT -> false; // of an answer that has begun
          default -> true;
        };
  }

  private void answer(Rejection rejection) {
    state = State.OVER;
    tellPassed();
    if (trace != null) {
      trace.rejected(rejection);
    }
    exchange.reject(rejection);
  }

  @Override
  public void evict(long request, Rejection rejection) {
    atHome(
        () -> {
          if (state == State.DECIDING || state == State.SENT) {
            answer(rejection);
            pool.run(() -> onEvicted(rejection));
          }
        });
  }

  private void onEvicted(Rejection rejection) {
    if (route == null) {
      return; // it was rejected meanwhile, and counted
    }
    route = null;
    long now = pool.now();
    try {
      end(now, () -> pool.core().evicted(now, ticket));
    } finally {
      pool.observer().rejected(model, rejection);
    }
  }

  private void atHome(Runnable effect) {
    try {
      home.execute(effect);
    } catch (RejectedExecutionException e) {
      // Nobody is left to end the request; the core must not count it for ever. Not at once: it
      // must first be done with its event.
      pool.later(() -> onEnd(attempt(), route, Outcome.DISCONNECTED, Usage.UNKNOWN, 0));
    }
  }

  private int attempt() {
    return route == null ? 0 : route.attempt();
  }
}
