package io.fairlead.lab.simulator;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.InvalidConfigException;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.lab.simulator.SimulationSpec.Front;
import io.fairlead.lab.simulator.plugins.LabPlugins;
import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.lab.workload.ServedModel;
import io.fairlead.lab.workload.Traffic;
import io.fairlead.stub.engine.EngineProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;

/**
 * One run in virtual time: workload, pickers and engines take turns by the time of what happens to
 * them next. Requests arrive until the run's time is up, and those that did are served to the end.
 * The same spec gives the same result, to the last bit.
 */
public final class Simulation implements SimulatedServer.Answers {

  /** A prompt's head by which a hashing front spreads requests, in blocks: 2,048 tokens. */
  private static final int FRONT_BLOCKS = 128;

  /**
   * Of an engine whose profile has none, when there are adapters: few, so that placement counts.
   */
  private static final int ADAPTER_SLOTS = 4;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MILLI = 1e6;

  private final SimulationSpec spec;
  private final Timeline timeline = new Timeline();
  private final EngineClock clock;
  private final List<SimulatedServer> servers = new ArrayList<>();
  private final List<SimulatedPicker> pickers = new ArrayList<>();
  private final Traffic traffic;
  private final SplittableRandom random;
  private final RunRecorder recorder;
  private final long endOfArrivals;
  private long lastArrival;

  /** Requests that are to come or on their way: while there are any, engines are scraped. */
  private long open;

  private Simulation(SimulationSpec spec) {
    this.spec = spec;
    int size = spec.pool().engines().size();
    clock = new EngineClock(size);
    Set<String> adapters =
        spec.workload().models().stream()
            .filter(ServedModel::adapter)
            .map(ServedModel::name)
            .collect(Collectors.toSet());
    for (int i = 0; i < size; i++) {
      EngineProfile profile = spec.pool().engines().get(i);
      if (!adapters.isEmpty() && profile.adapterSlots() == 0) {
        profile = profile.withAdapterSlots(ADAPTER_SLOTS);
      }
      servers.add(
          new SimulatedServer(i, profile, adapters, spec.settings().labelled(), clock, this));
    }
    for (int i = 0; i < spec.settings().pickers(); i++) {
      pickers.add(new SimulatedPicker(compile(spec), servers));
    }
    random = new SplittableRandom(spec.seed());
    traffic = spec.workload().start(random.nextLong());
    recorder = new RunRecorder(spec);
    endOfArrivals = (long) (spec.settings().seconds() * NANOS_PER_SECOND);
  }

  /**
   * Runs it.
   *
   * @throws IllegalArgumentException if the policy is none; one line per problem
   */
  public static RunResult run(SimulationSpec spec) {
    return new Simulation(spec).run();
  }

  /** What a picker runs under this policy for this workload's models. */
  private static CompiledConfig compile(SimulationSpec spec) {
    List<ModelConfig> models =
        spec.workload().models().stream()
            .map(model -> new ModelConfig(model.name(), model.criticality(), List.of()))
            .toList();
    PoolConfig config =
        new PoolConfig(
            "default",
            "simulated",
            Map.of("app", "simulated"),
            List.of(8000),
            "http",
            models,
            spec.policy().scheduler());
    try {
      return new ConfigCompiler(LabPlugins.factories()).compile(config);
    } catch (InvalidConfigException e) {
      throw new IllegalArgumentException(
          "policy " + spec.policy().name() + ": " + e.getMessage(), e);
    }
  }

  private RunResult run() {
    if (spec.settings().scrapeMillis() > 0) {
      long interval = (long) (spec.settings().scrapeMillis() * NANOS_PER_MILLI);
      for (int i = 0; i < servers.size(); i++) {
        SimulatedServer server = servers.get(i);
        // Scrapes of many endpoints are spread over the interval.
        timeline.at(interval * i / servers.size(), now -> scrape(now, server, interval));
      }
    }
    timeline.at(0, this::look);
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
    for (SimulatedPicker picker : pickers) {
      if (picker.active() != 0) {
        throw new IllegalStateException(
            "a picker still counts " + picker.active() + " requests after all have ended");
      }
    }
    return recorder.result(servers, lastArrival);
  }

  private void scrape(long now, SimulatedServer server, long interval) {
    for (SimulatedPicker picker : pickers) {
      picker.scrape(now, server);
    }
    if (open > 0) {
      timeline.at(now + interval, later -> scrape(later, server, interval));
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
    Flight flight = new Flight(shape, now, pickers.get(front(shape)));
    recorder.arrived(flight);
    SimulatedServer server = flight.picker.place(now, flight, random.nextLong());
    boolean lost = spec.settings().lostHits() > random.nextDouble();
    if (server == null) {
      turnedAway(now, flight);
    } else if (!server.fits(shape)) {
      flight.picker.refused(now, flight);
      turnedAway(now, flight);
    } else {
      server.submit(now, flight, lost ? forgotten(shape) : shape.blocks());
    }
  }

  private void turnedAway(long now, Flight flight) {
    recorder.rejected(now, flight);
    over(now, flight, false);
  }

  private int front(RequestShape shape) {
    if (pickers.size() == 1) {
      return 0;
    }
    int known = Math.min(shape.promptBlocks(), FRONT_BLOCKS);
    if (spec.settings().front() == Front.HASHED && known > 0) {
      return Math.floorMod(shape.blocks()[known - 1], pickers.size());
    }
    return random.nextInt(pickers.size());
  }

  /** The same request with blocks that nobody has. */
  private long[] forgotten(RequestShape shape) {
    return random.longs(shape.blocks().length).toArray();
  }

  @Override
  public void firstToken(long now, Flight flight) {
    recorder.firstToken(flight);
    flight.picker.firstToken(now, flight);
  }

  @Override
  public void finished(long now, Flight flight) {
    recorder.finished(now, flight);
    flight.picker.finished(now, flight);
    over(now, flight, true);
  }

  private void over(long now, Flight flight, boolean served) {
    open--;
    traffic.ended(now, flight.shape, served, this::follow);
  }
}
