package io.fairlead.lab.simulator;

import io.fairlead.core.Failure;
import io.fairlead.core.Follower;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Probe;
import io.fairlead.core.Rejection;
import io.fairlead.core.prefix.CacheEvent;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.lab.simulator.ServerCondition.Answer;
import java.util.List;

/**
 * One run in virtual time. Workload, pickers and engines take turns: whichever has the earliest
 * next event goes on. Requests arrive until the run's time is up, and those that arrived are served
 * to the end. The same spec gives the same result, to the last bit.
 */
public final class Simulation implements SimulatedPicker.Effects {

  /** How often pickers are told that time has moved on. */
  private static final long TICK_NANOS = 100_000_000;

  /** What an engine tells of its cache is with the pickers so much later. */
  private static final long EVENT_NANOS = 1_000_000;

  private final SimulationSpec spec;
  private final Membership membership;
  private final Timeline timeline = new Timeline();
  private final EngineClock clock;
  private final SimulatedPool pool;
  private final PickerReplicas pickers;
  private final ArrivingRequests requests;
  private final Flights flights;
  private final Scrapes scrapes;
  private final RunRecorder recorder;

  private Simulation(SimulationSpec spec, List<Policy> shadows) {
    this.spec = spec;
    membership = Membership.of(spec.pool(), spec.events());
    List<Member> members = membership.members();
    clock = new EngineClock(members.size());
    recorder = new RunRecorder(spec);
    Senses senses = new Senses(spec.settings().perception(), spec.seed());
    PolicyCompiler policy = new PolicyCompiler(spec, members, shadows);
    pickers =
        new PickerReplicas(spec.settings(), () -> policy.compile(this::isMember), senses, this);
    requests = new ArrivingRequests(spec, timeline, pickers, senses, recorder);
    flights = new Flights(timeline, requests, senses, spec.pool().link(), recorder);
    boolean listens = policy.compile(this::isMember).kvEvents() != null;
    pool = new SimulatedPool(spec, members, clock, flights, listens ? this::cacheTold : null);
    scrapes = new Scrapes(spec.settings().scrapeMillis(), timeline, pickers, requests, senses);
    pickers.start(pool.members());
  }

  private boolean isMember(String server) {
    return pool.isMember(server);
  }

  /**
   * Checks that it can be run, with these as shadows.
   *
   * @throws IllegalArgumentException if it can't; one line per problem
   */
  static void check(SimulationSpec spec, List<Policy> shadows) {
    var _ = new Simulation(spec, shadows);
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
    SimulatedPicker first = simulation.pickers.current().getFirst();
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

  private RunResult run() {
    scrapes.begin(pool.members());
    timeline.at(0, this::look);
    timeline.at(TICK_NANOS, this::tick);
    if (spec.settings().following()) {
      timeline.at(Follower.TOLD_EVERY_NANOS, this::hear);
    }
    new ScenarioPlayer(timeline, pool, pickers, flights, scrapes, recorder)
        .play(membership.changes(), spec.events());
    requests.pull();
    while (true) {
      long next = timeline.next();
      long engine = clock.earliest();
      if (engine <= next && engine != Timeline.NEVER) {
        pool.servers().get(clock.first()).advance(engine);
      } else if (next != Timeline.NEVER) {
        timeline.step();
      } else {
        pickers.checkIdle();
        return recorder.result(pool.servers(), requests.lastNanos());
      }
    }
  }

  private void tick(long now) {
    for (SimulatedServer server : pool.servers()) {
      for (Flight flight : server.moved()) {
        flight.picker.progress(now, flight);
      }
    }
    pickers.tick(now);
    if (requests.open()) {
      timeline.at(now + TICK_NANOS, this::tick);
    }
  }

  private void hear(long now) {
    pickers.hear(now);
    if (requests.open()) {
      timeline.at(now + Follower.TOLD_EVERY_NANOS, this::hear);
    }
  }

  private void look(long now) {
    recorder.look(pool.servers());
    if (now + recorder.lookNanos() < requests.endNanos() && requests.open()) {
      timeline.at(now + recorder.lookNanos(), this::look);
    }
  }

  private void cacheTold(long now, SimulatedServer server, List<CacheEvent> events) {
    timeline.at(now + EVENT_NANOS, later -> pickers.cacheTold(later, server, events));
  }

  @Override
  public void carryOut(long now, SimulatedPicker picker, Effect effect) {
    switch (effect) {
      case Effect.Send(Flight flight, String endpoint, String prefiller) ->
          flights.send(
              now, flight, pool.named(endpoint), prefiller.isEmpty() ? null : pool.at(prefiller));
      case Effect.Pass(Flight flight) -> flights.fail(now, flight);
      case Effect.Reject(Flight flight, Rejection rejection) ->
          flights.reject(now, flight, rejection);
      case Effect.Evict(Flight flight) -> flights.evict(now, flight);
      case Effect.Ask(Probe probe) -> ask(now, picker, probe);
      case Effect.Changed(HealthChange change) -> {
        int number = pickers.number(picker);
        if (number >= 0) {
          recorder.healthChanged(number, change);
        }
      }
    }
  }

  private void ask(long now, SimulatedPicker picker, Probe probe) {
    SimulatedServer server = pool.named(probe.endpoint().name());
    switch (server.condition().probe(!probe.model().isEmpty(), probe.timeoutNanos())) {
      case Answer.Served(long after) ->
          timeline.at(now + after, later -> picker.probed(later, probe));
      case Answer.Failed(Failure failure, long after) ->
          timeline.at(now + after, later -> picker.probeFailed(later, probe, failure));
    }
  }
}
