package io.fairlead.epp;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Whether requests may come: the one answer that all ports tell. They may once a config is in force
 * and somebody has looked for endpoints, and until the end begins; after that never again. A pool
 * without endpoints, not yet or not any more, is ready: a rejection that says so tells clients more
 * than a port that is gone.
 *
 * <p>Safe to use from any thread.
 */
final class Readiness {

  /** What is missing, or that nothing is. */
  enum State {
    NO_CONFIG,
    NO_LOOK,
    READY,
    DRAINING
  }

  private final CompletableFuture<Void> reached = new CompletableFuture<>();
  private boolean configured;
  private boolean endpointsSeen;
  private volatile State state = State.NO_CONFIG;
  private Consumer<Boolean> listener = ready -> {};

  /** Tells {@code listener} now and at every change, in order; it must be quick. */
  synchronized void listen(Consumer<Boolean> listener) {
    this.listener = listener;
    listener.accept(ready());
  }

  /** A config is in force. */
  void configured() {
    advance(() -> configured = true);
  }

  /** The endpoints that there are, perhaps none, are in force. */
  void endpointsSeen() {
    advance(() -> endpointsSeen = true);
  }

  /** The end begins. */
  synchronized void drain() {
    enter(State.DRAINING);
    reached.completeExceptionally(new IllegalStateException("closed before it was ready"));
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
      if (state != State.DRAINING) {
        enter(!configured ? State.NO_CONFIG : endpointsSeen ? State.READY : State.NO_LOOK);
      }
    }
    if (ready()) {
      reached.complete(null);
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
