package io.fairlead.lab.simulator;

import io.fairlead.lab.workload.Workload;
import io.fairlead.stub.engine.Imperfection;
import java.util.List;

/**
 * One run: what comes, who places it, on what.
 *
 * @param workload what comes
 * @param policy who places it
 * @param pool on what
 * @param seed of everything that is drawn
 * @param settings how it is run
 * @param events what happens in its course
 */
public record SimulationSpec(
    Workload workload,
    Policy policy,
    PoolSpec pool,
    long seed,
    Settings settings,
    List<ScenarioEvent> events) {

  /** A run in which nothing happens but requests. */
  public SimulationSpec(
      Workload workload, Policy policy, PoolSpec pool, long seed, Settings settings) {
    this(workload, policy, pool, seed, settings, List.of());
  }

  public SimulationSpec {
    events = List.copyOf(events);
    Membership.of(pool, events);
    for (ScenarioEvent event : events) {
      if (event instanceof PickerRestart restart) {
        check(restart, events, settings.pickers());
      }
    }
  }

  private static void check(PickerRestart restart, List<ScenarioEvent> events, int pickers) {
    if (restart.picker() >= pickers) {
      throw new IllegalArgumentException(
          "scenario: restart-picker at %s s: picker is %d, but there are the pickers 0 to %d"
              .formatted(Membership.shown(restart.at()), restart.picker(), pickers - 1));
    }
    long away =
        events.stream()
            .filter(PickerRestart.class::isInstance)
            .map(PickerRestart.class::cast)
            .filter(other -> other.at() <= restart.at() && restart.at() < other.end())
            .mapToInt(PickerRestart::picker)
            .distinct()
            .count();
    if (away == pickers) {
      throw new IllegalArgumentException(
          "scenario: restart-picker at %s s: no picker is there then; set for to 0s, or more pickers"
              .formatted(Membership.shown(restart.at())));
    }
  }

  /**
   * How a run is run.
   *
   * @param seconds requests arrive for so long
   * @param warmUpSeconds those that arrive earlier than that are not measured
   * @param scrapeMillis between two scrapes of an engine, 0 for none ever
   * @param pickers replicas of the picker
   * @param front which picker a request gets
   * @param following whether pickers tell one another what they send, as with a hand-over secret;
   *     else each knows what it alone has sent
   * @param labelled whether endpoints carry a label that tells the hardware
   * @param ttftObjectiveMillis a good request has its first token by then
   * @param tpotObjectiveMillis a good request takes no longer for a token after the first
   * @param lostHits share of requests whose cached prompt an engine finds lost: a handicap, to see
   *     that it is noticed
   * @param client what the pickers sit in
   * @param imperfection what keeps engines from being as fast as their profiles say
   * @param perception how what pickers see differs from what is
   */
  public record Settings(
      double seconds,
      double warmUpSeconds,
      double scrapeMillis,
      int pickers,
      Front front,
      boolean following,
      boolean labelled,
      double ttftObjectiveMillis,
      double tpotObjectiveMillis,
      double lostHits,
      Client client,
      Imperfection imperfection,
      Perception perception) {

    /** Ideal engines that are seen as they are, of answers that come in one piece perhaps. */
    public Settings(
        double seconds,
        double warmUpSeconds,
        double scrapeMillis,
        int pickers,
        Front front,
        boolean labelled,
        double ttftObjectiveMillis,
        double tpotObjectiveMillis,
        double lostHits,
        Client client,
        double unstreamed) {
      this(
          seconds,
          warmUpSeconds,
          scrapeMillis,
          pickers,
          front,
          false,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          lostHits,
          client,
          Imperfection.NONE,
          Perception.IDEAL.withUnstreamed(unstreamed));
    }

    /** One picker that can send again, metrics every 50 ms, objectives of 1 s and 100 ms. */
    public static Settings of(double seconds, double warmUpSeconds) {
      return new Settings(
          seconds, warmUpSeconds, 50, 1, Front.RANDOM, false, 1_000, 100, 0, Client.GATEWAY, 0);
    }

    public Settings {
      check("seconds", seconds, 0.001, 1e7);
      check("warmUpSeconds", warmUpSeconds, 0, seconds);
      check("scrapeMillis", scrapeMillis, 0, 1e9);
      check("pickers", pickers, 1, 1_000);
      check("ttftObjectiveMillis", ttftObjectiveMillis, 0, 1e9);
      check("tpotObjectiveMillis", tpotObjectiveMillis, 0, 1e9);
      check("lostHits", lostHits, 0, 1);
    }

    /** Share of requests whose answers come in one piece. */
    public double unstreamed() {
      return perception.unstreamed();
    }

    /** The same with other engines, seen otherwise. */
    public Settings with(Imperfection otherImperfection, Perception otherPerception) {
      return new Settings(
          seconds,
          warmUpSeconds,
          scrapeMillis,
          pickers,
          front,
          following,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          lostHits,
          client,
          otherImperfection,
          otherPerception);
    }

    private static void check(String field, double value, double least, double most) {
      if (!(value >= least && value <= most)) {
        throw new IllegalArgumentException(
            "%s is %s; set %s to %s".formatted(field, value, least, most));
      }
    }

    /** The same for another length, a quarter of which is warm-up. */
    public Settings lasting(double otherSeconds) {
      return new Settings(
          otherSeconds,
          otherSeconds / 4,
          scrapeMillis,
          pickers,
          front,
          following,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          lostHits,
          client,
          imperfection,
          perception);
    }

    /** The same with so many replicas of the picker. */
    public Settings withPickers(int other) {
      return new Settings(
          seconds,
          warmUpSeconds,
          scrapeMillis,
          other,
          front,
          following,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          lostHits,
          client,
          imperfection,
          perception);
    }

    /** The same with another handicap. */
    public Settings withLostHits(double other) {
      return new Settings(
          seconds,
          warmUpSeconds,
          scrapeMillis,
          pickers,
          front,
          following,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          other,
          client,
          imperfection,
          perception);
    }

    /** The same with pickers in something else. */
    public Settings withClient(Client other) {
      return new Settings(
          seconds,
          warmUpSeconds,
          scrapeMillis,
          pickers,
          front,
          following,
          labelled,
          ttftObjectiveMillis,
          tpotObjectiveMillis,
          lostHits,
          other,
          imperfection,
          perception);
    }
  }

  /** What a picker sits in. */
  public enum Client {
    /** Our own gateway: it can send a request again, and knows how a connection failed. */
    GATEWAY,
    /** A proxy that asks it once: what fails has failed. */
    EXT_PROC
  }

  /** How requests are spread over several pickers. */
  public enum Front {
    /** Each to any of them. */
    RANDOM,
    /** By the beginning of the prompt: those that share it get the same. */
    HASHED
  }
}
