package io.fairlead.core.plugins;

import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Candidates made up for a test. */
final class TestCandidates implements Candidates {

  private final List<Made> all = new ArrayList<>();

  TestCandidates add(int waiting, int awaiting, double kvUsage, int matched) {
    all.add(new Made("e" + all.size(), waiting, awaiting, kvUsage, matched));
    return this;
  }

  static TestCandidates queues(int... depths) {
    TestCandidates candidates = new TestCandidates();
    for (int depth : depths) {
      candidates.add(depth, 0, Double.NaN, 0);
    }
    return candidates;
  }

  static TestCandidates usages(double... usages) {
    TestCandidates candidates = new TestCandidates();
    for (double usage : usages) {
      candidates.add(0, 0, usage, 0);
    }
    return candidates;
  }

  @Override
  public int size() {
    return all.size();
  }

  @Override
  public Endpoint get(int index) {
    return all.get(index);
  }

  @Override
  public int matchedBlocks(int index) {
    return all.get(index).matched;
  }

  private record Made(
      String name, int scrapedWaiting, int awaitingFirstToken, double kvUsage, int matched)
      implements Endpoint {

    @Override
    public String address() {
      return "10.0.0.1";
    }

    @Override
    public int port() {
      return 8000;
    }

    @Override
    public Map<String, String> labels() {
      return Map.of();
    }

    @Override
    public int inFlight() {
      return awaitingFirstToken;
    }

    @Override
    public long inFlightTokens() {
      return 0;
    }

    @Override
    public int scrapedRunning() {
      return 0;
    }
  }
}
