package io.fairlead.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock whose renewals are as old as it is since we saw them. The elector compares the time that
 * the holder wrote with our own clock: where ours is ahead by a lease, it would take the lock from
 * a holder that is well. One that is given back is nobody's at once.
 *
 * <p>To be used by one elector, which calls it from one thread at a time.
 */
final class ObservedLock implements Lock {
  private final Lock lock;
  private final Fence fence;
  private final LongSupplier nanos;
  private @Nullable LeaderElectionRecord seen;
  private long seenAt;

  /**
   * @param fence told of renewals
   * @param nanos a clock that never jumps
   */
  ObservedLock(Lock lock, Fence fence, LongSupplier nanos) {
    this.lock = lock;
    this.fence = fence;
    this.nanos = nanos;
  }

  @Override
  public @Nullable LeaderElectionRecord get(KubernetesClient client) {
    LeaderElectionRecord record = tried(() -> lock.get(client));
    long now = nanos.getAsLong();
    if (record == null) {
      seen = null;
      return null;
    }
    if (seen == null
        || !Objects.equals(seen.getRenewTime(), record.getRenewTime())
        || !Objects.equals(seen.getHolderIdentity(), record.getHolderIdentity())) {
      seen = record;
      seenAt = now;
    }
    ZonedDateTime renewed =
        Instant.now().minus(Duration.ofNanos(now - seenAt)).atZone(ZoneOffset.UTC);
    return new LeaderElectionRecord(
        record.getHolderIdentity(),
        record.getLeaseDuration(),
        record.getAcquireTime(),
        renewed,
        record.getLeaderTransitions());
  }

  @Override
  public void create(KubernetesClient client, LeaderElectionRecord record) {
    Fence.Moment sent = fence.now();
    var _ =
        tried(
            () -> {
              lock.create(client, record);
              return null;
            });
    renewed(record, sent);
  }

  @Override
  public void update(KubernetesClient client, LeaderElectionRecord record) {
    if (!identity().equals(record.getHolderIdentity())) {
      fence.given();
    }
    Fence.Moment sent = fence.now();
    var _ =
        tried(
            () -> {
              lock.update(client, record.getHolderIdentity() == null ? nobodys(record) : record);
              return null;
            });
    renewed(record, sent);
  }

  /**
   * The elector tries again after what a client throws. At anything else, such as a Lease that says
   * nonsense, it would never try again, nor say so.
   */
  private static <T extends @Nullable Object> T tried(Supplier<T> request) {
    try {
      return request.get();
    } catch (KubernetesClientException e) {
      throw e;
    } catch (RuntimeException e) {
      throw new KubernetesClientException("the Lease can't be used: " + e, e);
    }
  }

  /** The lock sends a merge patch without what is null: the holder of a Lease would stay. */
  private static LeaderElectionRecord nobodys(LeaderElectionRecord record) {
    return new LeaderElectionRecord(
        "",
        record.getLeaseDuration(),
        record.getAcquireTime(),
        record.getRenewTime(),
        record.getLeaderTransitions());
  }

  private void renewed(LeaderElectionRecord record, Fence.Moment sent) {
    if (identity().equals(record.getHolderIdentity())) {
      fence.renewed(sent);
    }
  }

  @Override
  public String identity() {
    return lock.identity();
  }

  @Override
  public String describe() {
    return lock.describe();
  }
}
