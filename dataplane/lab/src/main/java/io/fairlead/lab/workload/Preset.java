package io.fairlead.lab.workload;

/**
 * A workload that ships, and what it is meant to run on.
 *
 * @param name as it is asked for
 * @param summary what it is like, in a line
 * @param load how much of it, when nothing else is said, in {@code unit}
 * @param unit what {@code load} counts
 * @param pool engines that it suits, in the words of {@code simulate --pool}
 * @param seconds simulated time that gives enough requests; a workload with an end may end earlier
 * @param warmUpSeconds part of {@code seconds} until caches and batches are full
 * @param scenario the shipped scenario that belongs to it; empty for none
 */
public record Preset(
    String name,
    String summary,
    double load,
    Unit unit,
    String pool,
    double seconds,
    double warmUpSeconds,
    String scenario) {

  /** A workload in whose course nothing happens to the pool. */
  public Preset(
      String name,
      String summary,
      double load,
      Unit unit,
      String pool,
      double seconds,
      double warmUpSeconds) {
    this(name, summary, load, unit, pool, seconds, warmUpSeconds, "");
  }

  /** What a load is counted in. */
  public enum Unit {
    REQUESTS_PER_SECOND("requests/s"),
    SESSIONS_PER_SECOND("sessions/s"),
    IN_FLIGHT("in flight");

    private final String label;

    Unit(String label) {
      this.label = label;
    }

    /** As reports write it after the number. */
    public String label() {
      return label;
    }
  }
}
