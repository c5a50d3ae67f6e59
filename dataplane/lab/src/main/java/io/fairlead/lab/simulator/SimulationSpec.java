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

    /**
     * As runs are run unless something else is said: one picker that can send again, metrics every
     * 50 ms, objectives of 1 s and 100 ms, ideal engines that are seen as they are.
     */
    public static Settings of(double seconds, double warmUpSeconds) {
      return builder(seconds, warmUpSeconds).build();
    }

    /** The same, for something else to be said. */
    public static Builder builder(double seconds, double warmUpSeconds) {
      return new Builder(seconds, warmUpSeconds);
    }

    /** These, for something else to be said. */
    public Builder toBuilder() {
      return builder(seconds, warmUpSeconds)
          .scrapeMillis(scrapeMillis)
          .pickers(pickers)
          .front(front)
          .following(following)
          .labelled(labelled)
          .objectives(ttftObjectiveMillis, tpotObjectiveMillis)
          .lostHits(lostHits)
          .client(client)
          .imperfection(imperfection)
          .perception(perception);
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

    private static void check(String field, double value, double least, double most) {
      if (!(value >= least && value <= most)) {
        throw new IllegalArgumentException(
            "%s is %s; set %s to %s".formatted(field, value, least, most));
      }
    }

    /** Says of each what it is to be; {@link Settings} says what each is. */
    public static final class Builder {

      private double seconds;
      private double warmUpSeconds;
      private double scrapeMillis = 50;
      private int pickers = 1;
      private Front front = Front.RANDOM;
      private boolean following;
      private boolean labelled;
      private double ttftObjectiveMillis = 1_000;
      private double tpotObjectiveMillis = 100;
      private double lostHits;
      private Client client = Client.GATEWAY;
      private Imperfection imperfection = Imperfection.NONE;
      private Perception perception = Perception.IDEAL;

      private Builder(double seconds, double warmUpSeconds) {
        this.seconds = seconds;
        this.warmUpSeconds = warmUpSeconds;
      }

      public Builder lasting(double seconds, double warmUpSeconds) {
        this.seconds = seconds;
        this.warmUpSeconds = warmUpSeconds;
        return this;
      }

      public Builder scrapeMillis(double scrapeMillis) {
        this.scrapeMillis = scrapeMillis;
        return this;
      }

      public Builder pickers(int pickers) {
        this.pickers = pickers;
        return this;
      }

      public Builder front(Front front) {
        this.front = front;
        return this;
      }

      public Builder following(boolean following) {
        this.following = following;
        return this;
      }

      public Builder labelled(boolean labelled) {
        this.labelled = labelled;
        return this;
      }

      public Builder objectives(double ttftMillis, double tpotMillis) {
        ttftObjectiveMillis = ttftMillis;
        tpotObjectiveMillis = tpotMillis;
        return this;
      }

      public Builder lostHits(double lostHits) {
        this.lostHits = lostHits;
        return this;
      }

      public Builder client(Client client) {
        this.client = client;
        return this;
      }

      public Builder imperfection(Imperfection imperfection) {
        this.imperfection = imperfection;
        return this;
      }

      public Builder perception(Perception perception) {
        this.perception = perception;
        return this;
      }

      /**
       * What has been said.
       *
       * @throws IllegalArgumentException if a number is out of range; the message names it
       */
      public Settings build() {
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
            imperfection,
            perception);
      }
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
