package io.fairlead.core.replay;

import io.fairlead.core.external.Advice;
import io.fairlead.core.scheduling.PartitionedCandidates;
import io.fairlead.core.scheduling.Scheduler;
import io.fairlead.plugin.Endpoint;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The endpoints that a receipt says were chosen among: the pool, as far as it is known. */
final class RecordedCandidates implements PartitionedCandidates {

  private final List<RecordedEndpoint> endpoints;
  private final int replicas;
  private final Scheduler scheduler;
  private final Supplier<@Nullable Advice> advice;

  /**
   * @param scheduler says who is in which partition
   * @param advice for the profile that runs
   */
  RecordedCandidates(
      List<RecordedEndpoint> endpoints,
      int replicas,
      Scheduler scheduler,
      Supplier<@Nullable Advice> advice) {
    this.endpoints = List.copyOf(endpoints);
    this.replicas = replicas;
    this.scheduler = scheduler;
    this.advice = advice;
  }

  @Override
  public int size() {
    return endpoints.size();
  }

  @Override
  public Endpoint get(int index) {
    return endpoints.get(index);
  }

  @Override
  public int matchedBlocks(int index) {
    return endpoints.get(index).facts().matchedBlocks();
  }

  @Override
  public int cachedTokens(int index) {
    return endpoints.get(index).facts().cachedTokens();
  }

  @Override
  public int queueDepth(int index) {
    return endpoints.get(index).queueDepth();
  }

  @Override
  public double kvUsage(int index) {
    return endpoints.get(index).kvUsage();
  }

  @Override
  public int slot(int index) {
    return index;
  }

  @Override
  public void cachedTokens(double[] into) {
    for (int i = 0; i < endpoints.size(); i++) {
      into[i] = cachedTokens(i);
    }
  }

  @Override
  public double timesKnown() {
    throw new NotKeptException("how many of the pickers told what they sent");
  }

  @Override
  public int replicas() {
    return replicas;
  }

  @Override
  public double ghostHits() {
    throw new NotKeptException("how many of the blocks that caches lost were asked for again");
  }

  @Override
  public double goesOn() {
    throw new NotKeptException("how likely contexts were to be gone on with");
  }

  @Override
  public int places() {
    return endpoints.size();
  }

  @Override
  public int place(int index) {
    return index;
  }

  @Override
  public long changes(long since, Changed to) {
    throw new NotKeptException("what a plugin has worked out before");
  }

  @Override
  public @Nullable Advice advice() {
    return advice.get();
  }

  @Override
  public long identity(int index) {
    return endpoints.get(index).identity();
  }

  @Override
  public int partition(int index) {
    return scheduler.partition(endpoints.get(index));
  }
}
