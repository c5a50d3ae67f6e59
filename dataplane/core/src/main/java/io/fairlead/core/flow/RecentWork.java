package io.fairlead.core.flow;

/** Work that went within the last few seconds: what is older counts less and less. */
final class RecentWork {

  /** What went so long ago counts for a third. */
  private static final double MEMORY = 5e9;

  private double tokens;
  private long at;

  void add(long now, double work) {
    tokens = at(now) + work;
    at = now;
  }

  double at(long now) {
    return tokens == 0 ? 0 : tokens * Math.exp(-Math.max(0, now - at) / MEMORY);
  }
}
