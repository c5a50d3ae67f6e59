package io.fairlead.stub.server;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;

/**
 * Makes a {@link ModelServer} misbehave on demand. Callable from any thread; a change counts for
 * every request that arrives after the call returns. The same is on {@code /stub/faults}.
 */
public final class Faults {

  /** What a completion request meets. */
  sealed interface Verdict {
    record Serve() implements Verdict {}

    record Reset() implements Verdict {}

    record Fail(int status) implements Verdict {}
  }

  /** What a server does about its faults; may be called from any thread. */
  interface Effects {
    void changed();

    void resetCache();

    void restart();

    void kill();
  }

  private final AtomicReference<FaultState> state = new AtomicReference<>(FaultState.NONE);
  private final Effects effects;

  Faults(Effects effects) {
    this.effects = effects;
  }

  /** Resets the connection of the next {@code count} completion requests before the first byte. */
  public void resetNext(int count) {
    update(now -> now.withResetNext(count));
  }

  /** Answers the next {@code count} completion requests with {@code status}, 500 to 599. */
  public void errorNext(int count, int status) {
    update(now -> now.withErrorNext(count, status));
  }

  /** Hangs the engine, or lets it go on where it was. */
  public void stall(boolean on) {
    update(now -> now.withStall(on));
  }

  /** Freezes the metrics page, or lets it tell the truth again. */
  public void freezeMetrics(boolean on) {
    update(now -> now.withFreezeMetrics(on));
  }

  /** Lets {@code /metrics} take so long to answer. */
  public void delayMetrics(int millis) {
    update(now -> now.withMetricsDelayMillis(millis));
  }

  /** Empties the engine's cache of everything that running requests don't hold. */
  public void resetCache() {
    effects.resetCache();
  }

  /**
   * The process dies and is there again at once: connections end, requests are lost, cache,
   * counters, adapters loaded at run time and all faults are gone.
   */
  public void restart() {
    state.set(FaultState.NONE);
    effects.restart();
  }

  /**
   * The engine dies under the server, as was seen of vLLM: requests fail, health says 503 and
   * metrics repeat themselves for 4 seconds of engine time; after 7 the server is gone for good.
   */
  public void kill() {
    effects.kill();
  }

  /** Ends every fault. */
  public void clear() {
    set(FaultState.NONE);
  }

  /** The faults in force now. */
  public FaultState state() {
    return state.get();
  }

  void set(FaultState next) {
    update(now -> next);
  }

  /** Decides on one completion request and counts it off. */
  Verdict next() {
    FaultState before =
        state.getAndUpdate(
            now -> {
              if (now.resetNext() > 0) {
                return now.withResetNext(now.resetNext() - 1);
              }
              return now.errorNext() > 0
                  ? now.withErrorNext(now.errorNext() - 1, now.errorStatus())
                  : now;
            });
    if (before.resetNext() > 0) {
      return new Verdict.Reset();
    }
    return before.errorNext() > 0 ? new Verdict.Fail(before.errorStatus()) : new Verdict.Serve();
  }

  private void update(UnaryOperator<FaultState> change) {
    state.updateAndGet(change);
    effects.changed();
  }
}
