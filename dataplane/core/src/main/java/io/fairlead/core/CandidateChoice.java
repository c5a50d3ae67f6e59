package io.fairlead.core;

import io.fairlead.core.health.PoolHealth;
import io.fairlead.core.health.Refusers;
import io.fairlead.core.receipt.Exclusion;
import org.jspecify.annotations.Nullable;

/**
 * Says which endpoints a request may go to, before the scheduler chooses among them. It leaves out
 * endpoints that are out or full, that failed the request before, that the gateway does not allow,
 * and that lack cache or an adapter slot for it.
 */
final class CandidateChoice {

  /** Saturation that no endpoint reaches: for requests that go also where all is full. */
  static final double NEVER_FULL = Double.POSITIVE_INFINITY;

  /** Saturation from which on an endpoint is full. */
  static final double FULL = 1;

  /** Tokens of prompts are estimated, and answers need some room, too. */
  private static final double SPARE = 1.1;

  private final EndpointSet endpoints;
  private final PoolHealth health;
  private final CurrentRequest current;
  private final Contexts contexts;
  private final AllowedEndpoints allowedEndpoints = new AllowedEndpoints();

  /** Whether requests that begin a conversation wait where contexts fill the caches. */
  private boolean gated;

  /** Whether requests wait for a slot of their adapter here, and not in the server's queue. */
  private boolean keepsSlots;

  /** Whether the last {@link #narrow} left endpoints out whose cache is too small. */
  private boolean sizeMatters;

  /** Whether one of those may tell the client that its prompt is too long for it. */
  private boolean maySayTooLong;

  /** Whether it did leave one out for that, and whether one of them had room. */
  private boolean someTooSmall;

  private boolean roomWhereTooSmall;

  /** By place, whom the gateway allows the request of the last {@link #narrow}; null for all. */
  private long @Nullable [] allowed;

  /** Whether it left one out that had room and no slot, and one that had a slot and no room. */
  private boolean roomWithoutSlot;

  private boolean slotWithoutRoom;

  /** Whether it left one out that had room, but none beside the contexts that it keeps. */
  private boolean fullOfContexts;

  CandidateChoice(
      EndpointSet endpoints, PoolHealth health, CurrentRequest current, Contexts contexts) {
    this.endpoints = endpoints;
    this.health = health;
    this.current = current;
    this.contexts = contexts;
  }

  /**
   * Whom the request may go to, from the narrowest choice to the widest: where the scheduler finds
   * nobody in one, such as when its filters want another label, the next is tried.
   */
  enum Use {
    /**
     * One that the request draws and that must be tried, alone: left to the scheduler, others would
     * always look better, and it would never come back.
     */
    UNTRIED,
    /** Those in use that the request draws. */
    DRAWN,
    /** All in use. */
    IN_USE,
    /** Whoever has not failed it yet. */
    ANY;

    private boolean isDrawn() {
      return this == UNTRIED || this == DRAWN;
    }

    Use wider() {
      return switch (this) {
        case UNTRIED -> DRAWN;
        case DRAWN -> IN_USE;
        case IN_USE, ANY -> ANY;
      };
    }
  }

  /** From now on those who begin a conversation wait, or don't, where contexts fill the caches. */
  void keepContexts(boolean keep) {
    gated = keep;
  }

  /** From now on those whose adapter has no slot wait, or don't. */
  void keepSlots(boolean keep) {
    keepsSlots = keep;
  }

  /** Whether all endpoints are well. */
  boolean whole(long now) {
    return health.whole(now);
  }

  /** The narrowest choice that makes a difference now to the current request. */
  Use narrowest(long now) {
    boolean whole = health.whole(now) && health.refusers(now, current.targetModel()) == null;
    return whole ? Use.ANY : Use.UNTRIED;
  }

  /**
   * Leaves as candidates those endpoints that the request may go to.
   *
   * @param ceiling saturation from which on an endpoint is full for it, and does not count
   * @param from place of the first one that is looked at, where the request tries {@link
   *     Use#UNTRIED} ones in turn; else 0
   * @param anySize whether it may go also where the cache has no room for its prompt
   * @return how many do not count for being full
   */
  int narrow(long now, Flight flight, double ceiling, Use use, int from, boolean anySize) {
    sizeMatters = !anySize && SPARE * current.promptTokens() > endpoints.columns().smallestCache();
    double needed = sizeMatters ? SPARE * current.promptTokens() : 0;
    maySayTooLong = sizeMatters && !hasFailedWhereItFits(flight, needed);
    boolean retry = flight.attempts > 0;
    boolean begins = begins(flight);
    boolean slots = !retry && slotsAreScarce();
    EndpointState[] eligible = endpoints.eligible();
    double[] saturation = endpoints.columns().saturation;
    boolean noneFull = ceiling == NEVER_FULL || noneFull(saturation, ceiling);
    someTooSmall = false;
    roomWhereTooSmall = false;
    roomWithoutSlot = false;
    slotWithoutRoom = false;
    fullOfContexts = false;
    allowed = allowedEndpoints.of(flight.facts.subset(), eligible);
    if (use == Use.ANY && !retry && noneFull && !begins && !slots && !sizeMatters) {
      if (allowed == null) {
        current.everybody();
      } else {
        current.only(allowed);
      }
      return 0;
    }
    int full = 0;
    int count = use == Use.ANY ? eligible.length : health.usableCount();
    current.none();
    Refusers refusers = use.isDrawn() ? health.refusers(now, current.targetModel()) : null;
    for (int i = 0; i < count; i++) {
      int place = use == Use.ANY ? i : health.usable(i);
      EndpointState endpoint = eligible[place];
      if (place < from
          || (retry && flight.hasTried(endpoint))
          || !AllowedEndpoints.has(allowed, place)
          || (use != Use.ANY && health.busyOnTrial(place))
          || (use == Use.UNTRIED && !isUntried(now, refusers, place))
          || (use.isDrawn() && health.drawnOut(place, lot(flight, endpoint)))
          || (refusers != null && refusers.drawnOut(place, lot(flight, endpoint)))) {
        continue;
      }
      boolean isFull = !noneFull && endpoints.saturation(place) >= ceiling;
      if (!endpoints.columns().fits(place, needed) || isNoWayOut(use, endpoint)) {
        someTooSmall = true;
        roomWhereTooSmall |= !isFull;
        continue;
      }
      boolean lacksSlot = slots && hasNoSlotFor(place, endpoint);
      if (isFull || (begins && hasNoRoomFor(now, endpoint))) {
        slotWithoutRoom |= !lacksSlot;
        fullOfContexts |= !isFull;
        full++;
      } else if (lacksSlot) {
        roomWithoutSlot = true;
        full++;
      } else {
        current.candidate(place);
        if (use == Use.UNTRIED) {
          return full;
        }
      }
    }
    return full;
  }

  /**
   * Whom the gateway allows the request of the last {@link #narrow}, a bit for each place; null for
   * all.
   */
  long @Nullable [] allowed() {
    return allowed;
  }

  private boolean isUntried(long now, @Nullable Refusers refusers, int place) {
    return health.untried(now, place) || (refusers != null && refusers.untried(now, place));
  }

  /** Whether one whose cache is large enough is out: then one that is too small is to say so. */
  private boolean isNoWayOut(Use use, EndpointState endpoint) {
    return sizeMatters
        && maySayTooLong
        && use == Use.ANY
        && endpoint.health().state() == HealthState.OUT;
  }

  /** Whether an endpoint whose cache is large enough has failed the request. */
  private boolean hasFailedWhereItFits(Flight flight, double needed) {
    EndpointState[] eligible = endpoints.eligible();
    for (int place = 0; flight.attempts > 0 && place < eligible.length; place++) {
      if (flight.hasTried(eligible[place]) && endpoints.columns().fits(place, needed)) {
        return true;
      }
    }
    return false;
  }

  /**
   * Whether {@link #narrow} has left out endpoints as their caches are too small for the prompt,
   * and one of them may tell the client so: not where the prompt is known to fit elsewhere.
   */
  boolean maySayTooLong() {
    return someTooSmall && maySayTooLong;
  }

  /** What a request lacks for which {@link #narrow} has left nobody. */
  Lack lack() {
    if (roomWhereTooSmall) {
      return Lack.CACHE;
    }
    if (roomWithoutSlot) {
      return slotWithoutRoom ? Lack.SLOT_OR_ROOM : Lack.SLOT;
    }
    return fullOfContexts ? Lack.CONTEXTS : Lack.ROOM;
  }

  /**
   * Why {@link #narrow}, called with the same arguments, has left out an endpoint that is no
   * candidate; or why nobody that it left can have the request, where that is {@link
   * Flight#unkept}.
   */
  Exclusion exclusion(long now, Flight flight, double ceiling, Use use, int place) {
    EndpointState endpoint = endpoints.eligible()[place];
    if (flight.attempts > 0 && flight.hasTried(endpoint)) {
      return Exclusion.TRIED;
    }
    if (!AllowedEndpoints.has(allowed, place)) {
      return Exclusion.NOT_ALLOWED;
    }
    if (use != Use.ANY && !health.isUsable(place)) {
      return endpoint.health().state() == HealthState.OUT ? Exclusion.OUT : Exclusion.NEW;
    }
    if (sizeMatters && !endpoints.columns().fits(place, SPARE * current.promptTokens())) {
      return Exclusion.TOO_SMALL;
    }
    if (use != Use.ANY && health.busyOnTrial(place)) {
      return Exclusion.ON_TRIAL;
    }
    if (ceiling != NEVER_FULL && endpoints.saturation(place) >= ceiling) {
      return Exclusion.FULL;
    }
    if (use.isDrawn() && health.drawnOut(place, lot(flight, endpoint))) {
      return Exclusion.SPARED;
    }
    Refusers refusers = use.isDrawn() ? health.refusers(now, current.targetModel()) : null;
    if (refusers != null && refusers.drawnOut(place, lot(flight, endpoint))) {
      return Exclusion.REFUSES;
    }
    if (flight.attempts == 0 && slotsAreScarce() && hasNoSlotFor(place, endpoint)) {
      return Exclusion.ADAPTERS;
    }
    if (use == Use.UNTRIED) {
      return Exclusion.OTHER_ON_TRIAL;
    }
    return flight.unkept && !(begins(flight) && hasNoRoomFor(now, endpoint))
        ? Exclusion.LATE
        : Exclusion.CONTEXTS;
  }

  /** Whether it begins a conversation, and waits for it where contexts fill the caches. */
  private boolean begins(Flight flight) {
    return flight.goesOnWith == null
        && flight.attempts == 0
        && gated
        && contexts.matter(current.timesKnown());
  }

  /**
   * Whether the current request would drive out contexts there; not if most of it is there, nor if
   * it is larger than the cache: it would wait in vain, and the server tells its client why.
   */
  private boolean hasNoRoomFor(long now, EndpointState endpoint) {
    int cached = current.cachedTokensAt(endpoint);
    int uncached = current.promptTokens() - cached;
    return uncached > cached
        && uncached < endpoint.kvCapacityTokens()
        && contexts.areFull(now, endpoint, uncached, current.critical(), current.timesKnown());
  }

  /**
   * Whether requests wait here for slots of their adapters. Of several pickers each sees late what
   * the others' requests leave free, so a slot stays idle between two: they do only where the pool
   * has fewer slots than adapters, and servers would have them wait for long.
   */
  private boolean slotsAreScarce() {
    return keepsSlots
        && endpoints.columns().slotsTakenAnywhere()
        && (current.replicas() <= 1
            || endpoints.adapters().count() > endpoints.columns().adapterSlots());
  }

  /** Whether the current request's adapter would have to wait there until another falls idle. */
  private boolean hasNoSlotFor(int place, EndpointState endpoint) {
    return endpoints.columns().slotsTaken(place)
        && endpoint.adapters().lacks(current.targetModel());
  }

  /**
   * Promises the current request's adapter the next slot where one is to be had soonest, unless it
   * was promised one that it still lacks where it may go: without it, adapters that always have
   * requests in flight would keep theirs for ever.
   */
  void promiseSlot(long now, Flight flight) {
    SlotPromise given = flight.promise;
    EndpointState[] eligible = endpoints.eligible();
    long[] allowed = allowedEndpoints.of(flight.facts.subset(), eligible);
    double needed = sizeMatters ? SPARE * current.promptTokens() : 0;
    EndpointState best = null;
    int fewest = Integer.MAX_VALUE;
    for (int i = 0; i < health.usableCount(); i++) {
      int place = health.usable(i);
      EndpointState endpoint = eligible[place];
      if (!AllowedEndpoints.has(allowed, place)
          || !endpoints.columns().fits(place, needed)
          || !hasNoSlotFor(place, endpoint)) {
        continue; // where there is a slot, there is no room
      }
      if (given != null && given.at() == endpoint && given.stands()) {
        flight.promised(given);
        return;
      }
      int until = endpoint.adapters().untilASlot(now);
      if (until < fewest) {
        fewest = until;
        best = endpoint;
      }
    }
    flight.countsOnNoSlot();
    if (best != null) {
      flight.promised(best.promiseSlot(current.targetModel()));
    }
  }

  private static boolean noneFull(double[] saturation, double ceiling) {
    boolean none = true;
    // NaN is not below anything: the detector failed, and shall be heard of.
    for (double each : saturation) {
      none &= each < ceiling;
    }
    return none;
  }

  private static boolean noneBelow(double[] saturation, double ceiling) {
    for (double each : saturation) {
      if (each < ceiling) {
        return false;
      }
    }
    return true;
  }

  /**
   * Mean saturation of the endpoints of which the detector has said it; 0 where there is none, NaN
   * where it has failed at all of them.
   */
  double saturation() {
    return saturation(NEVER_FULL);
  }

  /** The same where one counts as no more than full: how overfull it is takes no room elsewhere. */
  double fullness() {
    return saturation(FULL);
  }

  private double saturation(double most) {
    double[] all = endpoints.columns().saturation;
    double sum = 0;
    int said = 0;
    for (double each : all) {
      if (!Double.isNaN(each)) {
        sum += Math.min(most, each);
        said++;
      }
    }
    return all.length == 0 ? 0 : sum / said;
  }

  /** Whether an endpoint in use has room for requests that begin a conversation, and any other. */
  boolean someRoom(long now) {
    boolean whole = health.whole(now);
    int count = whole ? endpoints.eligible().length : health.usableCount();
    for (int i = 0; i < count; i++) {
      int place = whole ? i : health.usable(i);
      EndpointState endpoint = endpoints.eligible()[place];
      // NaN is not full: the detector failed, which those hear of who want to go.
      if (!(endpoints.columns().saturation[place] >= FULL)
          && !(gated
              && contexts.matter(current.timesKnown())
              && contexts.areFull(now, endpoint, 0, false, current.timesKnown()))) {
        return true;
      }
    }
    return false;
  }

  /** Whether an endpoint in use is below this saturation, whoever may go there. */
  boolean someBelow(long now, double ceiling) {
    if (health.whole(now)) {
      return !noneBelow(endpoints.columns().saturation, ceiling);
    }
    double[] saturation = endpoints.columns().saturation;
    int count = health.usableCount();
    for (int i = 0; i < count; i++) {
      if (saturation[health.usable(i)] < ceiling) {
        return true;
      }
    }
    return false;
  }

  /** Whether there are endpoints in use, and each is full for who has this ceiling. */
  boolean allFull(long now, double ceiling) {
    double[] saturation = endpoints.columns().saturation;
    boolean whole = health.whole(now);
    int count = whole ? saturation.length : health.usableCount();
    for (int i = 0; i < count; i++) {
      // NaN is not full: the detector failed, and shall be heard of.
      if (!(saturation[whole ? i : health.usable(i)] >= ceiling)) {
        return false;
      }
    }
    return count > 0;
  }

  /** Random bits of a request's attempt and an endpoint: the finalizer of SplitMix64. */
  private static long lot(Flight flight, EndpointState endpoint) {
    long z = flight.facts.seed() ^ (endpoint.identity() + flight.attempts);
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Whether there is another endpoint that has not failed the request. */
  boolean hasOther(Flight flight) {
    return hasOther(flight, false);
  }

  /** Whether there is another endpoint in use that has not failed the request. */
  boolean hasOtherInUse(Flight flight) {
    return hasOther(flight, true);
  }

  private boolean hasOther(Flight flight, boolean inUse) {
    EndpointState[] eligible = endpoints.eligible();
    long[] allowed = allowedEndpoints.of(flight.facts.subset(), eligible);
    for (int place = 0; place < eligible.length; place++) {
      EndpointState endpoint = eligible[place];
      if (endpoint != flight.attempt.at
          && !flight.hasTried(endpoint)
          && AllowedEndpoints.has(allowed, place)
          && !(inUse && endpoint.health().state() != HealthState.IN_USE)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the gateway lets the request go there. */
  static boolean allowed(RequestFacts facts, EndpointState endpoint) {
    return facts.subset() == null || facts.subset().allows(endpoint.address(), endpoint.port());
  }
}
