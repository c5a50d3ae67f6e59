package io.fairlead.stub.server;

import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * Makes a {@link ModelServer} misbehave on demand. Callable from any thread; a change counts for
 * every request that arrives after the call returns, and for sockets soon after. The same is on
 * {@code /stub/faults}.
 */
public final class Faults {

  /** Its multiples' fractions are spread evenly, however many there are. */
  private static final double GOLDEN = (Math.sqrt(5) - 1) / 2;

  /** What a completion request meets. */
  sealed interface Verdict {
    record Serve() implements Verdict {}

    record Reset() implements Verdict {}

    /** An error in an answer with 200, of a form that {@link ErrorInside} has. */
    record FailInside(int form) implements Verdict {}

    /** An error, in so long. */
    record Fail(ApiError error, Duration after) implements Verdict {}
  }

  /** What a server does about its faults; may be called from any thread. */
  interface Effects {
    void changed();

    void after(Duration time, Runnable then);

    void resetCache();

    void restart();

    void kill();
  }

  private final Effects effects;

  /** Which change a fault's value is of: only that one's time ends it. */
  private final Map<Fault, Long> changes = new EnumMap<>(Fault.class);

  private volatile FaultState state = FaultState.NONE;
  private long changed;
  private long shared;

  Faults(Effects effects) {
    this.effects = effects;
  }

  /** Puts a fault in force until it is ended; its value as {@code /stub/faults} takes it. */
  public void begin(Fault fault, Object value) {
    begin(Map.of(fault, value));
  }

  /**
   * Puts faults in force until they are ended.
   *
   * @throws IllegalArgumentException if a fault can't have its value; nothing is changed then
   */
  public void begin(Map<Fault, ?> faults) {
    put(faults);
    effects.changed();
  }

  /** Puts faults in force for so long; one that is changed meanwhile stays as it is then. */
  public void begin(Map<Fault, ?> faults, Duration time) {
    long change = put(faults);
    effects.changed();
    effects.after(time, () -> end(faults, change));
  }

  /** Ends some faults. */
  public void end(Fault... faults) {
    var none = new EnumMap<Fault, Object>(Fault.class);
    for (Fault fault : faults) {
      none.put(fault, fault.none());
    }
    begin(none);
  }

  private synchronized long put(Map<Fault, ?> faults) {
    state = state.with(faults);
    long change = ++changed;
    faults.keySet().forEach(fault -> changes.put(fault, change));
    return change;
  }

  private void end(Map<Fault, ?> faults, long change) {
    synchronized (this) {
      var over = new HashMap<Fault, Object>();
      for (Fault fault : faults.keySet()) {
        if (changes.getOrDefault(fault, 0L) == change) {
          over.put(fault, fault.none());
        }
      }
      state = state.with(over);
    }
    effects.changed();
  }

  /** Resets the connection of the next {@code count} completion requests before the first byte. */
  public void resetNext(int count) {
    begin(Fault.RESET_NEXT, count);
  }

  /** Answers the next {@code count} completion requests with {@code status}, 500 to 599. */
  public void errorNext(int count, int status) {
    begin(Map.of(Fault.ERROR_NEXT, count, Fault.ERROR_STATUS, status));
  }

  /** Hangs the engine, or lets it go on where it was. */
  public void stall(boolean on) {
    begin(Fault.STALL, on);
  }

  /** Empties the engine's cache of everything that running requests don't hold. */
  public void resetCache() {
    effects.resetCache();
  }

  /**
   * The process dies and is there again at once: connections end, requests are lost, cache,
   * counters, adapters loaded at run time and all faults are gone. With {@link Fault#REFUSE} after
   * it, it is there again when that ends.
   */
  public void restart() {
    forget();
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
    forget();
    effects.changed();
  }

  private synchronized void forget() {
    changes.clear();
    state = FaultState.NONE;
  }

  /** The faults in force now. */
  public FaultState state() {
    return state;
  }

  /** The next so many batches of KV events get lost on their way; a replay has them. */
  public void loseEvents(int count) {
    begin(Fault.LOSE_EVENTS, count);
  }

  /** Whether one batch of KV events gets lost, which counts it off. */
  synchronized boolean losesEvents() {
    int lost = state.count(Fault.LOSE_EVENTS);
    if (lost > 0) {
      state = state.with(Fault.LOSE_EVENTS, lost - 1);
    }
    return lost > 0;
  }

  /** Decides on one completion request and counts it off. */
  synchronized Verdict next() {
    FaultState now = state;
    int resets = now.count(Fault.RESET_NEXT);
    if (resets > 0) {
      state = now.with(Fault.RESET_NEXT, resets - 1);
      return new Verdict.Reset();
    }
    int errors = now.count(Fault.ERROR_NEXT);
    if (errors > 0) {
      state = now.with(Fault.ERROR_NEXT, errors - 1);
      return failure(now);
    }
    double share = now.number(Fault.ERROR_SHARE);
    if (share > 0 && (shared++ * GOLDEN) % 1 < share) {
      return failure(now);
    }
    return new Verdict.Serve();
  }

  private static Verdict failure(FaultState now) {
    int inside = now.count(Fault.ERROR_INSIDE);
    if (inside > 0) {
      return new Verdict.FailInside(inside);
    }
    int status = now.count(Fault.ERROR_STATUS);
    return new Verdict.Fail(
        now.is(Fault.ERROR_BODY) ? ApiError.demanded(status) : ApiError.bare(status),
        Duration.ofMillis(Math.round(now.number(Fault.ERROR_AFTER_SECONDS) * 1e3)));
  }
}
