package io.fairlead.operator;

import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseSpec;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaseLock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Objects;

/**
 * A Lease that may lack any of its fields: all are optional, and one that somebody made by hand or
 * with another client would keep everybody from leading for ever.
 */
final class LenientLeaseLock extends LeaseLock {
  /** Of what was never said when: longer ago than any Lease lasts. */
  private static final ZonedDateTime NEVER = Instant.EPOCH.atZone(ZoneOffset.UTC);

  private final Duration usual;

  /**
   * @param usual how long a renewal counts of a Lease that does not say so
   */
  LenientLeaseLock(String namespace, String name, String identity, Duration usual) {
    super(namespace, name, identity);
    this.usual = usual;
  }

  @Override
  protected LeaderElectionRecord toRecord(Lease lease) {
    LeaseSpec spec = Objects.requireNonNullElseGet(lease.getSpec(), LeaseSpec::new);
    Integer seconds = spec.getLeaseDurationSeconds();
    return new LeaderElectionRecord(
        spec.getHolderIdentity(),
        seconds == null ? usual : Duration.ofSeconds(seconds),
        Objects.requireNonNullElse(spec.getAcquireTime(), NEVER),
        Objects.requireNonNullElse(spec.getRenewTime(), NEVER),
        Objects.requireNonNullElse(spec.getLeaseTransitions(), 0));
  }
}
