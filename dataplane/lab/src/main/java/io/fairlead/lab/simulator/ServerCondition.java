package io.fairlead.lab.simulator;

import io.fairlead.core.Failure;
import io.fairlead.lab.simulator.ServerEvent.Kind;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What is otherwise than usual with a server now, and how it answers then. */
final class ServerCondition {

  private static final long SECOND = 1_000_000_000;
  private static final long MILLI = 1_000_000;

  /** Until an answer that takes no work is there: an error, or word that nobody listens. */
  private static final long AT_ONCE = MILLI;

  /** How long a picker waits for a connection, and for a page. */
  private static final long CONNECT_TIMEOUT = SECOND;

  private static final long SCRAPE_TIMEOUT = SECOND;

  /** A completion of one token that nothing is in the way of. */
  private static final long PROBE = 20 * MILLI;

  /** Its multiples' fractions are spread evenly, however many there are. */
  private static final double GOLDEN = (Math.sqrt(5) - 1) / 2;

  private final Map<Kind, List<ServerEvent>> events = new EnumMap<>(Kind.class);
  private long shared;

  /** How something that was asked turns out. */
  sealed interface Answer {
    /** It is served. */
    record Served(long afterNanos) implements Answer {}

    /** It fails so, after so long. */
    record Failed(Failure failure, long afterNanos) implements Answer {}
  }

  private static final Answer SERVED = new Answer.Served(0);

  void begin(ServerEvent event) {
    events.computeIfAbsent(event.kind(), kind -> new ArrayList<>()).add(event);
  }

  void end(ServerEvent event) {
    List<ServerEvent> same = events.get(event.kind());
    if (same != null) {
      same.remove(event);
      if (same.isEmpty()) {
        events.remove(event.kind());
      }
    }
  }

  boolean is(Kind kind) {
    return events.containsKey(kind);
  }

  /** How bad the event of this kind that began last is. */
  private double amount(Kind kind) {
    List<ServerEvent> same = events.get(kind);
    return same == null ? 0 : same.getLast().amount();
  }

  /** Whether its engine stands still. */
  boolean stopped() {
    return is(Kind.FREEZE) || is(Kind.FREEZE_LIVE) || is(Kind.SWALLOW);
  }

  /** How many times as long its engine takes. */
  double slowness() {
    return is(Kind.SLOW) ? amount(Kind.SLOW) : 1;
  }

  /** How a completion turns out that is sent there now; one that is served may still never end. */
  Answer completion() {
    if (events.isEmpty()) {
      return SERVED;
    }
    if (is(Kind.REFUSE) || is(Kind.RESTART)) {
      return new Answer.Failed(Failure.REFUSED, AT_ONCE);
    }
    if (is(Kind.SWALLOW)) {
      return new Answer.Failed(Failure.UNREACHABLE, CONNECT_TIMEOUT);
    }
    if (is(Kind.FREEZE) || is(Kind.FREEZE_LIVE)) {
      return SERVED;
    }
    if (is(Kind.DRAIN)) {
      return new Answer.Failed(Failure.UNAVAILABLE, AT_ONCE);
    }
    if (is(Kind.FAIL_FAST) && (shared++ * GOLDEN) % 1 < amount(Kind.FAIL_FAST)) {
      return new Answer.Failed(Failure.ERROR, AT_ONCE);
    }
    if (is(Kind.FAIL_LATE)) {
      return new Answer.Failed(Failure.ERROR, (long) (amount(Kind.FAIL_LATE) * SECOND));
    }
    return SERVED;
  }

  /** How a look at its metrics page turns out. */
  Answer scrape() {
    if (is(Kind.REFUSE) || is(Kind.RESTART)) {
      return new Answer.Failed(Failure.REFUSED, 0);
    }
    if (is(Kind.SWALLOW)) {
      return new Answer.Failed(Failure.UNREACHABLE, CONNECT_TIMEOUT);
    }
    if (is(Kind.FREEZE)) {
      return new Answer.Failed(Failure.FIRST_BYTE_LATE, SCRAPE_TIMEOUT);
    }
    return is(Kind.METRICS_GONE) ? new Answer.Failed(Failure.ERROR, 0) : SERVED;
  }

  /**
   * How a probe turns out.
   *
   * @param completion whether it is one, or a question to {@code /health}
   * @param timeout how long it is waited for
   */
  Answer probe(boolean completion, long timeout) {
    if (stopped() && (completion || !is(Kind.FREEZE_LIVE) || is(Kind.SWALLOW))) {
      return is(Kind.SWALLOW)
          ? new Answer.Failed(Failure.UNREACHABLE, CONNECT_TIMEOUT)
          : new Answer.Failed(Failure.FIRST_BYTE_LATE, timeout);
    }
    if (completion) {
      Answer answer = completion();
      return answer instanceof Answer.Served ? served(timeout) : answer;
    }
    if (is(Kind.REFUSE) || is(Kind.RESTART)) {
      return new Answer.Failed(Failure.REFUSED, AT_ONCE);
    }
    return is(Kind.UNHEALTHY)
        ? new Answer.Failed(Failure.UNAVAILABLE, AT_ONCE)
        : new Answer.Served(AT_ONCE);
  }

  private Answer served(long timeout) {
    long takes = (long) (PROBE * slowness());
    return takes < timeout
        ? new Answer.Served(takes)
        : new Answer.Failed(Failure.FIRST_BYTE_LATE, timeout);
  }
}
