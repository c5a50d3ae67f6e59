package io.fairlead.core.scheduling;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Endpoint;
import org.jspecify.annotations.Nullable;

/** The candidates that the filters have left so far, as indexes into those of the request. */
final class Survivors implements PoolCandidates {

  private @Nullable PoolCandidates all;
  private int[] origins = {};
  private int size;

  void reserve(int length) {
    origins = new int[length];
  }

  void start(PartitionedCandidates candidates, long allowed) {
    all = candidates;
    int count = candidates.size();
    size = 0;
    for (int i = 0; i < count; i++) {
      if (allowed == -1 || (allowed >>> candidates.partition(i) & 1) != 0) {
        origins[size++] = i;
      }
    }
  }

  void retain(boolean[] keep) {
    int kept = 0;
    for (int i = 0; i < size; i++) {
      if (keep[i]) {
        origins[kept++] = origins[i];
      }
    }
    size = kept;
  }

  /** Index among the request's candidates. */
  int origin(int index) {
    return origins[index];
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Endpoint get(int index) {
    return request().get(origins[index]);
  }

  @Override
  public int matchedBlocks(int index) {
    return request().matchedBlocks(origins[index]);
  }

  @Override
  public int queueDepth(int index) {
    return request().queueDepth(origins[index]);
  }

  @Override
  public double kvUsage(int index) {
    return request().kvUsage(origins[index]);
  }

  @Override
  public int slot(int index) {
    return request().slot(origins[index]);
  }

  @Override
  public double timesKnown() {
    return request().timesKnown();
  }

  @Override
  public int replicas() {
    return request().replicas();
  }

  @Override
  public double ghostHits() {
    return request().ghostHits();
  }

  @Override
  public double goesOn() {
    return request().goesOn();
  }

  @Override
  public int places() {
    return request().places();
  }

  @Override
  public int place(int index) {
    return request().place(origins[index]);
  }

  @Override
  public long changes(long since, Changed to) {
    return request().changes(since, to);
  }

  @Override
  public int cachedTokens(int index) {
    return request().cachedTokens(origins[index]);
  }

  @Override
  public void cachedTokens(double[] into) {
    for (int i = 0; i < size; i++) {
      into[i] = cachedTokens(i);
    }
  }

  private PoolCandidates request() {
    if (all == null) {
      throw new IllegalStateException("candidates are valid only while a request is scheduled");
    }
    return all;
  }
}
