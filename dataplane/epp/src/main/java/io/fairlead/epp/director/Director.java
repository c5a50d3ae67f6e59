package io.fairlead.epp.director;

import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CapturedRequest;
import io.netty.util.concurrent.EventExecutor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * One request in flight: carries the frontend's events to the pool's loop and the core's effects
 * back.
 *
 * <p>The public methods are called on the frontend's loop ({@code home}); what is in the lower half
 * runs on the pool's loop. Each half owns its own fields, and the only way across is a task on the
 * other loop, so events arrive in order and a late effect meets a state that says so.
 */
public final class Director implements RequestListener {

  private enum State {
    NEW,
    SUBMITTED,
    SENT,
    OVER
  }

  private final PoolLoop pool;
  private final EventExecutor home;
  private final Exchange exchange;

  /** Owned by the frontend's loop. */
  private State state = State.NEW;

  private boolean firstTokenSeen;

  /** Owned by the pool's loop. */
  private long ticket;

  private long arrivedAt;
  private String model = "";

  /** Where the request is; null before it is sent and once it is over. */
  private @Nullable Route route;

  private boolean homeGone;

  /** Written down as it goes; null when it is not. */
  private @Nullable CapturedRequest captured;

  public Director(PoolLoop pool, EventExecutor home, Exchange exchange) {
    this.pool = pool;
    this.home = home;
    this.exchange = exchange;
  }

  /** The request is read: decide. Answered by {@link Exchange#send} or {@link Exchange#reject}. */
  public void submit(RequestFacts facts) {
    if (state != State.NEW) {
      throw new IllegalStateException("submitted before: state " + state);
    }
    state = State.SUBMITTED;
    pool.run(() -> onArrive(facts));
  }

  /** The endpoint broke before its first response byte. Answered like {@link #submit}. */
  public void attemptFailed() {
    if (state == State.SENT) {
      state = State.SUBMITTED;
      pool.run(this::onAttemptFailed);
    }
  }

  /** The first byte of the response's body came; later calls change nothing. */
  public void firstToken() {
    if (state == State.SENT && !firstTokenSeen) {
      firstTokenSeen = true;
      pool.run(this::onFirstToken);
    }
  }

  /** The response is delivered, or will never be; the first call counts. */
  public void end(Outcome outcome, Usage usage) {
    boolean submitted = state == State.SUBMITTED || state == State.SENT;
    state = State.OVER;
    if (submitted) {
      pool.run(() -> onEnd(outcome, usage));
    }
  }

  private void onArrive(RequestFacts facts) {
    model = facts.model();
    arrivedAt = pool.now();
    try {
      pool.core().arrive(arrivedAt, captured(facts), this);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      endIfHomeIsGone();
    }
    pool.observer().decided(pool.now() - arrivedAt);
  }

  private RequestFacts captured(RequestFacts facts) {
    Capture capture = pool.capture();
    if (capture == null) {
      return facts;
    }
    captured = capture.arrive(arrivedAt, facts);
    return captured == null ? facts : captured.facts();
  }

  private void onAttemptFailed() {
    long now = pool.now();
    if (captured != null) {
      captured.attemptFailed(now, Failure.DIED);
    }
    try {
      pool.core().attemptFailed(now, ticket, Failure.DIED);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      endIfHomeIsGone();
    }
  }

  /** Nobody is left to end the request; the core must not count it for ever. */
  private void endIfHomeIsGone() {
    if (homeGone) {
      onEnd(Outcome.DISCONNECTED, Usage.UNKNOWN);
    }
  }

  private void onFirstToken() {
    long now = pool.now();
    if (captured != null) {
      captured.firstByte(now);
    }
    pool.core().firstByte(now, ticket);
    if (route != null) {
      pool.observer().firstToken(model, route, now - arrivedAt);
    }
  }

  private void onEnd(Outcome outcome, Usage usage) {
    long now = pool.now();
    if (captured != null) {
      captured.ended(now, outcome, usage);
    }
    try {
      pool.core().ended(now, ticket, outcome, usage);
    } catch (RuntimeException | Error e) {
      pool.pluginFailed(e);
    } finally {
      if (route != null) {
        pool.observer().ended(model, route, outcome, usage, now - arrivedAt);
        route = null;
      }
    }
  }

  @Override
  public void send(long request, Route route) {
    ticket = request;
    this.route = route;
    if (captured != null) {
      captured.sent(route);
    }
    atHome(
        () -> {
          if (state == State.SUBMITTED) {
            state = State.SENT;
            exchange.send(route);
          }
        });
    pool.observer().sent(model, route);
  }

  @Override
  public void pass(long request) {
    if (captured != null) {
      captured.passed();
    }
  }

  @Override
  public void reject(long request, Rejection rejection) {
    route = null;
    if (captured != null) {
      captured.rejected(rejection);
    }
    atHome(
        () -> {
          if (state == State.SUBMITTED) {
            state = State.OVER;
            exchange.reject(rejection);
          }
        });
    pool.observer().rejected(model, rejection);
  }

  private void atHome(Runnable effect) {
    try {
      home.execute(effect);
    } catch (RejectedExecutionException e) {
      homeGone = true; // called from within the core, which must first be done with its event
    }
  }
}
