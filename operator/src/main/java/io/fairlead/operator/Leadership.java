package io.fairlead.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderCallbacks;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElectionConfig;
import io.fabric8.kubernetes.client.extended.leaderelection.LeaderElector;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the operator's Lease. The framework's own election keeps the Lease when the process is told
 * to end; this one gives it back, so that a standby takes over at its next try.
 */
final class Leadership implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Leadership.class);

  /** How long a Lease that is not renewed keeps others from leading. */
  static final Duration LEASE = Duration.ofSeconds(15);

  private static final Duration RENEW_DEADLINE = Duration.ofSeconds(10);
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final LeaderElector elector;
  private final CompletableFuture<?> future;

  /**
   * Begins to stand for election.
   *
   * @param fence opened by each renewal
   * @param started runs once, when this process leads
   * @param lost runs when it does no longer, other than by {@link #close}
   */
  Leadership(
      KubernetesClient client,
      String namespace,
      String name,
      String identity,
      Fence fence,
      Runnable started,
      Runnable lost) {
    LeaderCallbacks callbacks =
        new LeaderCallbacks(
            () -> executor.execute(started),
            lost,
            leader -> LOG.info("Lease {}/{} is held by {}", namespace, name, leader));
    elector =
        new LeaderElector(
            client,
            new LeaderElectionConfig(
                new ObservedLock(
                    new LenientLeaseLock(namespace, name, identity, LEASE),
                    fence,
                    System::nanoTime),
                LEASE,
                RENEW_DEADLINE,
                RETRY,
                callbacks,
                true,
                name),
            executor);
    future = elector.start();
  }

  /** Gives the Lease back. */
  @Override
  public void close() {
    future.cancel(true);
    elector.release();
    executor.shutdown();
  }
}
