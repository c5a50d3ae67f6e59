package io.fairlead.core.plugins;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/** Candidates made up for a test: all that the pool has, but for {@link #others}. */
public final class TestCandidates implements PoolCandidates {

  private final List<TestEndpoint> all = new ArrayList<>();

  /** Endpoints of the pool that are no candidates; they have the last places. */
  public final List<TestEndpoint> others = new ArrayList<>();

  public int replicas = 1;
  public boolean othersTell;
  public double goesOn;
  public double ghostHits;

  public TestCandidates add(int waiting, int awaiting, double kvUsage, int matched) {
    TestEndpoint endpoint = new TestEndpoint("e" + all.size());
    endpoint.waiting = waiting;
    endpoint.awaiting = awaiting;
    endpoint.inFlight = awaiting;
    endpoint.kvUsage = kvUsage;
    endpoint.matched = matched;
    return add(endpoint);
  }

  /** Gives the endpoint the next slot. */
  public TestCandidates add(TestEndpoint endpoint) {
    endpoint.slot = all.size();
    return add(endpoint, endpoint.slot);
  }

  /** With the slot that it has. */
  public TestCandidates add(TestEndpoint endpoint, int slot) {
    endpoint.slot = slot;
    all.add(endpoint);
    return this;
  }

  public static TestCandidates queues(int... depths) {
    TestCandidates candidates = new TestCandidates();
    for (int depth : depths) {
      candidates.add(depth, 0, Double.NaN, 0);
    }
    return candidates;
  }

  public static TestCandidates usages(double... usages) {
    TestCandidates candidates = new TestCandidates();
    for (double usage : usages) {
      candidates.add(0, 0, usage, 0);
    }
    return candidates;
  }

  public TestEndpoint endpoint(int index) {
    return all.get(index);
  }

  /** The same endpoints, in another order. */
  public TestCandidates shuffled(SplittableRandom random) {
    TestCandidates other = new TestCandidates();
    other.all.addAll(all);
    for (int i = other.all.size() - 1; i > 0; i--) {
      Collections.swap(other.all, i, random.nextInt(i + 1));
    }
    return other;
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

  @Override
  public int cachedTokens(int index) {
    return all.get(index).matched * 16;
  }

  @Override
  public int queueDepth(int index) {
    return all.get(index).queueDepth();
  }

  @Override
  public double kvUsage(int index) {
    return all.get(index).kvUsage();
  }

  @Override
  public int slot(int index) {
    return all.get(index).slot();
  }

  @Override
  public void cachedTokens(double[] into) {
    for (int i = 0; i < size(); i++) {
      into[i] = cachedTokens(i);
    }
  }

  @Override
  public double timesKnown() {
    return othersTell ? 1 : replicas;
  }

  @Override
  public int replicas() {
    return replicas;
  }

  @Override
  public double ghostHits() {
    return ghostHits;
  }

  @Override
  public double goesOn() {
    return goesOn;
  }

  @Override
  public int places() {
    return size() + others.size();
  }

  @Override
  public int place(int index) {
    return index;
  }

  @Override
  public long changes(long since, Changed to) {
    for (int i = 0; i < size(); i++) {
      to.changed(i, get(i));
    }
    for (int i = 0; i < others.size(); i++) {
      to.changed(size() + i, others.get(i));
    }
    return 0;
  }
}
