package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.lab.simulator.SimulationSpec.Settings;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.EngineListener;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.EngineRequest;
import io.fairlead.stub.engine.SchedulerStats;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One endpoint: an engine, the requests that it has, and what is wrong with it. */
final class SimulatedServer implements EngineListener {

  /** The name of a flight that no engine has. */
  static final int NOWHERE = -1;

  /**
   * Of an engine whose profile has none, when there are adapters: few, so that placement counts.
   */
  private static final int ADAPTER_SLOTS = 4;

  /** What it calls the model that adapters are added to: no request's model. */
  private static final String BASE_MODEL = "base";

  private final int number;
  private final EndpointSpec spec;
  private final EngineProfile profile;
  private final Site site;

  /** Until when it sends or takes a prompt that was computed. */
  private long linkBusyUntil;

  private final Set<String> adapters;

  private final Engine engine;
  private final EngineTime time = new EngineTime();
  private final ServerCondition condition = new ServerCondition();
  private final EngineClock clock;
  private final Answers answers;

  private final @Nullable CacheListener caches;

  /** What has happened to its cache in the event under way; nothing where nobody is told. */
  private List<CacheEvent> ofCache = new ArrayList<>();

  /** By the engine's name for them: a place in this list, free ones being null. */
  private final List<@Nullable Flight> flights = new ArrayList<>();

  private final ArrayList<Integer> free = new ArrayList<>();
  private int inFlight;
  private long mostInQueue;

  /** The time of the run at which something is happening, and the engine's own. */
  private long now;

  private long engineNow;

  /** When its process started, in seconds of the run. */
  private double startedAt;

  /** Tokens that earlier processes computed. */
  private long computedBefore;

  /** How long its first completion is held up from now on; 0 when it has had one. */
  private long firstHeldUpNanos;

  /** Counts its comings and goings: a look at it belongs to one stay. */
  private int stays;

  /** Tokens put out when {@link #moved} was last asked. */
  private long seenOutput;

  /** Who is told what the engine does. */
  interface Answers {

    void firstToken(long now, Flight flight);

    void finished(long now, Flight flight);

    /** Its prompt is computed for another server. */
    void prefilled(long now, Flight flight);
  }

  /** Who is told what happens to its cache. */
  interface CacheListener {

    void cacheTold(long now, SimulatedServer server, List<CacheEvent> events);
  }

  /**
   * A server as it is when it comes.
   *
   * @param adapters names of the models that are LoRA adapters
   * @param caches who is told what happens to its cache; null for nobody
   */
  SimulatedServer(
      int number,
      Member member,
      Set<String> adapters,
      Settings settings,
      long noiseSeed,
      EngineClock clock,
      Answers answers,
      @Nullable CacheListener caches) {
    this.number = number;
    this.adapters = adapters;
    this.clock = clock;
    this.answers = answers;
    this.caches = caches;
    site = member.site();
    profile =
        adapters.isEmpty() || member.engine().adapterSlots() > 0
            ? member.engine()
            : member.engine().withAdapterSlots(ADAPTER_SLOTS);
    firstHeldUpNanos = Timeline.nanos(member.firstRequestSeconds());
    engine = new Engine(profile, settings.imperfection(), noiseSeed, this);
    Map<String, String> labels = site.labels();
    if (settings.labelled()) {
      labels.put("fairlead.io/accelerator", profile.name());
    }
    spec = new EndpointSpec("server-" + number, "1", "10.0.0.1", 1_024 + number, labels);
  }

  int number() {
    return number;
  }

  EndpointSpec spec() {
    return spec;
  }

  int inFlight() {
    return inFlight;
  }

  /** Most requests that waited in its engine at a step's end. */
  long mostInQueue() {
    return mostInQueue;
  }

  Engine engine() {
    return engine;
  }

  ServerCondition condition() {
    return condition;
  }

  int stays() {
    return stays;
  }

  /** It has come or gone. */
  void nextStay() {
    stays++;
  }

  /** How long the completion that has come is held up, being the first; ns. */
  long firstHeldUp() {
    long heldUp = firstHeldUpNanos;
    firstHeldUpNanos = 0;
    return heldUp;
  }

  /** Whether it can ever serve this. */
  boolean fits(RequestShape shape) {
    return engine.fits(shape.promptTokens(), shape.outputTokens());
  }

  Site site() {
    return site;
  }

  /**
   * Another server sends it so many tokens of a prompt, when both have nothing else to send or
   * take.
   *
   * @return when they are here
   */
  long transfer(long now, SimulatedServer from, int tokens, KvLink link) {
    long begin = Math.max(now, Math.max(linkBusyUntil, from.linkBusyUntil));
    long end = begin + link.nanos(tokens, site.rack().equals(from.site.rack()));
    linkBusyUntil = end;
    from.linkBusyUntil = end;
    return end;
  }

  /** Takes a request, or its prompt to compute for another server. */
  void submit(long now, Flight flight) {
    int id;
    if (free.isEmpty()) {
      id = flights.size();
      flights.add(flight);
    } else {
      id = free.removeLast();
      flights.set(id, flight);
    }
    flight.id = id;
    inFlight++;
    RequestShape shape = flight.shape;
    int output = flight.prefiller == this ? 1 : shape.outputTokens();
    EngineRequest request =
        new EngineRequest(id, flight.blocks, shape.promptTokens(), output)
            .withTransferredTokens(flight.transferred);
    engine.submit(
        enter(now),
        adapters.contains(shape.model()) ? request.withAdapter(shape.model()) : request);
    leave();
  }

  /** Its next event happens. */
  void advance(long now) {
    enter(now);
    engineNow = Math.max(engineNow, engine.nextEventNanos());
    engine.advance(engineNow);
    leave();
  }

  /** Whoever sent the request does not wait for it any more. */
  void cancel(long now, Flight flight) {
    // The request's last token may be due by now: then it ends as answered, before it is cancelled.
    engine.advance(enter(now));
    if (flight.id != NOWHERE) {
      int id = flight.id;
      forget(flight);
      engine.cancel(engineNow, id);
    }
    leave();
  }

  /** All its connections end; returns whose requests are lost. */
  List<Flight> drop(long now) {
    List<Flight> lost = new ArrayList<>();
    engine.advance(enter(now));
    for (int id = 0; id < flights.size(); id++) {
      Flight flight = flights.get(id);
      if (flight != null) {
        cancel(now, flight);
        lost.add(flight);
      }
    }
    return lost;
  }

  /** Another process takes its place. */
  void restart(long now) {
    engine.restart(enter(now));
    leave();
    startedAt = now / 1e9;
    computedBefore = computed(engine.published());
  }

  /** What its engine has cached is lost. */
  void resetCache(long now) {
    engine.resetCache(enter(now));
    leave();
  }

  /** Brings its engine's pace in line with what is wrong with it. */
  void adapt(long now) {
    enter(now);
    engine.advance(engineNow);
    time.pace(now, engineNow, condition.slowness(), condition.stopped());
    leave();
  }

  private long enter(long now) {
    this.now = now;
    engineNow = Math.max(engineNow, time.at(now));
    return engineNow;
  }

  private void leave() {
    mostInQueue = Math.max(mostInQueue, engine.publishedWaiting());
    clock.set(number, time.when(engine.nextEventNanos()));
    if (caches != null && !ofCache.isEmpty()) {
      caches.cacheTold(now, this, ofCache);
      ofCache = new ArrayList<>();
    }
  }

  private void forget(Flight flight) {
    flights.set(flight.id, null);
    free.add(flight.id);
    flight.id = NOWHERE;
    inFlight--;
  }

  /** Requests whose answers have begun to come out, if any has come further since last asked. */
  List<Flight> moved() {
    long output = engine.outputTokens();
    if (output == seenOutput) {
      return List.of();
    }
    seenOutput = output;
    List<Flight> moved = new ArrayList<>(inFlight);
    for (int id = 0; id < flights.size(); id++) {
      Flight flight = flights.get(id);
      if (flight != null && flight.answered) {
        moved.add(flight);
      }
    }
    return moved;
  }

  private static long computed(SchedulerStats published) {
    return published.promptTokens() + published.outputTokens();
  }

  /** What a scrape of it shows. */
  EndpointMetrics metrics() {
    SchedulerStats published = engine.published();
    return new EndpointMetrics(
        published.waiting(),
        published.running(),
        (double) published.usedBlocks() / engine.blocks(),
        profile.blockTokens(),
        engine.blocks(),
        BASE_MODEL,
        profile.adapterSlots() == 0 ? -1 : profile.adapterSlots(),
        published.runningAdapters(),
        // vLLM's list of those that wait is always that of those that run.
        published.runningAdapters(),
        Map.of(),
        startedAt,
        computed(published) - computedBefore);
  }

  private Flight flight(long id) {
    Flight flight = flights.get((int) id);
    if (flight == null) {
      throw new IllegalStateException("server " + number + " knows no request " + id);
    }
    return flight;
  }

  /** A time of the engine's by the run's clock. */
  private long runTime(long engineTime) {
    return Math.min(now, time.when(engineTime));
  }

  @Override
  public boolean everyBlock() {
    return caches != null;
  }

  @Override
  public void stored(EngineRequest request, int from, int to) {
    if (caches != null) {
      long[] identities = request.blocks();
      ofCache.add(
          new CacheEvent.Stored(
              Arrays.copyOfRange(identities, from, to),
              from > 0,
              from > 0 ? identities[from - 1] : 0,
              RequestShape.tokens(identities, from, to, profile.blockTokens()),
              profile.blockTokens(),
              request.adapter(),
              false));
    }
  }

  @Override
  public void removed(long identity) {
    if (caches != null) {
      ofCache.add(new CacheEvent.Removed(new long[] {identity}));
    }
  }

  @Override
  public void cleared() {
    if (caches != null) {
      ofCache.add(new CacheEvent.Cleared());
    }
  }

  @Override
  public void firstToken(long id, int cachedTokens, long time) {
    Flight flight = flight(id);
    if (flight.transferred == 0) {
      flight.cachedTokens = cachedTokens; // of whoever computes the prompt
    }
    if (flight.prefiller != this) {
      flight.firstTokenAt = runTime(time);
      answers.firstToken(flight.firstTokenAt, flight);
    }
  }

  @Override
  public void finished(long id, long time) {
    Flight flight = flight(id);
    forget(flight);
    if (flight.prefiller == this) {
      answers.prefilled(runTime(time), flight);
    } else {
      answers.finished(runTime(time), flight);
    }
  }
}
