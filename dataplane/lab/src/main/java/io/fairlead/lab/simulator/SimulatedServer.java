package io.fairlead.lab.simulator;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.lab.workload.RequestShape;
import io.fairlead.stub.engine.Engine;
import io.fairlead.stub.engine.EngineListener;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.engine.EngineRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One endpoint: an engine, and the requests that it has. */
final class SimulatedServer implements EngineListener {

  /** What it calls the model that adapters are added to: no request's model. */
  private static final String BASE_MODEL = "base";

  private final int number;
  private final EndpointSpec spec;
  private final EngineProfile profile;

  /** Names of the models that are LoRA adapters. */
  private final Set<String> adapters;

  private final Engine engine;
  private final EngineClock clock;
  private final Answers answers;

  /** By the engine's name for them: a place in this list, free ones being null. */
  private final List<@Nullable Flight> flights = new ArrayList<>();

  private final ArrayList<Integer> free = new ArrayList<>();
  private int inFlight;

  /** Who is told what the engine does. */
  interface Answers {

    void firstToken(long now, Flight flight);

    void finished(long now, Flight flight);
  }

  SimulatedServer(
      int number,
      EngineProfile profile,
      Set<String> adapters,
      boolean labelled,
      EngineClock clock,
      Answers answers) {
    this.number = number;
    this.adapters = adapters;
    this.profile = profile;
    this.clock = clock;
    this.answers = answers;
    engine = new Engine(profile, this);
    Map<String, String> labels =
        labelled ? Map.of("fairlead.io/accelerator", profile.name()) : Map.of();
    spec = new EndpointSpec("server-" + number, "1", "10.0.0.1", 1_024 + number, labels);
  }

  EndpointSpec spec() {
    return spec;
  }

  int inFlight() {
    return inFlight;
  }

  Engine engine() {
    return engine;
  }

  /** Whether it can ever serve this. */
  boolean fits(RequestShape shape) {
    return engine.fits(shape.promptTokens(), shape.outputTokens());
  }

  /**
   * Takes a request.
   *
   * @param blocks what its blocks are known as here
   */
  void submit(long now, Flight flight, long[] blocks) {
    int id;
    if (free.isEmpty()) {
      id = flights.size();
      flights.add(flight);
    } else {
      id = free.removeLast();
      flights.set(id, flight);
    }
    inFlight++;
    RequestShape shape = flight.shape;
    EngineRequest request =
        new EngineRequest(id, blocks, shape.promptTokens(), shape.outputTokens());
    engine.submit(
        now, adapters.contains(shape.model()) ? request.withAdapter(shape.model()) : request);
    clock.set(number, engine.nextEventNanos());
  }

  /** Its next event happens. */
  void advance(long now) {
    engine.advance(now);
    clock.set(number, engine.nextEventNanos());
  }

  /** What a scrape of it shows. */
  EndpointMetrics metrics() {
    return new EndpointMetrics(
        engine.waiting(),
        engine.running(),
        engine.kvUsage(),
        profile.blockTokens(),
        engine.blocks(),
        BASE_MODEL,
        profile.adapterSlots() == 0 ? -1 : profile.adapterSlots(),
        engine.runningAdapters(),
        engine.waitingAdapters(),
        Map.of());
  }

  private Flight flight(long id) {
    Flight flight = flights.get((int) id);
    if (flight == null) {
      throw new IllegalStateException("server " + number + " knows no request " + id);
    }
    return flight;
  }

  @Override
  public void firstToken(long id, int cachedTokens, long time) {
    Flight flight = flight(id);
    flight.firstTokenAt = time;
    flight.cachedTokens = cachedTokens;
    answers.firstToken(time, flight);
  }

  @Override
  public void finished(long id, long time) {
    Flight flight = flight(id);
    flights.set((int) id, null);
    free.add((int) id);
    inFlight--;
    answers.finished(time, flight);
  }
}
