package io.fairlead.core;

import io.fairlead.core.Rejection.Reason;
import io.fairlead.core.account.TokenEstimate;
import io.fairlead.core.flow.FlowControl;
import io.fairlead.core.flow.FlowControl.Sender;
import io.fairlead.core.flow.FlowQueue;
import io.fairlead.core.flow.FlowSettings;
import io.fairlead.core.flow.WaitEnd;
import io.fairlead.core.flow.Waiting;
import io.fairlead.core.flow.Waiting.Demand;
import io.fairlead.core.flow.WaitsFor;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.CompiledModel;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.WaitingRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Says whether a request may go now, and keeps those that may not: they wait in {@link FlowControl}
 * until there is room. Where the config wants nobody to wait, only sheddable requests are held
 * back: they are refused while every endpoint is full.
 */
final class Admission {

  /** Is told of requests that make room for others. */
  interface Evictions {

    /** The request does not wait any more, and is to be refused. */
    void evicted(long now, Flight flight);
  }

  /**
   * Nanoseconds for which a request may wait for a slot of its adapter while others do all the
   * time. Slots fall idle when the answers end that have them, so it is no less than so many of
   * these.
   */
  private static final long SLOT_TTL = 10_000_000_000L;

  private static final double ANSWERS = 3;

  private final RequestTable requests;
  private final EndpointSet endpoints;
  private final CandidateChoice candidates;
  private final TokenEstimate tokens;
  private final long maxWaitingBytes;

  /** All that come were let in elsewhere. */
  private final boolean admitted;

  private final ServerPace pace = new ServerPace();
  private final PromptLengths lengths = new PromptLengths();

  /** Null as long as no config has wanted requests to wait. */
  private @Nullable FlowControl flow;

  /** Null where nobody is to wait. */
  private @Nullable FlowSettings settings;

  /** Those who wait and may go to some endpoints only. */
  private int waitingForSome;

  /** {@link PoolAdapters#changes} when all that wait were tried last, and whether a tick came. */
  private long slotChanges;

  private boolean ticked;

  private final Predicate<Waiting> wantsRoom = this::wantsRoom;

  /**
   * Nobody waits yet.
   *
   * @param admitted whether requests have been let in elsewhere, and none is refused for load
   */
  Admission(
      RequestTable requests,
      EndpointSet endpoints,
      CandidateChoice candidates,
      TokenEstimate tokens,
      long maxWaitingBytes,
      boolean admitted) {
    this.requests = requests;
    this.endpoints = endpoints;
    this.candidates = candidates;
    this.tokens = tokens;
    this.maxWaitingBytes = maxWaitingBytes;
    this.admitted = admitted;
  }

  /** Whether requests have been let in elsewhere, and none is refused for load. */
  boolean letsAllIn() {
    return admitted;
  }

  /** Applies a config: who waits goes on, where the config has it now. */
  void configure(long now, CompiledConfig config) {
    endpoints.fullness(new Fullness(config.saturation()));
    candidates.keepContexts(config.flow() != null && config.saturation().keepsContexts());
    candidates.keepSlots(config.flow() != null);
    FlowSettings wanted = config.flow();
    if (wanted == null) {
      settings = null;
      return; // those who wait go with the next dispatch: nobody is held back any more
    }
    FlowSettings changed = wanted.within(maxWaitingBytes);
    settings = changed;
    FlowControl before = flow;
    if (before == null) {
      flow = new FlowControl(now, changed);
      endpoints(now);
    } else {
      before.configure(now, changed, waiting -> home(before, config, flight(waiting)));
    }
  }

  /**
   * The flow of its model, unless it says whose it is. Names that neither the config nor a server
   * has told of share one: clients can make up as many as they like.
   */
  private FlowQueue home(FlowControl flow, CompiledConfig config, Flight flight) {
    RequestFacts facts = flight.facts;
    CompiledModel model = config.model(facts.model());
    RequestHeaders headers = facts.headers();
    boolean known = config.names(facts.model()) || endpoints.adapters().isServed(facts.model());
    String id = FlowHeaders.flow(headers, known ? facts.model() : FlowControl.SHARED);
    FlowQueue home = flow.flow(config.priority(model, headers), id);
    if (home.id().equals(facts.model())) {
      home.weight(model.weight());
    }
    flight.flow = home;
    return home;
  }

  /** The pool's endpoints have changed. */
  void endpoints(long now) {
    if (flow != null) {
      flow.empty(now, endpoints.eligible().length == 0);
    }
  }

  /** A request came: whether it may go before all that wait. */
  boolean mayPass(long now, Flight flight, CompiledConfig config) {
    FlowControl all = flow;
    if (all == null || settings == null) {
      return true;
    }
    FlowQueue home = home(all, config, flight);
    flight.place = all.came(now, home, flight.facts.likeness());
    return all.mayPass(home);
  }

  /** Saturation from which on an endpoint is full for the request. */
  double ceiling(Flight flight, Criticality criticality, CompiledConfig config) {
    FlowControl all = flow;
    FlowQueue queue = flight.flow;
    if (admitted) {
      return CandidateChoice.NEVER_FULL;
    }
    if (all == null || queue == null || settings == null) {
      boolean gated =
          settings == null && flight.waiting == null && criticality == Criticality.SHEDDABLE;
      return gated ? CandidateChoice.FULL : CandidateChoice.NEVER_FULL;
    }
    if (flight.attempts > 0) {
      return CandidateChoice.NEVER_FULL; // it was let in before
    }
    double ceiling = all.ceiling(queue, candidates.fullness());
    // A number that says nothing holds nobody back. Nor is room held back from one whose floor it
    // is to go: while it could not, nobody else could either.
    boolean owed = flight.waiting != null && all.isOwed(flight.waiting);
    return Double.isNaN(ceiling) || (owed && ceiling < CandidateChoice.FULL)
        ? CandidateChoice.FULL
        : ceiling;
  }

  /**
   * Has the request wait that could not go.
   *
   * @param evictions told of each that makes room for it
   * @return false if it may not wait
   */
  boolean waits(
      long now, Flight flight, Reason refused, CompiledConfig config, Evictions evictions) {
    FlowControl all = flow;
    FlowQueue queue = flight.flow;
    if (all == null || queue == null || !canPass(now, refused)) {
      return false;
    }
    RequestFacts facts = flight.facts;
    PromptSize prompt = facts.prompt();
    double promptTokens = tokens.of(facts.model()).tokens(prompt.textBytes(), prompt.mediaTokens());
    CompiledModel model = config.model(facts.model());
    Duration total = facts.timeouts().or(model.timeouts()).or(config.poolTimeouts()).total();
    Demand demand =
        new Demand(
            Math.min(promptTokens, lengths.most()) + expectedOutput(queue, facts),
            facts.bodyBytes(),
            Math.min(
                Math.min(total == null ? WaitingRequest.NEVER : total.toNanos(), model.queueTtl()),
                FlowHeaders.ttl(facts.headers())),
            FlowHeaders.firstTokenBy(facts.headers(), flight.arrivedAt, model),
            flight.goesOnWith != null,
            flight.place);
    flight.waiting =
        all.add(
            now,
            flight.ticket,
            queue,
            demand,
            waiting -> evictions.evicted(now, taken(now, waiting, WaitEnd.EVICTED)));
    if (flight.waiting == null) {
      queue.waits().ended(WaitEnd.QUEUE_FULL, 0);
      return false;
    }
    waitingForSome += facts.subset() == null ? 0 : 1;
    flight.to(FlightState.WAITING);
    boolean alike = !model.isSplit();
    waitsFor(now, all, flight.waiting, lack(flight, refused), isOfItsModel(flight, alike));
    return true;
  }

  /** Output tokens that are expected of all its answers. */
  private static double expectedOutput(FlowQueue queue, RequestFacts facts) {
    return facts.answers() * queue.expectedOutput(facts.maxOutputTokens());
  }

  /** Whether what keeps it from going passes with time. */
  private boolean canPass(long now, Reason refused) {
    FlowControl all = flow;
    return all != null
        && settings != null
        && (refused == Reason.SATURATED
            || refused == Reason.OBJECTIVE_MISSED
            || (refused == Reason.NO_READY_ENDPOINTS
                && endpoints.eligible().length == 0
                && all.waitsForEndpoint(now)));
  }

  /**
   * Whether the scheduler may choose a full endpoint for it while others have room. Not where room
   * is held back from it for what is more important.
   */
  boolean mayGoWhereItIsFull(double ceiling, CompiledConfig config) {
    return settings != null && ceiling >= CandidateChoice.FULL && !config.saturation().isLimit();
  }

  /**
   * The ceiling that is left for it: that of its band, or less where it waits and much more of its
   * flow was sent of late than its share. What room there is above is for others of its band.
   *
   * @param ceiling of its band
   */
  double ceilingLeft(long now, Flight flight, double ceiling) {
    FlowControl all = flow;
    Waiting waiting = flight.waiting;
    return all == null
            || waiting == null
            || settings == null
            || !waiting.flow().isOverItsShare(now)
            || all.isOwed(waiting)
        ? ceiling
        : all.ceilingOverShare(waiting.flow(), ceiling, candidates.fullness());
  }

  /**
   * What becomes of a request that waits and was just refused for this reason.
   *
   * @param alike whether all requests of its model are for the same target
   */
  FlowControl.Sent refused(long now, Flight flight, Reason refused, double ceiling, boolean alike) {
    if (!canPass(now, refused)) {
      return FlowControl.Sent.GONE;
    }
    FlowControl all = flow;
    Lack lack = lack(flight, refused);
    boolean ofModel = isOfItsModel(flight, alike);
    if (all != null && flight.waiting != null) {
      waitsFor(now, all, flight.waiting, lack, ofModel);
    }
    boolean ofItself = refused == Reason.SATURATED || refused == Reason.OBJECTIVE_MISSED;
    if (!ofItself || !candidates.someBelow(now, ceiling)) {
      return FlowControl.Sent.NONE;
    }
    boolean forAll =
        switch (lack) {
          case ROOM -> true;
          case CONTEXTS -> !someGoOn(flight);
          case SLOT, SLOT_OR_ROOM -> ofModel;
          case UNKNOWN, CACHE -> false;
        };
    return refused == Reason.SATURATED && flight.facts.subset() == null && forAll
        ? FlowControl.Sent.NOT_THIS_FLOW
        : FlowControl.Sent.NOT_THIS;
  }

  /** Whether a conversation is to go on that waits in its flow, perhaps behind it. */
  private static boolean someGoOn(Flight flight) {
    FlowQueue queue = flight.flow;
    return queue != null && queue.someGoOn();
  }

  private static Lack lack(Flight flight, Reason refused) {
    return refused == Reason.SATURATED ? flight.lack : Lack.ROOM;
  }

  /** Whether its flow is that of its model, and has requests for one target alone. */
  private static boolean isOfItsModel(Flight flight, boolean alike) {
    FlowQueue queue = flight.flow;
    return alike && queue != null && queue.id().equals(flight.facts.model());
  }

  private static void waitsFor(
      long now, FlowControl all, Waiting waiting, Lack lack, boolean ofModel) {
    switch (lack) {
      case UNKNOWN -> {
        // It stands behind others of its flow, or of more important ones.
      }
      case ROOM, CONTEXTS, CACHE -> all.waitsFor(now, waiting, WaitsFor.ROOM);
      case SLOT -> all.waitsFor(now, waiting, ofModel ? WaitsFor.SLOT_AS_ITS_FLOW : WaitsFor.SLOT);
      case SLOT_OR_ROOM -> all.waitsFor(now, waiting, WaitsFor.SLOT);
    }
  }

  /**
   * Whether it can be seen without a look at any request that none of those who wait can go. A
   * gateway that allows only some endpoints may allow none: that has another answer.
   */
  boolean noRoom(long now) {
    FlowControl all = flow;
    if (all == null || settings == null || waitingForSome > 0) {
      return false;
    }
    if (!candidates.allFull(now, CandidateChoice.FULL)) {
      return false;
    }
    double highest = all.highestCeiling(candidates.fullness());
    return highest == CandidateChoice.FULL || candidates.allFull(now, highest);
  }

  /** The request does not wait any more, if it did. */
  void stopWaiting(long now, Flight flight, WaitEnd how) {
    Waiting waiting = flight.waiting;
    if (waiting != null && flow != null) {
      flow.remove(now, waiting);
      waited(now, flight, waiting, how);
    }
  }

  private void waited(long now, Flight flight, Waiting waiting, WaitEnd how) {
    flight.waiting = null;
    flight.place = waiting.sequence();
    flight.countsOnNoSlot();
    waitingForSome -= flight.facts.subset() == null ? 0 : 1;
    waiting.flow().waits().ended(how, now - waiting.since());
  }

  /** The request was sent: for the first time, its flow is charged. */
  void sent(long now, Flight flight) {
    FlowQueue queue = flight.flow;
    if (queue != null && flow != null && flight.attempts == 1) {
      flight.work = flight.attempt.uncached() + expectedOutput(queue, flight.facts);
      flight.turn = flow.went(now, queue, flight.work);
    }
  }

  /**
   * The request is over, wherever it was.
   *
   * @param whole whether its answer was delivered to its end
   */
  void over(long now, Flight flight, Usage usage, boolean whole) {
    stopWaiting(now, flight, WaitEnd.REFUSED);
    FlowQueue queue = flight.flow;
    if (queue == null || flow == null || flight.attempts == 0) {
      return;
    }
    flow.ended(now);
    if (usage.promptTokens() > 0) {
      lengths.ended(usage.promptTokens());
    }
    boolean answers = flight.facts.maxOutputTokens() != 0;
    int output = usage.outputTokens(whole);
    if (output < 0 && !answers && usage.promptTokens() > 0) {
      output = 0;
    }
    double was = -1;
    if (output >= 0) {
      int prompt = usage.promptTokens() > 0 ? usage.promptTokens() : flight.attempt.tokens;
      int cached = usage.cachedTokens() >= 0 ? usage.cachedTokens() : flight.attempt.cached;
      was = Math.max(0, prompt - cached) + output;
    }
    int each = answers && whole && output >= 0 ? flight.attempt.ofEach(output) : -1;
    queue.ended(flight.turn, flight.work, was, each);
    if (was >= 0 || flight.firstTokenSeen()) {
      long stay = flight.attempt.tellsNoTime() ? -1 : now - flight.attempt.sentAt;
      pace.ended(was >= 0 ? was : flight.work, stay);
    }
  }

  /** Whether somebody waits. */
  boolean some() {
    return flow != null && flow.waiting() > 0;
  }

  /** The first of those who wait whom requests in flight are to make room for; null for nobody. */
  @Nullable Waiting waitsForEviction() {
    return flow == null || settings == null || !settings.evictsInFlight()
        ? null
        : flow.mostImportant(wantsRoom);
  }

  /** Requests that wait in the same band, itself included. */
  int waitingBeside(Waiting request) {
    return flow == null ? 0 : flow.waitingBeside(request);
  }

  /** Requests that wait. */
  int waiting() {
    return flow == null ? 0 : flow.waiting();
  }

  /** Something has changed that may make room. */
  void roomCame() {
    if (flow != null) {
      long changes = endpoints.adapters().changes();
      flow.roomCame(ticked || changes != slotChanges);
      ticked = false;
      slotChanges = changes;
    }
  }

  /** Offers those whose turn it is. */
  void dispatch(long now, Sender sender) {
    if (flow != null) {
      flow.dispatch(now, sender);
    }
  }

  /** What a policy threw since this was asked last; null if none did. */
  @Nullable Throwable takeFailure() {
    return flow == null ? null : flow.takeFailure();
  }

  /** Takes out those who have waited as long as they may. */
  void tick(long now, BiConsumer<Flight, WaitEnd> expired) {
    if (flow != null) {
      int busy = 0;
      for (EndpointState endpoint : endpoints.eligible()) {
        busy += endpoint.hasWork() ? 1 : 0;
      }
      pace.tick(now, busy);
      ticked = true;
      flow.expire(
          now,
          (long) Math.max(SLOT_TTL, ANSWERS * pace.stay()),
          waiting -> {
            WaitEnd how = waiting.whenExpired();
            expired.accept(taken(now, waiting, how), how);
          });
    }
  }

  /** Takes out all that wait. */
  void takeAll(long now, Consumer<Flight> taken) {
    if (flow != null) {
      flow.removeAll(now, waiting -> taken.accept(taken(now, waiting, WaitEnd.REFUSED)));
    }
  }

  private Flight taken(long now, Waiting waiting, WaitEnd how) {
    Flight flight = flight(waiting);
    waited(now, flight, waiting, how);
    return flight;
  }

  /** Whose place this is. */
  Flight flight(Waiting waiting) {
    Flight flight = requests.get(waiting.request());
    if (flight == null) {
      throw new IllegalStateException("request " + waiting.request() + " waits and is over");
    }
    return flight;
  }

  /** Seconds after which a request that is refused for want of room should come again. */
  int comeAgain(long now, Flight flight) {
    FlowQueue queue = flight.flow;
    if (flow == null || queue == null) {
      return 1;
    }
    // 53 random bits make all doubles from 0 to 1.
    double draw = (flight.facts.seed() >>> 11) * 0x1p-53;
    return flow.comeAgain(now, queue, flight.facts.likeness(), flight.place, draw);
  }

  /** Who waits, and how full the pool is. */
  QueueSnapshot snapshot(long now) {
    List<QueueSnapshot.Band> bands = new ArrayList<>();
    if (flow != null) {
      double tokensPerSecond = pace.tokensPerSecond();
      flow.forEachBand(
          (priority, requests, bytes, work, waits) ->
              bands.add(
                  new QueueSnapshot.Band(
                      priority, requests, bytes, work, work / tokensPerSecond, waits.copy())));
    }
    return new QueueSnapshot(
        settings != null,
        candidates.saturation(),
        endpoints.eligible().length,
        endpoints.eligible().length > 0 && (!candidates.someRoom(now) || someWaitThatMayFill(now)),
        bands);
  }

  /** Whether it waits for room, and not for endpoints that would keep what it asks for. */
  private boolean wantsRoom(Waiting waiting) {
    return !flight(waiting).unkept;
  }

  /**
   * Whether somebody waits from whom no room is held back, and who would go anywhere: then what has
   * room is of another kind than it needs, such as servers that only compute prompts.
   */
  private boolean someWaitThatMayFill(long now) {
    FlowControl all = flow;
    Waiting first = all == null || settings == null ? null : all.mostImportant(wantsRoom);
    return all != null
        && first != null
        && flight(first).facts.subset() == null
        && !first.flow().isOverItsShare(now)
        && !(all.ceiling(first.flow(), candidates.fullness()) < CandidateChoice.FULL);
  }
}
