package io.fairlead.epp;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether requests may come: the one answer that all ports tell. They may once a config is in
 * force, somebody has looked for endpoints, the warm-up is over and the ports for requests are
 * open, and until the end begins; after that never again. A pool without endpoints, not yet or not
 * any more, is ready: a rejection that says so tells clients more than a port that is gone.
 *
 * <p>Safe to use from any thread.
 */
final class Readiness {

  /** What is missing, or that nothing is. */
  enum State {
    NO_CONFIG,
    NO_LOOK,
    /** All is there, and the first requests would take long. */
    COLD,
    /** All is there, and a port can't be listened on. */
    CANT_LISTEN,
    READY,
    DRAINING
  }

  private static final Logger LOG = LoggerFactory.getLogger(Readiness.class);

  private final CompletableFuture<Void> reached = new CompletableFuture<>();
  private boolean configured;
  private boolean endpointsSeen;
  private int cold;
  private final CompletableFuture<Void> known = new CompletableFuture<>();
  private volatile State state = State.NO_CONFIG;
  private Runnable opening = () -> {};
  private volatile String problem = "";
  private Consumer<Boolean> listener = ready -> {};

  /** Tells {@code listener} now and at every change, in order; it must be quick. */
  synchronized void listen(Consumer<Boolean> listener) {
    this.listener = listener;
    listener.accept(ready());
  }

  /**
   * Runs {@code opening} just before it is ready. Where that throws, it is not ready, and the next
   * event tries again.
   */
  synchronized void beforeReady(Runnable opening) {
    this.opening = opening;
  }

  /** Is not ready before {@link #warm} is called as often; to be called first. */
  synchronized void cold() {
    cold++;
  }

  /** One of the things is over that readiness waits for. Not for an event loop: it opens ports. */
  void warm() {
    advance(() -> cold--);
  }

  /** Ends when config and endpoints are in force; in an error when that can't be any more. */
  CompletableFuture<Void> known() {
    return known.copy();
  }

  /** A config is in force. Not for an event loop, as ports may be opened. */
  void configured() {
    advance(() -> configured = true);
  }

  /** The endpoints that there are, perhaps none, are in force. Not for an event loop. */
  void endpointsSeen() {
    advance(() -> endpointsSeen = true);
  }

  /** Tries again to open what could not be opened. Not for an event loop. */
  void tryAgain() {
    if (state == State.CANT_LISTEN) {
      advance(() -> {});
    }
  }

  /** Why it can't listen. */
  String problem() {
    return problem;
  }

  /** The end begins. */
  synchronized void drain() {
    enter(State.DRAINING);
    IllegalStateException closed = new IllegalStateException("closed before it was ready");
    reached.completeExceptionally(closed);
    known.completeExceptionally(closed);
  }

  State state() {
    return state;
  }

  boolean ready() {
    return state == State.READY;
  }

  /** Ends when it is ready for the first time; in an error when that can't be any more. */
  CompletableFuture<Void> reached() {
    return reached.copy();
  }

  private void advance(Runnable step) {
    synchronized (this) {
      step.run();
      if (state != State.DRAINING && state != State.READY) {
        enter(missing());
      }
    }
    if (configured && endpointsSeen) {
      known.complete(null);
    }
    if (ready()) {
      reached.complete(null);
    }
  }

  private State missing() {
    if (!configured) {
      return State.NO_CONFIG;
    }
    if (!endpointsSeen) {
      return State.NO_LOOK;
    }
    return cold > 0 ? State.COLD : open();
  }

  private State open() {
    try {
      opening.run();
      return State.READY;
    } catch (RuntimeException | Error e) {
      boolean ofPort = e instanceof IllegalStateException;
      String message = String.valueOf(ofPort ? e.getMessage() : e);
      if (!message.equals(problem)) {
        problem = message;
        LOG.error("not ready, tried again: {}", message, e);
      }
      return State.CANT_LISTEN;
    }
  }

  private void enter(State next) {
    boolean before = ready();
    state = next;
    if (before != ready()) {
      listener.accept(ready());
    }
  }
}
