package io.fairlead.core;

import io.fairlead.core.Failure.Work;
import io.fairlead.core.health.Deadlines;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.health.RetryBudget;
import io.fairlead.core.receipt.Receipt;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import org.jspecify.annotations.Nullable;

/**
 * How long an attempt may take, what it says of its endpoint, and whether another may follow. Since
 * when it goes on and until when it may stands in the {@link Attempt}.
 */
final class AttemptRules {

  private static final long SECOND = 1_000_000_000;

  private static final int NO_TRIAL = 0;

  /** Names of models that are kept. */
  private static final int MOST_SERVED = 10_000;

  /** A request that a server had for so long has been worked on. */
  private static final long LONG_AT_A_SERVER = SECOND;

  /** A server that is out for saying nothing so long does not have the request any more. */
  private static final long SILENT_FOR_DEAD = 2 * SECOND;

  /** The same where the request can't be sent again: it costs the client its answer. */
  private static final long SILENT_FOR_GOOD = 10 * SECOND;

  private final PoolLimits limits;
  private final PoolHealth health;
  private final CandidateChoice candidates;
  private final ServedTargets targets;
  private final RetryBudget budget = new RetryBudget();

  /**
   * Names of models that some endpoint has answered for: of those, whoever refuses lacks it. Names
   * come from clients: the one that was answered for longest ago makes room for a new one.
   */
  private final SequencedSet<String> served = new LinkedHashSet<>();

  AttemptRules(
      PoolLimits limits, PoolHealth health, CandidateChoice candidates, ServedTargets targets) {
    this.limits = limits;
    this.health = health;
    this.candidates = candidates;
    this.targets = targets;
  }

  RetryBudget budget() {
    return budget;
  }

  /**
   * Sets until when this attempt may take.
   *
   * @param expected nanoseconds to the first token, as expected
   * @param configured what its model and the pool say
   */
  static void bound(long now, Flight flight, long expected, Timeouts configured) {
    RequestFacts facts = flight.facts;
    Timeouts set = facts.timeouts().or(configured);
    boolean streamed = facts.delivery().streamed();
    flight.attempt.firstByteBy = Deadlines.at(now, Deadlines.firstByte(set, expected, streamed));
    long usual = Deadlines.firstByte(Timeouts.UNSET, expected, streamed);
    flight.attempt.firstByteSet = set.firstByte() != null;
    flight.attempt.firstByteOverdue = Deadlines.at(now, usual);
    flight.attempt.mostSilence = Deadlines.silence(set);
    flight.attempt.beginsAnew();
    flight.attempt.over = Deadlines.at(flight.arrivedAt, Deadlines.total(set));
  }

  /** The first byte of an answer came that is no error, or all of it at once. */
  void serves(long now, Flight flight, EndpointState at) {
    Suspicion suspicion = flight.suspicion;
    if (suspicion != null) {
      flight.suspicion = null;
      suspicion.isTrue(now, health, flight.attempt);
    }
    targets.served(now, flight.attempt.target);
    health.serves(now, at.health(), flight.attempt.target, flight.attempt.sentAt);
    health.answered(now, at.health(), flight.attempt.sentAt, flight.attempt.trial);
    EndpointState prefiller = flight.attempt.prefilledBy;
    if (prefiller != null) {
      health.answered(now, prefiller.health(), flight.attempt.sentAt, flight.attempt.prefillTrial);
    }
  }

  /**
   * The attempt failed: its endpoints' health is told. Of two, the one that computes the prompt may
   * have failed the other, and nobody can tell: both are blamed, and what else they serve clears
   * the one that is well. One that is out already is to blame alone; nobody is where none was
   * asked.
   */
  void failed(long now, Flight flight, EndpointState at, Failure failure) {
    note(now, flight, failure);
    if (!failure.ofEndpoint()) {
      return;
    }
    if (failure == Failure.ERROR) {
      erred(now, flight, at);
      return;
    }
    EndpointState prefiller = flight.attempt.prefilledBy;
    if (prefiller == null || flight.state().isAnswered() || failure.ofEndpointAlone()) {
      health.failed(now, at.health(), failure, flight.attempt.sentAt, flight.attempt.trial);
      return;
    }
    if (prefiller.health().state() != HealthState.OUT) {
      health.failed(now, at.health(), failure, flight.attempt.sentAt, flight.attempt.trial);
    }
    health.failed(
        now, prefiller.health(), failure, flight.attempt.sentAt, flight.attempt.prefillTrial);
  }

  private void erred(long now, Flight flight, EndpointState at) {
    Suspicion earlier = flight.suspicion;
    if (earlier == null) {
      health.erred(now, at.health(), flight.attempt.sentAt, flight.attempt.trial);
      flight.suspicion = Suspicion.of(at, flight.attempt);
    } else {
      flight.suspicion = earlier.isFalse(now, health, at, flight.attempt);
    }
  }

  /** It is not sent again: nobody else shows whether a request or who failed it is to blame. */
  void leftOpen(long now, Flight flight) {
    Suspicion suspicion = flight.suspicion;
    if (suspicion != null) {
      flight.suspicion = null;
      suspicion.isOpen(now, health);
    }
  }

  /** Notes in its receipt, if it has one, how this attempt failed, whoever is to blame. */
  static void note(long now, Flight flight, Failure failure) {
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.failed(now, failure);
    }
  }

  /** Notes in its receipt, if it has one, why it is not sent to another. */
  static void note(Flight flight, NotSentAgain why) {
    Receipt receipt = flight.receipt();
    if (receipt != null) {
      receipt.notSentAgain(why);
    }
  }

  /** Whether its bounds and those of the pool allow another attempt; counts it if so. */
  boolean maySendAgain(long now, Flight flight, Failure failure) {
    boolean worked = failure.work() != Work.NONE || now - flight.attempt.sentAt >= LONG_AT_A_SERVER;
    NotSentAgain why = whyNotAgain(now, flight, worked);
    if (why != null) {
      note(flight, why);
      return false;
    }
    flight.workedOn |= worked;
    return true;
  }

  private @Nullable NotSentAgain whyNotAgain(long now, Flight flight, boolean worked) {
    if (flight.hasReachedClient()) {
      return NotSentAgain.ANSWERED;
    }
    if (!flight.facts.delivery().resendable()) {
      return NotSentAgain.NOT_RESENDABLE;
    }
    if (flight.attempts > limits.retries()) {
      return NotSentAgain.LIMIT;
    }
    if (flight.nowhereElse || !candidates.hasOther(flight)) {
      return NotSentAgain.NOBODY_ELSE;
    }
    if (worked && flight.workedOn) {
      return NotSentAgain.WORKED_ON;
    }
    return budget.take(now) ? null : NotSentAgain.BUDGET;
  }

  /**
   * Nobody was found who might get it: the pool's bounds have it back, and it is not asked again.
   */
  void notSentAgain(Flight flight) {
    flight.nowhereElse = true;
    budget.giveBack();
    note(flight, NotSentAgain.NOBODY_ELSE);
  }

  /** What a request's end says of its endpoint. */
  void judge(long now, Flight flight, EndpointState endpoint, Outcome outcome, Usage usage) {
    if (flight.attempt.judged) {
      return;
    }
    switch (outcome) {
      case COMPLETED -> {
        if (!flight.state().isAnswered()) {
          serves(now, flight, endpoint);
        } else if (!flight.facts.delivery().streamed() && !flight.attempt.sinceUnknown) {
          health.answeredWhole(now, now - flight.attempt.sentAt);
        }
        health.completed(now, endpoint.health(), flight.attempt.sentAt, flight.attempt.trial);
        // Streams tell of tokens only if they are asked to, and embeddings of prompts alone.
        boolean worked =
            usage.promptTokens() > 0 || usage.completionTokens() > 0 || flight.firstTokenSeen();
        if (worked && !flight.attempt.target.isEmpty()) {
          served.addLast(flight.attempt.target);
          if (served.size() > MOST_SERVED) {
            served.removeFirst();
          }
        }
      }
      case REFUSED -> {
        if (served.contains(flight.attempt.target)) {
          boolean begun = flight.state().isAnswered();
          String target = flight.attempt.target;
          health.refused(
              now, endpoint.health(), target, begun, flight.attempt.sentAt, flight.attempt.trial);
        } else {
          // No endpoint may know the model: that is its client's mistake, or its operator's.
          invalid(now, flight, endpoint);
        }
      }
      case INVALID -> invalid(now, flight, endpoint);
      case FAILED -> {
        Failure failure = flight.state().isAnswered() ? Failure.BROKEN_OFF : Failure.ERROR;
        failed(now, flight, endpoint, failure);
        leftOpen(now, flight);
        note(
            flight,
            flight.hasReachedClient() ? NotSentAgain.ANSWERED : NotSentAgain.NOT_RESENDABLE);
      }
      case DISCONNECTED -> {
        boolean madeRoom = flight.askedToEnd && !flight.hasReachedClient();
        if (!flight.facts.delivery().resendable() && !madeRoom) {
          cut(now, flight, endpoint);
        }
      }
    }
  }

  private void cut(long now, Flight flight, EndpointState at) {
    Attempt attempt = flight.attempt;
    health.cut(now, at.health(), attempt.answersFor(now), attempt.sentAt, attempt.trial);
  }

  private void invalid(long now, Flight flight, EndpointState endpoint) {
    if (!flight.state().isAnswered()) {
      // An answer it is; how a trial has ended is for the next call to say.
      health.answered(now, endpoint.health(), flight.attempt.sentAt, NO_TRIAL);
    }
    health.invalid(now, endpoint.health(), flight.attempt.sentAt, flight.attempt.trial);
  }

  /** Whether the answer has stopped coming. */
  static boolean isSilent(long now, Flight flight) {
    return flight.state().isAnswered()
        && !flight.attempt.heldUp
        && flight.attempt.mostSilence != Deadlines.NEVER
        && silence(now, flight) >= flight.attempt.mostSilence;
  }

  /** For how long no more of the answer has come for certain: of what came, not all is told. */
  private static long silence(long now, Flight flight) {
    return now - flight.attempt.lastByteAt - PoolCore.PROGRESS_NANOS;
  }

  /**
   * The answer has stopped coming, and is given up. That is the endpoint's fault where it has
   * stopped for so long that no bound set by others is to blame. A proxy that holds it back for its
   * client shows no more of it either, so that what stops behind one is as what is cut there.
   */
  void stopped(long now, Flight flight, EndpointState at) {
    boolean overdue = silence(now, flight) >= Deadlines.silence(Timeouts.UNSET);
    if (overdue && flight.facts.delivery().resendable()) {
      failed(now, flight, at, Failure.BROKEN_OFF);
    } else {
      note(now, flight, Failure.BROKEN_OFF);
      if (overdue) {
        cut(now, flight, at);
      }
    }
    note(flight, NotSentAgain.ANSWERED);
  }

  /** Whether all of it takes longer than it may. */
  static boolean isOver(long now, Flight flight) {
    return flight.attempt.over != Deadlines.NEVER && now - flight.attempt.over >= 0;
  }

  /**
   * Whether its first byte is no longer to be waited for: the time is up, or the endpoint has said
   * nothing to anybody for so long that it is taken for dead, or has sent the head alone for so
   * long as it does to all.
   */
  boolean isLate(long now, Flight flight, EndpointState at) {
    if (flight.attempt.firstByteBy != Deadlines.NEVER && now - flight.attempt.firstByteBy >= 0) {
      return !isAskedToWait(now, flight);
    }
    boolean again =
        flight.facts.delivery().resendable()
            && !flight.hasReachedClient()
            && !flight.workedOn
            && !flight.nowhereElse
            && flight.attempts <= limits.retries()
            && budget.has(now);
    boolean elsewhere = again && candidates.hasOtherInUse(flight);
    EndpointState prefiller = flight.attempt.prefilledBy;
    return isDead(now, flight, at, elsewhere)
        || (elsewhere && isWithheld(now, flight, at))
        || (prefiller != null
            && (flight.attempt.prefillAt != null
                || prefiller.health().quietSince(flight.attempt.sentAt))
            && isDead(now, flight, prefiller, elsewhere));
  }

  /**
   * Whether the endpoint goes on telling a client, which has some of the answer, to wait: to break
   * that off is worse than to wait. A bound that is set holds all the same.
   */
  private static boolean isAskedToWait(long now, Flight flight) {
    return flight.attempt.askedToWait
        && !flight.attempt.firstByteSet
        && (flight.attempt.mostSilence == Deadlines.NEVER
            || silence(now, flight) < flight.attempt.mostSilence);
  }

  /**
   * Whether the endpoint has said nothing for so long that it does not have the request any more.
   * One that never served may be compiling what its first request needs, and gets more time. Where
   * the request can't go elsewhere, a bound that is set decides; and where most endpoints are
   * silent, it is not they: they are slow.
   */
  private boolean isDead(long now, Flight flight, EndpointState endpoint, boolean elsewhere) {
    boolean served = endpoint.health().served();
    long longest = elsewhere && served ? SILENT_FOR_DEAD : SILENT_FOR_GOOD;
    return (elsewhere || served)
        && now - flight.attempt.sentAt >= longest
        && endpoint.health().silentSince(now - longest)
        && (elsewhere || (!flight.attempt.firstByteSet && !health.mostSilent()));
  }

  /** Whether the endpoint is out for sending heads alone, and this request got one, too. */
  private static boolean isWithheld(long now, Flight flight, EndpointState at) {
    return flight.attempt.answersFor(now) >= SILENT_FOR_DEAD
        && at.health().withholdsSince(now - SILENT_FOR_DEAD);
  }

  /**
   * Whether a first byte that is late is the endpoint's fault, and not of a bound that a client, a
   * model or the pool has set below what any server may take.
   */
  static boolean isOverdue(long now, Flight flight, EndpointState at) {
    EndpointState prefiller = flight.attempt.prefilledBy;
    return now - flight.attempt.firstByteOverdue >= 0
        || at.health().silentSince(now)
        || (prefiller != null && prefiller.health().silentSince(now));
  }
}
