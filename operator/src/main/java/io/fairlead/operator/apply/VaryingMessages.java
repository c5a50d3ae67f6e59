package io.fairlead.operator.apply;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * What is told of things where the API server says the same in other words each time: it names the
 * port that a connection came from, the time, or how a request is called. Each other text would be
 * a write, which wakes whoever asks again. So other words are told twice at once, and rarely from
 * then on; another cause is told at once, and as rarely where that one comes and goes.
 *
 * <p>Safe to use from any thread.
 *
 * @param <T> what is told, by which it is the same
 */
final class VaryingMessages<T> {
  private static final int MOST = 4_096;
  private static final int AT_ONCE = 2;

  private final Budget budget;

  /** By what it is told of, the oldest first. */
  private final Map<String, Told<T>> told = new LinkedHashMap<>();

  private record Told<T>(Object cause, T words) {}

  /**
   * @param oneMore how long until other words are told once more
   * @param nanos a clock that never jumps
   */
  VaryingMessages(Duration oneMore, LongSupplier nanos) {
    budget = new Budget(AT_ONCE, oneMore, nanos);
  }

  /**
   * What to tell of a thing.
   *
   * @param cause what is the same in whichever words it is said
   * @param now as it is said now
   * @return that, or what was told of it last
   */
  synchronized T of(String thing, Object cause, T now) {
    Told<T> last = told.remove(thing);
    Told<T> tells = new Told<>(cause, now);
    if (last != null && !last.words().equals(now)) {
      String words = thing + ' ' + cause;
      if (budget.left(words).isPresent()) {
        tells = last;
      } else {
        budget.take(words);
      }
    }
    told.put(thing, tells);
    if (told.size() > MOST) {
      var oldest = told.keySet().iterator();
      oldest.next();
      oldest.remove();
    }
    return tells.words();
  }

  /** There is nothing to tell of it: what is said next is news. */
  synchronized void end(String thing) {
    told.remove(thing);
  }
}
