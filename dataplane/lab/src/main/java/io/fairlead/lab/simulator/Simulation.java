package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Follower;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Probe;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.lab.peers.Peers;
import io.fairlead.lab.simulator.Membership.Change;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.lab.simulator.ServerCondition.Answer;
import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.stub.engine.EngineProfile;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One run in virtual time. Workload, pickers and engines take turns: whichever has the earliest
 * next event goes on. Requests arrive until the run's time is up, and those that arrived are served
 * to the end. The same spec gives the same result, to the last bit.
 */
public final class Simulation implements SimulatedServer.Answers, SimulatedPicker.Effects {

  /** A prompt's head by which a hashing front spreads requests, in blocks: 2,048 tokens. */
  private static final int FRONT_BLOCKS = 128;

  /**
   * Of an engine whose profile has none, when there are adapters: few, so that placement counts.
   */
  private static final int ADAPTER_SLOTS = 4;

  /** How often pickers are told that time has moved on. */
  private static final long TICK_NANOS = 100_000_000;

  /** What an engine tells of its cache is with the pickers so much later. */
  private static final long EVENT_NANOS = 1_000_000;

  private static final int SERVER_ERRORS = 500;

  /** Tells the noise of engines apart from all others. */
  private static final long NOISE_SEED = 0x2015_e5ee_d5edL;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;

  private final SimulationSpec spec;
  private final Timeline timeline = new Timeline();
  private final EngineClock clock;
  private final List<SimulatedServer> servers = new ArrayList<>();
  private final Map<String, SimulatedServer> byName = new HashMap<>();

  /** By address and port. */
  private final Map<String, SimulatedServer> byAddress = new HashMap<>();

  /** Requests whose prompts are computed elsewhere than where they were sent, or on their way. */
  private final Set<Flight> inTwoPlaces = new LinkedHashSet<>();

  private final Membership membership;

  /** Whether each server is one of the pool's now. */
  private final BitSet there = new BitSet();

  /** Pickers by their numbers; null for one that is being restarted. */
  private final List<@Nullable SimulatedPicker> pickers = new ArrayList<>();

  /** Of each picker, how many restarts keep it away. */
  private final int[] restarting;

  /** Pickers that get requests, in the order of their numbers. */
  private List<SimulatedPicker> current = List.of();

  /** Those, and those before them that still have requests. */
  private final List<SimulatedPicker> processes = new ArrayList<>();

  private long lastPicker;

  private final Traffic traffic;
  private final SplittableRandom random;
  private final Senses senses;
  private final RunRecorder recorder;
  private final long endOfArrivals;
  private long lastArrival;

  /** Requests that are to come or on their way: while there are any, engines are scraped. */
  private long open;

  private final List<ShadowConfig> shadows;

  private Simulation(SimulationSpec spec, List<Policy> shadows) {
    this.spec = spec;
    this.shadows =
        shadows.stream()
            .map(policy -> new ShadowConfig(policy.name(), policy.scheduler()))
            .toList();
    membership = Membership.of(spec.pool(), spec.events());
    int size = membership.members().size();
    clock = new EngineClock(size);
    Set<String> adapters =
        spec.workload().models().stream()
            .filter(ServedModel::adapter)
            .map(ServedModel::name)
            .collect(Collectors.toSet());
    boolean tells = compile().kvEvents() != null;
    SplittableRandom noise = new SplittableRandom(spec.seed() ^ NOISE_SEED);
    for (int i = 0; i < size; i++) {
      Member member = membership.members().get(i);
      EngineProfile profile = member.engine();
      if (!adapters.isEmpty() && profile.adapterSlots() == 0) {
        profile = profile.withAdapterSlots(ADAPTER_SLOTS);
      }
      servers.add(
          new SimulatedServer(
              i,
              profile,
              member.site(),
              adapters,
              spec.settings().labelled(),
              (long) (member.firstRequestSeconds() * NANOS_PER_SECOND),
              spec.settings().imperfection(),
              noise.nextLong(),
              tells,
              clock,
              this));
    }
    for (SimulatedServer server : servers) {
      EndpointSpec endpoint = server.spec();
      byName.put(endpoint.name(), server);
      byAddress.put(Route.destination(endpoint.address(), endpoint.port()), server);
    }
    there.set(0, spec.pool().engines().size());
    senses = new Senses(spec.settings().perception(), spec.seed());
    restarting = new int[spec.settings().pickers()];
    for (int i = 0; i < spec.settings().pickers(); i++) {
      pickers.add(start(0));
    }
    pickersChanged();
    random = new SplittableRandom(spec.seed());
    traffic = spec.workload().start(random.nextLong());
    recorder = new RunRecorder(spec);
    endOfArrivals = (long) (spec.settings().seconds() * NANOS_PER_SECOND);
  }

  /**
   * Checks that it can be run.
   *
   * @throws IllegalArgumentException if it can't; one line per problem
   */
  static void check(SimulationSpec spec) {
    var _ = new Simulation(spec, List.of());
  }

  /**
   * Runs it.
   *
   * @throws IllegalArgumentException if the policy is none; one line per problem
   */
  public static RunResult run(SimulationSpec spec) {
    return new Simulation(spec, List.of()).run();
  }

  /**
   * Runs it with other policies as shadows of its first picker: what they would have done beside
   * what was done.
   *
   * @param shadows by their names, as many as a pool may have
   * @throws IllegalArgumentException if a policy is none; one line per problem
   */
  public static ShadowedRun run(SimulationSpec spec, List<Policy> shadows) {
    Simulation simulation = new Simulation(spec, shadows);
    SimulatedPicker first = simulation.current.getFirst();
    return new ShadowedRun(simulation.run(), first.shadows());
  }

  /**
   * Runs it, and tells how well the pickers knew the caches.
   *
   * @throws IllegalArgumentException if the policy is none; one line per problem
   */
  public static BelievedRun believed(SimulationSpec spec) {
    Simulation simulation = new Simulation(spec, List.of());
    return new BelievedRun(simulation.run(), simulation.recorder.beliefs());
  }

  /** What a picker runs under this policy for this workload's models. */
  private CompiledConfig compile() {
    List<ModelConfig> models =
        spec.workload().models().stream()
            .map(
                model ->
                    new ModelConfig(
                        model.name(),
                        model.criticality(),
                        List.of(),
                        TimeoutsConfig.UNSET,
                        ModelQueueConfig.DEFAULT,
                        model.latency()))
            .toList();
    PoolConfig config =
        new PoolConfig(
                "default",
                "simulated",
                Map.of("app", "simulated"),
                List.of(8000),
                "http",
                models,
                spec.policy().scheduler())
            .withShadows(shadows);
    try {
      return new ConfigCompiler(
              Peers.factories(
                  spec.pool().engines(),
                  membership.members().stream().map(Member::engine).toList(),
                  name -> there.get(Objects.requireNonNull(byName.get(name)).number())))
          .compile(config);
    } catch (InvalidConfigException e) {
      throw new IllegalArgumentException(
          "policy " + spec.policy().name() + ": " + e.getMessage(), e);
    }
  }

  private SimulatedPicker start(long now) {
    SimulatedPicker picker =
        new SimulatedPicker(
            ++lastPicker, compile(), now, members(), spec.settings().client(), senses, this);
    processes.add(picker);
    return picker;
  }

  private List<SimulatedServer> members() {
    return there.stream().mapToObj(servers::get).toList();
  }

  /** All pickers learn how many they are. */
  private void pickersChanged() {
    current = pickers.stream().filter(Objects::nonNull).toList();
    current.forEach(picker -> picker.replicas(current.size()));
  }

  /** Those are gone that get no requests any more, and have none. */
  private void letGo(long now) {
    List<SimulatedPicker> gone =
        processes.stream()
            .filter(picker -> !current.contains(picker) && picker.active() == 0)
            .toList();
    processes.removeAll(gone);
    gone.forEach(picker -> processes.forEach(other -> other.hearsNoMore(now, picker)));
  }

  private RunResult run() {
    if (spec.settings().scrapeMillis() > 0) {
      int size = there.cardinality();
      for (int i = 0; i < size; i++) {
        // Scrapes of many endpoints are spread over the interval.
        scrapes(scrapeNanos() * i / size, servers.get(i));
      }
    }
    timeline.at(0, this::look);
    timeline.at(TICK_NANOS, this::tick);
    if (spec.settings().following()) {
      timeline.at(Follower.TOLD_EVERY_NANOS, this::hear);
    }
    membership
        .changes()
        .forEach(change -> timeline.at(nanos(change.at()), now -> change(now, change)));
    spec.events().forEach(this::schedule);
    pull();
    while (true) {
      long next = timeline.next();
      long engine = clock.earliest();
      if (engine <= next && engine != Timeline.NEVER) {
        servers.get(clock.first()).advance(engine);
      } else if (next != Timeline.NEVER) {
        timeline.step();
      } else {
        return result();
      }
    }
  }

  private RunResult result() {
    for (SimulatedPicker picker : processes) {
      if (picker.active() != 0) {
        throw new IllegalStateException(
            "a picker still counts " + picker.active() + " requests after all have ended");
      }
    }
    return recorder.result(servers, lastArrival);
  }

  private long scrapeNanos() {
    return (long) (spec.settings().scrapeMillis() * NANOS_PER_MILLI);
  }

  private static long nanos(double seconds) {
    return (long) (seconds * NANOS_PER_SECOND);
  }

  /** The server is scraped from this time on, until it leaves. */
  private void scrapes(long from, SimulatedServer server) {
    int stay = server.stays();
    timeline.at(from, now -> scrape(now, server, stay));
  }

  private void scrape(long now, SimulatedServer server, int stay) {
    if (server.stays() != stay) {
      return;
    }
    long next = now + scrapeNanos();
    switch (server.condition().scrape()) {
      case Answer.Served _ -> {
        long after = senses.pageNanos();
        EndpointMetrics page = server.metrics();
        at(
            now,
            now + after,
            later -> processes.forEach(picker -> picker.scraped(later, server, now, page)));
        next = Math.max(next, now + after);
      }
      case Answer.Failed(Failure failure, long after) -> {
        timeline.at(
            now + after,
            later -> processes.forEach(picker -> picker.unreachable(later, server, now, failure)));
        // A page is asked for when the one before it has come, or is given up.
        next = Math.max(next, now + after);
      }
    }
    if (open > 0) {
      timeline.at(next, later -> scrape(later, server, stay));
    }
  }

  /** At once, if it is time: what is to come comes after all that happens now. */
  private void at(long now, long time, Timeline.Event event) {
    if (time <= now) {
      event.happen(now);
    } else {
      timeline.at(time, event);
    }
  }

  private void tick(long now) {
    for (SimulatedServer server : servers) {
      for (Flight flight : server.moved()) {
        flight.picker.progress(now, flight);
      }
    }
    for (SimulatedPicker picker : processes) {
      picker.tick(now);
    }
    if (processes.size() > current.size()) {
      letGo(now);
    }
    if (open > 0) {
      timeline.at(now + TICK_NANOS, this::tick);
    }
  }

  /** Each picker hears what the others have sent. */
  private void hear(long now) {
    for (SimulatedPicker picker : current) {
      for (SimulatedPicker other : processes) {
        if (other != picker) {
          picker.hear(now, other);
        }
      }
    }
    if (open > 0) {
      timeline.at(now + Follower.TOLD_EVERY_NANOS, this::hear);
    }
  }

  /** Somebody comes or goes. */
  private void change(long now, Change change) {
    SimulatedServer server = servers.get(change.server());
    there.set(change.server(), change.there());
    server.nextStay();
    List<SimulatedServer> members = members();
    processes.forEach(picker -> picker.endpoints(now, members));
    if (change.there() && spec.settings().scrapeMillis() > 0 && open > 0) {
      scrapes(now, server);
    }
  }

  private void schedule(ScenarioEvent event) {
    switch (event) {
      case ServerEvent of -> {
        SimulatedServer server = servers.get(of.server());
        timeline.at(nanos(of.at()), now -> begin(now, server, of));
        if (of.kind().lasts() && Double.isFinite(of.end())) {
          timeline.at(nanos(of.end()), now -> end(now, server, of));
        }
      }
      case PickerRestart restart -> {
        timeline.at(nanos(restart.at()), _ -> retire(restart.picker()));
        if (Double.isFinite(restart.end())) {
          timeline.at(nanos(restart.end()), now -> replace(now, restart.picker()));
        }
      }
      case ServersJoin _, PoolScale _ -> {}
    }
  }

  private void retire(int number) {
    restarting[number]++;
    pickers.set(number, null);
    recorder.pickerLeft(number);
    pickersChanged();
  }

  private void replace(long now, int number) {
    restarting[number]--;
    if (restarting[number] == 0) {
      pickers.set(number, start(now));
      pickersChanged();
    }
  }

  private void begin(long now, SimulatedServer server, ServerEvent event) {
    if (event.kind().lasts()) {
      server.condition().begin(event);
      server.adapt(now);
    }
    switch (event.kind()) {
      case REFUSE -> drop(now, server);
      case RESTART -> {
        drop(now, server);
        server.restart(now);
      }
      case RESET_CACHE -> server.resetCache(now);
      case SWALLOW,
          FAIL_FAST,
          FAIL_LATE,
          FREEZE,
          FREEZE_LIVE,
          SLOW,
          DRAIN,
          METRICS_GONE,
          UNHEALTHY,
          LEAVE -> {}
    }
  }

  private void end(long now, SimulatedServer server, ServerEvent event) {
    server.condition().end(event);
    if (event.kind() == ServerEvent.Kind.SWALLOW) {
      drop(now, server);
    }
    server.adapt(now);
  }

  /** The server's connections end. */
  private void drop(long now, SimulatedServer server) {
    for (Flight flight : server.drop(now)) {
      lost(now, flight);
    }
    for (Flight flight : List.copyOf(inTwoPlaces)) {
      if (flight.server == server) {
        abandon(now, flight);
        lost(now, flight);
      }
    }
  }

  private void lost(long now, Flight flight) {
    if (flight.answered) {
      fail(now, flight);
    } else {
      // A first token on its way is lost with its connection.
      abandon(now, flight);
      flight.picker.attemptFailed(now, flight, Failure.DIED);
    }
  }

  private void look(long now) {
    recorder.look(servers);
    if (now + recorder.lookNanos() < endOfArrivals && open > 0) {
      timeline.at(now + recorder.lookNanos(), this::look);
    }
  }

  /** The next arrival that waits for nobody; the one after it is pulled when it has come. */
  private void pull() {
    Arrival next = traffic.next();
    if (next != null && next.atNanos() < endOfArrivals) {
      open++;
      timeline.at(
          next.atNanos(),
          now -> {
            pull();
            arrive(now, next.request());
          });
    }
  }

  private void follow(Arrival next) {
    if (next.atNanos() < endOfArrivals) {
      open++;
      timeline.at(next.atNanos(), now -> arrive(now, next.request()));
    }
  }

  private void arrive(long now, RequestShape shape) {
    lastArrival = now;
    SimulatedPicker picker = current.get(front(shape));
    long seed = random.nextLong();
    boolean lost = spec.settings().lostHits() > random.nextDouble();
    Flight flight =
        new Flight(
            shape, now, picker, senses.streams(shape), lost ? forgotten(shape) : shape.blocks());
    recorder.arrived(flight);
    picker.arrive(now, flight, seed);
  }

  @Override
  public void carryOut(long now, SimulatedPicker picker, Effect effect) {
    switch (effect) {
      case Effect.Send(Flight flight, String endpoint, String prefiller) ->
          send(
              now,
              flight,
              Objects.requireNonNull(byName.get(endpoint)),
              prefiller.isEmpty() ? null : Objects.requireNonNull(byAddress.get(prefiller)));
      case Effect.Pass(Flight flight) -> fail(now, flight);
      case Effect.Reject(Flight flight, Rejection rejection) -> reject(now, flight, rejection);
      case Effect.Evict(Flight flight) -> evict(now, flight);
      case Effect.Ask(Probe probe) -> ask(now, picker, probe);
      case Effect.Changed(HealthChange change) -> healthChanged(pickers.indexOf(picker), change);
    }
  }

  private void healthChanged(int picker, HealthChange change) {
    if (picker >= 0) {
      recorder.healthChanged(picker, change);
    }
  }

  private void send(
      long now, Flight flight, SimulatedServer server, @Nullable SimulatedServer prefiller) {
    abandon(now, flight);
    if (flight.over) {
      return;
    }
    int attempt = ++flight.attempts;
    flight.server = server;
    flight.prefiller = prefiller;
    flight.transferred = 0;
    if (prefiller != null) {
      inTwoPlaces.add(flight);
    }
    recorder.sent(now, server.number());
    Timeline.Event reaches =
        later -> {
          if (flight.isAt(server, attempt)) {
            reach(later, flight, server, attempt);
          }
        };
    if (flight.waited) {
      // What made room may be this very server's step, which has to end first.
      timeline.at(now + senses.jitterNanos(), reaches);
    } else {
      at(now, now + senses.jitterNanos(), reaches);
    }
  }

  private void reach(long now, Flight flight, SimulatedServer server, int attempt) {
    long heldUp = server.firstHeldUp();
    if (heldUp > 0) {
      timeline.at(
          now + heldUp,
          later -> {
            if (flight.isAt(server, attempt)) {
              reach(later, flight, server, attempt);
            }
          });
      return;
    }
    if (!server.fits(flight.shape)) {
      flight.picker.refused(now, flight);
      turnedAway(now, flight);
      return;
    }
    switch (server.condition().completion()) {
      case Answer.Served _ -> {
        SimulatedServer prefiller = flight.prefiller;
        if (prefiller == null) {
          server.submit(now, flight);
        } else {
          havePrefilled(now, flight, prefiller);
        }
      }
      case Answer.Failed(Failure failure, long after) ->
          timeline.at(
              now + after,
              later -> {
                if (!flight.over && flight.attempts == attempt) {
                  flight.picker.attemptFailed(later, flight, failure);
                }
              });
    }
  }

  /** The server that was to answer has the other compute the prompt, as its sidecar does. */
  private void havePrefilled(long now, Flight flight, SimulatedServer prefiller) {
    int attempt = flight.attempts;
    switch (prefiller.condition().completion()) {
      case Answer.Served _ -> prefiller.submit(now, flight);
      case Answer.Failed(_, long after) ->
          timeline.at(
              now + after,
              later -> {
                if (!flight.over && flight.attempts == attempt) {
                  // The sidecar answers for whom it can't reach.
                  flight.picker.attemptFailed(later, flight, Failure.UNAVAILABLE);
                }
              });
    }
  }

  @Override
  public void prefilled(long now, Flight flight) {
    SimulatedServer server = Objects.requireNonNull(flight.server);
    SimulatedServer from = Objects.requireNonNull(flight.prefiller);
    int attempt = flight.attempts;
    RequestShape shape = flight.shape;
    int held = server.engine().heldTokens(flight.blocks, shape.promptTokens());
    long there = server.transfer(now, from, shape.promptTokens() - held, spec.pool().link());
    flight.prefiller = null;
    flight.transferred = shape.promptTokens();
    timeline.at(
        there,
        later -> {
          if (flight.isAt(server, attempt)) {
            inTwoPlaces.remove(flight);
            reach(later, flight, server, attempt);
          }
        });
  }

  /** Nobody waits any more for whom it was sent to. */
  private void abandon(long now, Flight flight) {
    SimulatedServer holder = flight.holder();
    if (holder != null) {
      inTwoPlaces.remove(flight);
      holder.cancel(now, flight);
      flight.server = null;
      flight.prefiller = null;
    }
  }

  private void ask(long now, SimulatedPicker picker, Probe probe) {
    SimulatedServer server = Objects.requireNonNull(byName.get(probe.endpoint().name()));
    switch (server.condition().probe(!probe.model().isEmpty(), probe.timeoutNanos())) {
      case Answer.Served(long after) ->
          timeline.at(now + after, later -> picker.probed(later, probe));
      case Answer.Failed(Failure failure, long after) ->
          timeline.at(now + after, later -> picker.probeFailed(later, probe, failure));
    }
  }

  private void reject(long now, Flight flight, Rejection rejection) {
    abandon(now, flight);
    if (flight.over) {
      return;
    }
    if (rejection.reason().status() < SERVER_ERRORS) {
      turnedAway(now, flight);
    } else {
      recorder.failed(now, flight);
      over(now, flight, false);
    }
  }

  private void evict(long now, Flight flight) {
    if (!flight.over && !flight.answered) {
      abandon(now, flight);
      flight.over = true;
      flight.picker.gaveUp(now, flight);
      turnedAway(now, flight);
    }
  }

  /** The client gets a failure, or half an answer. */
  private void fail(long now, Flight flight) {
    flight.server = null;
    if (!flight.over) {
      recorder.failed(now, flight);
      flight.over = true;
      flight.picker.failed(now, flight);
      over(now, flight, false);
    }
  }

  private void turnedAway(long now, Flight flight) {
    recorder.rejected(now, flight);
    over(now, flight, false);
  }

  private int front(RequestShape shape) {
    if (current.size() == 1) {
      return 0;
    }
    int known = Math.min(shape.promptBlocks(), FRONT_BLOCKS);
    if (spec.settings().front() == Front.HASHED && known > 0) {
      return Math.floorMod(shape.blocks()[known - 1], current.size());
    }
    return random.nextInt(current.size());
  }

  /** The same request with blocks that nobody has. */
  private long[] forgotten(RequestShape shape) {
    return random.longs(shape.blocks().length).toArray();
  }

  @Override
  public void firstToken(long now, Flight flight) {
    if (!flight.streamed) {
      return;
    }
    SimulatedServer server = flight.server;
    int attempt = flight.attempts;
    flight.firstTokenAt = now + senses.jitterNanos();
    at(
        now,
        flight.firstTokenAt,
        later -> {
          if (flight.isAt(server, attempt)) {
            firstByte(later, flight);
          }
        });
  }

  private void firstByte(long now, Flight flight) {
    flight.answered = true;
    recorder.firstToken(flight);
    flight.picker.firstByte(now, flight);
  }

  @Override
  public void cacheTold(long now, SimulatedServer server, List<CacheEvent> events) {
    timeline.at(
        now + EVENT_NANOS,
        later -> current.forEach(picker -> picker.cacheTold(later, server, events)));
  }

  @Override
  public void finished(long now, Flight flight) {
    SimulatedServer server = flight.server;
    int attempt = flight.attempts;
    long end = now + senses.jitterNanos();
    at(
        now,
        // The end of a stream does not overtake its beginning.
        flight.streamed ? Math.max(end, flight.firstTokenAt) : end,
        later -> {
          if (flight.isAt(server, attempt)) {
            end(later, flight);
          }
        });
  }

  /** The last of an answer is there. */
  private void end(long now, Flight flight) {
    if (!flight.streamed) {
      flight.firstTokenAt = now;
      firstByte(now, flight);
    }
    flight.server = null;
    flight.over = true;
    recorder.finished(now, flight);
    flight.picker.finished(now, flight);
    over(now, flight, true);
  }

  private void over(long now, Flight flight, boolean served) {
    flight.over = true;
    flight.server = null;
    flight.prefiller = null;
    inTwoPlaces.remove(flight);
    open--;
    traffic.ended(now, flight.shape, served, this::follow);
  }
}
