package io.fairlead.core;

import io.fairlead.core.Admission.Evictions;
import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.flow.FlowControl.Sender;
import io.fairlead.core.flow.FlowControl.Sent;
import io.fairlead.core.flow.WaitEnd;
import io.fairlead.core.flow.Waiting;
import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.receipt.WrittenDecision;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.core.view.Objectives;
import io.fairlead.crds.config.Criticality;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes a request to an endpoint: asks {@link Admission} whether it may go, {@link CandidateChoice}
 * which endpoints it may go to, and the config's scheduler which of them is best, then books it
 * there and sends it. Requests that wait go the same way when their turn comes.
 */
final class Dispatch {

  /**
   * Nanoseconds after which somebody who waits for a slot of its adapter is promised one. Most get
   * one before, when another adapter falls idle, and that delays nobody.
   */
  private static final long PATIENCE = 4_000_000_000L;

  private final ActiveConfig config;
  private final EndpointSet endpoints;
  private final PoolHealth health;
  private final CandidateChoice candidates;
  private final CurrentRequest current;
  private final Contexts contexts;
  private final Bookings bookings;
  private final Observers observers;
  private final RequestEnds ends;
  private final Admission admission;
  private final InFlightEviction evictions;
  private final DecisionNotes notes;
  private final RouteHeaders headers = new RouteHeaders();
  private final Sender offer = this::offer;
  private final Evictions evict = this::evict;
  private final Choice scheduled = this::choose;
  private final Choice taken = this::take;

  Dispatch(
      ActiveConfig config,
      EndpointSet endpoints,
      PoolHealth health,
      CandidateChoice candidates,
      CurrentRequest current,
      Contexts contexts,
      Bookings bookings,
      Observers observers,
      RequestEnds ends,
      Admission admission,
      InFlightEviction evictions,
      DecisionNotes notes) {
    this.config = config;
    this.endpoints = endpoints;
    this.health = health;
    this.candidates = candidates;
    this.current = current;
    this.contexts = contexts;
    this.bookings = bookings;
    this.observers = observers;
    this.ends = ends;
    this.admission = admission;
    this.evictions = evictions;
    this.notes = notes;
  }

  /**
   * Sends a request that has come, has it wait or rejects it: exactly one effect, whatever fails.
   */
  void decide(long now, Flight flight) {
    CompiledConfig active = config.get();
    if (active == null) {
      ends.reject(now, flight, Reason.NOT_CONFIGURED);
      return;
    }
    boolean first = admission.mayPass(now, flight, active);
    Reason refused = first ? send(now, flight, active) : Reason.SATURATED;
    if (refused == null) {
      return;
    }
    if (!first) {
      CompiledModel model = active.model(flight.facts.model());
      begin(now, flight, model, active.criticality(model, flight.facts.headers()));
      current.done();
      noteWhyNot(now, flight, active);
    }
    if (!admission.waits(now, flight, refused, active, evict)) {
      boolean full = refused == Reason.SATURATED && flight.flow != null;
      reject(now, flight, full ? Reason.QUEUE_FULL : refused);
      return;
    }
    notes.waits(flight);
    flight.listener.waits(flight.ticket, config.criticalityOf(flight.facts));
    if (!first) {
      dispatch(now); // those before it may want what only others have
    }
    evictions.look(now);
  }

  /** It makes room for another that waits. */
  private void evict(long now, Flight flight) {
    reject(now, flight, Reason.EVICTED);
  }

  /** Rejects one that is nowhere; its receipt tells why no endpoint was for it. */
  private void reject(long now, Flight flight, Reason reason) {
    CompiledConfig active = config.get();
    if (active != null) {
      noteWhyNot(now, flight, active);
    }
    ends.reject(now, flight, reason);
  }

  /** Notes of each endpoint why the request isn't sent there now, if it has a receipt. */
  private void noteWhyNot(long now, Flight flight, CompiledConfig active) {
    if (notes.asksWhyNot(now, flight)) {
      try {
        noteRefusal(now, flight, active);
      } catch (RuntimeException | Error _) {
        // A plugin is broken. That is heard of where something depends on it; this is a note.
      }
    }
  }

  private void noteRefusal(long now, Flight flight, CompiledConfig active) {
    CompiledModel model = active.model(flight.facts.model());
    Criticality criticality = active.criticality(model, flight.facts.headers());
    try {
      begin(now, flight, model, criticality);
      double ceiling = admission.ceiling(flight, criticality, active);
      CandidateChoice.Use use =
          candidates.whole(now) ? CandidateChoice.Use.ANY : CandidateChoice.Use.IN_USE;
      int full = candidates.narrow(now, flight, ceiling, use, 0, false);
      if (current.size() == 0 && isForServersToRefuse(flight, full)) {
        candidates.narrow(now, flight, ceiling, use, 0, true);
      }
      if (flight.unkept) {
        current.none();
      }
      notes.refused(now, flight, active, criticality, ceiling, use);
    } finally {
      current.done();
      notes.clear();
    }
  }

  /**
   * Something has changed that may make room: sends those whose turn it is, as far as there is any.
   *
   * @throws PluginFailedException if a plugin is broken; whoever it failed is rejected
   */
  void sendWaiting(long now) {
    admission.roomCame();
    dispatch(now);
    evictions.look(now);
  }

  private void dispatch(long now) {
    @Nullable Throwable failure = null;
    while (config.get() != null && admission.some()) {
      int before = admission.waiting();
      try {
        // The common case while many wait, seen without a look at whose turn it is.
        if (!admission.noRoom(now)) {
          admission.dispatch(now, offer);
        }
        break;
      } catch (RuntimeException | Error e) {
        failure = e;
      }
      if (admission.waiting() >= before) {
        break; // nobody was rejected for it: the next time would fail in the same way
      }
    }
    Throwable ofPolicy = admission.takeFailure();
    failure = failure == null ? ofPolicy : failure;
    if (failure != null) {
      throw PluginFailedException.of(failure);
    }
  }

  private Sent offer(long now, Waiting waiting) {
    Flight flight = admission.flight(waiting);
    CompiledConfig active = Objects.requireNonNull(config.get());
    Criticality criticality = config.criticalityOf(flight.facts);
    double ceiling = admission.ceiling(flight, criticality, active);
    if (flight.facts.subset() == null && candidates.allFull(now, ceiling)) {
      flight.lacksRoom();
      return Sent.NONE; // seen without a look at the prompt
    }
    double left = admission.ceilingLeft(now, flight, ceiling);
    if (left < ceiling && !candidates.someBelow(now, left)) {
      flight.lacksRoom();
      return Sent.NOT_THIS_FLOW;
    }
    Reason refused = send(now, flight, active);
    if (refused == null) {
      return admission.noRoom(now) ? Sent.NONE : Sent.GONE;
    }
    boolean alike = !active.model(flight.facts.model()).isSplit();
    Sent sent = admission.refused(now, flight, refused, ceiling, alike);
    if (sent == Sent.GONE) {
      reject(now, flight, refused);
    }
    return sent;
  }

  /** Rejects all that wait. */
  void refuseWaiting(long now, Reason reason) {
    admission.takeAll(now, flight -> reject(now, flight, reason));
  }

  /** Rejects those who have waited as long as they may. */
  void tick(long now) {
    boolean nobody = endpoints.eligible().length == 0;
    admission.tick(now, (flight, how) -> reject(now, flight, expired(nobody, how)));
  }

  private static Reason expired(boolean nobody, WaitEnd how) {
    if (nobody) {
      return Reason.NO_READY_ENDPOINTS;
    }
    return how == WaitEnd.OBJECTIVE_MISSED ? Reason.OBJECTIVE_MISSED : Reason.QUEUE_TIMEOUT;
  }

  /**
   * Sends the request, away from where it was if it was anywhere; returns why not when nobody gets
   * it. The listener is called last, when the accounts are straight; when a plugin throws, too: the
   * request is rejected then.
   */
  @Nullable Reason send(long now, Flight flight, CompiledConfig active) {
    return send(now, flight, active, scheduled);
  }

  /**
   * A proxy has taken the request to the endpoint that its subset allows, whoever that is: it
   * counts there from now on.
   *
   * @return false if the config's filters would never let it go there: then it is where it was
   */
  boolean follow(long now, Flight flight, CompiledConfig active) {
    boolean follows = send(now, flight, active, taken) == null;
    if (follows) {
      flight.attempt.sinceUnknown = true;
    }
    return follows;
  }

  /** Leaves one endpoint, or two, as the config's scheduler has chosen. */
  private interface Choice {

    /** Returns why not when nobody gets it. */
    @Nullable Reason make(
        long now,
        Flight flight,
        CompiledModel model,
        Criticality criticality,
        CompiledConfig active);
  }

  private @Nullable Reason send(long now, Flight flight, CompiledConfig active, Choice choice) {
    observers.beforeSend();
    CompiledModel model = active.model(flight.facts.model());
    Criticality criticality = active.criticality(model, flight.facts.headers());
    Route route;
    try {
      Reason refused = choice.make(now, flight, model, criticality, active);
      if (refused != null) {
        return refused;
      }
      admission.stopWaiting(now, flight, WaitEnd.DISPATCHED);
      bookings.takeBack(now, flight);
      observers.tellEnd();
      WrittenDecision decision = notes.decision(now, flight, active);
      route = book(now, flight, model, criticality, active);
      if (decision != null) {
        route = notes.sent(flight, decision, route, active);
      }
    } catch (RuntimeException | Error e) {
      rejectUnsent(now, flight, criticality, e);
      throw e;
    } finally {
      current.done();
      headers.clear();
      notes.clear();
    }
    flight.listener.send(flight.ticket, route);
    return null;
  }

  /** A plugin threw: whoever was told of the request, its frontend too, is told of its end. */
  private void rejectUnsent(long now, Flight flight, Criticality criticality, Throwable thrown) {
    bookings.withdraw(flight);
    observers.unsent(now, flight);
    bookings.settle(now, flight);
    try {
      ends.reject(now, flight, criticality, Reason.PLUGIN_FAILED);
    } catch (RuntimeException | Error e) {
      if (!e.equals(thrown)) { // none may suppress itself
        thrown.addSuppressed(e);
      }
    }
    observers.tellUnsent(thrown);
  }

  private void begin(long now, Flight flight, CompiledModel model, Criticality criticality) {
    current.start(now, flight.arrivedAt, flight.facts, criticality, endpoints);
    current.advice(flight.advice);
    current.target(model);
    flight.goesOnWith =
        contexts.find(current.salt(), flight.facts.blocks(), current.cacheableBlocks());
    if (!flight.counted && current.cacheableBlocks() > 0) {
      flight.counted = true;
      contexts.came(flight.facts.likeness(), flight.goesOnWith);
    }
    current.goesOn(contexts.goesOn(current.timesKnown()));
  }

  /** Leaves the choice in the config's scheduler; returns why not when nobody gets it. */
  private @Nullable Reason choose(
      long now,
      Flight flight,
      CompiledModel model,
      Criticality criticality,
      CompiledConfig active) {
    boolean retry = flight.attempts > 0;
    flight.unkept = false;
    begin(now, flight, model, criticality);
    double ceiling = admission.ceiling(flight, criticality, active);
    double left = admission.ceilingLeft(now, flight, ceiling);
    if (left < ceiling && !current.isAtHomeSomewhere()) {
      ceiling = left;
    }
    CandidateChoice.Use use = candidates.narrowest(now);
    Scheduler scheduler = active.scheduler();
    boolean some = false;
    boolean anySize = false;
    int from = 0;
    while (true) {
      int full = candidates.narrow(now, flight, ceiling, use, from, anySize);
      if (current.size() > 0) {
        some = true;
        double highest = ceiling;
        Room room = Room.FOR_ALL;
        if (full > 0 && admission.mayGoWhereItIsFull(ceiling, active)) {
          room = room(scheduler);
          if (room != Room.NONE) {
            // There is room: where a wait pays, for a cached prompt say, the scheduler knows.
            highest = CandidateChoice.NEVER_FULL;
            candidates.narrow(now, flight, highest, use, from, anySize);
          }
        }
        current.forgetNotes(); // of a narrower try
        if (room != Room.NONE
            && scheduler.schedule(current, current, notes.recorder(flight, highest, use, scheduler))
            && (room == Room.FOR_ALL || scheduler.prefill() == Scheduler.NONE)) {
          flight.unkept = isUnkept(now, flight, criticality);
          if (!flight.unkept) {
            return null;
          }
        }
        if (highest != ceiling) {
          // As a receipt is to show it.
          candidates.narrow(now, flight, ceiling, use, from, anySize);
        }
        if (use == CandidateChoice.Use.UNTRIED) {
          // Its filters may want none of this one, and another that must be tried.
          from = current.place(0) + 1;
          continue;
        }
      }
      if (use == CandidateChoice.Use.ANY && isForServersToRefuse(flight, full)) {
        anySize = true;
        use = candidates.whole(now) ? use : CandidateChoice.Use.IN_USE;
        continue;
      }
      // Where all in use are full or too slow, what is out is no way out.
      boolean widest =
          use == CandidateChoice.Use.ANY
              || (use == CandidateChoice.Use.IN_USE && (full > 0 || flight.unkept));
      if (widest) {
        if (flight.unkept) {
          current.none();
        }
        if (flight.waiting == null) {
          notes.refused(now, flight, active, criticality, ceiling, use);
        }
        if (flight.unkept) {
          return Reason.OBJECTIVE_MISSED;
        }
        flight.lack = candidates.lack();
        promiseSlot(now, flight);
        return full > 0
            ? Reason.SATURATED
            : nobody(retry, some ? Reason.NO_SUITABLE_ENDPOINT : Reason.NO_READY_ENDPOINTS);
      }
      use = use.wider();
      from = 0;
    }
  }

  /** Whoever the request's subset allows gets it, however full or ill that is. */
  private @Nullable Reason take(
      long now,
      Flight flight,
      CompiledModel model,
      Criticality criticality,
      CompiledConfig active) {
    flight.unkept = false;
    begin(now, flight, model, criticality);
    CandidateChoice.Use use = CandidateChoice.Use.ANY;
    candidates.narrow(now, flight, CandidateChoice.NEVER_FULL, use, 0, true);
    current.forgetNotes();
    Scheduler scheduler = active.scheduler();
    boolean some =
        current.size() > 0
            && scheduler.schedule(
                current,
                current,
                notes.recorder(flight, CandidateChoice.NEVER_FULL, use, scheduler));
    return some ? null : Reason.NO_SUITABLE_ENDPOINT;
  }

  /** Promises it a slot, if it has waited for one for long and waits for nothing else. */
  private void promiseSlot(long now, Flight flight) {
    Waiting waits = flight.waiting;
    if (waits == null) {
      return;
    }
    if (!flight.lack.isOfSlot()) {
      waits.promised(false);
      flight.lacksRoom();
    } else if (now - waits.since() >= PATIENCE) {
      candidates.promiseSlot(now, flight);
    }
  }

  /**
   * Whether nobody is left but those whose caches are too small: one of them is to tell the client
   * that its prompt is too long for all.
   *
   * @param full how many were left out for being full
   */
  private boolean isForServersToRefuse(Flight flight, int full) {
    return full == 0 && !flight.unkept && candidates.maySayTooLong();
  }

  /** Where there is room for a request among endpoints of which some are full. */
  private enum Room {
    /** Not where it may go: what has room is of another kind. */
    NONE,
    /** Where its answer is produced, and nowhere else. */
    NOT_FOR_PREFILL,
    FOR_ALL
  }

  /**
   * Whether the candidates, all of which have room, are such that the request may go there: one
   * idle endpoint of another kind must not open the gate to those that are full.
   */
  private Room room(Scheduler scheduler) {
    if (!scheduler.parts()) {
      return Room.FOR_ALL;
    }
    current.forgetNotes();
    if (scheduler.everyProfileHasSome(current, current)) {
      return Room.FOR_ALL; // nearly always, and far cheaper than to schedule it twice
    }
    current.forgetNotes();
    if (!scheduler.schedule(current, current, null)) {
      return Room.NONE;
    }
    return scheduler.lacksPrefill() ? Room.NOT_FOR_PREFILL : Room.FOR_ALL;
  }

  /**
   * Whether none of the candidates keeps what the request asks for, and it is to wait or be refused
   * for that. What one that is idle can't keep, nobody can: it goes there. What is not sheddable
   * goes all the same, where it is the least late; so does what waited until its first token was
   * due and is still wanted, as no wait helps it any more.
   */
  private boolean isUnkept(long now, Flight flight, Criticality criticality) {
    if (criticality != Criticality.SHEDDABLE
        || admission.letsAllIn()
        || flight.attempts > 0
        || current.firstTokenBy() - now <= 0) {
      return false;
    }
    Double late = current.cycle().get(Objectives.LEAST_LATE);
    return late != null && late > 0 && !someIdle();
  }

  /**
   * Whether a candidate has nothing to do: it won't be faster for a wait, nor is anybody delayed.
   * What is believed of its speed may be wrong, and only requests teach better.
   */
  private boolean someIdle() {
    for (int i = 0; i < current.size(); i++) {
      if (current.endpoint(i).inFlight() == 0) {
        return true;
      }
    }
    return false;
  }

  /** To the client of a retried request, what failed tells more than why there is no third one. */
  private static Reason nobody(boolean retry, Reason otherwise) {
    return retry ? Reason.UPSTREAM_FAILED : otherwise;
  }

  /** Books the request on what the scheduler chose. */
  private Route book(
      long now,
      Flight flight,
      CompiledModel model,
      Criticality criticality,
      CompiledConfig active) {
    Scheduler scheduler = active.scheduler();
    int primary = scheduler.primary();
    int prefill = scheduler.prefill();
    EndpointState endpoint = current.endpoint(primary);
    EndpointState prefiller = prefill == Scheduler.NONE ? endpoint : current.endpoint(prefill);
    int matched = current.matchedBlocks(primary);
    Attempt attempt = flight.attempt;

    attempt.target = current.targetModel();
    attempt.salt = current.salt();
    attempt.tokens = current.promptTokens();
    attempt.answers = flight.facts.answers();
    attempt.critical = criticality == Criticality.CRITICAL;
    attempt.sheddable = criticality == Criticality.SHEDDABLE;
    attempt.blocks = current.cacheableBlocks();
    attempt.lastBlock = attempt.blocks == 0 ? 0 : flight.facts.blocks()[attempt.blocks - 1];
    attempt.matched = current.learnedBlocks(primary);
    int computing = prefiller == endpoint ? primary : prefill;
    int matchedThere = current.matchedBlocks(computing);
    attempt.matchedAtPrefill = current.learnedBlocks(computing);
    attempt.prefilledBy = prefiller == endpoint ? null : prefiller;
    attempt.cached = current.cachedTokens(computing);
    attempt.adapterSalt = current.adapterSalt();
    endpoint.cacheShare().sent(current.newTokens(primary));
    attempt.expectedFrom = current.expect(primary);
    attempt.transferred =
        prefiller == endpoint ? 0 : attempt.tokens - current.cachedTokens(primary);
    attempt.sentAt = now;
    attempt.answerTokens = Attempt.NO_CONTEXT;
    attempt.thereSince = now;
    attempt.mayComputeUntil = now;
    flight.attempts++;
    admission.sent(now, flight);
    flight.ownTokens =
        contexts.sent(now, flight.facts.likeness(), attempt, endpoint, flight.goesOnWith);
    attempt.at = endpoint;
    endpoint.requests().add(flight);
    flight.to(FlightState.PREFILLING);
    attempt.judged = false;
    attempt.number = bookings.sent(flight, endpoint);
    endpoint.sent(now, flight, matched);
    if (prefiller != endpoint) {
      prefiller.cacheShare().sent(current.newTokens(prefill));
      attempt.expectedFromAtPrefill = current.expect(prefill);
      attempt.prefillNumber = bookings.sent(flight, prefiller);
      prefiller.sent(now, flight, matchedThere);
      attempt.prefillAt = prefiller;
      attempt.prefillTrial = health.sent(now, prefiller.health(), attempt.target);
    }
    prefiller.prefills().add(now, flight);
    prefiller.publish();
    attempt.trial = health.sent(now, endpoint.health(), attempt.target);
    AttemptRules.bound(
        now, flight, prefiller.expectedPrefill(), model.timeouts().or(active.poolTimeouts()));

    scheduler.handOvers(current, headers);
    observers.sent(current, endpoint, headers);
    return new Route(
        attempt.target,
        criticality,
        endpoint.name(),
        endpoint.address(),
        endpoint.port(),
        matched,
        attempt.tokens,
        attempt.cached,
        flight.attempts,
        scheduler.fallbacks(current),
        headers.request(),
        headers.response());
  }
}
