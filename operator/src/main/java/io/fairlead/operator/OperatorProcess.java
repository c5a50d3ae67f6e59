package io.fairlead.operator;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.health.InformerHealthIndicator;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The controllers' life: they run while this process leads, and stop before the Lease is given. */
final class OperatorProcess implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(OperatorProcess.class);

  private final Controllers controllers;
  private final KubernetesClient client;
  private final AtomicBoolean ending = new AtomicBoolean();
  private volatile boolean running;

  /**
   * Whether the Lease was ever ours: losing it then ends the process, also while it still starts.
   */
  private volatile boolean led;

  private volatile @Nullable Leadership leadership;

  OperatorProcess(Controllers controllers, KubernetesClient client) {
    this.controllers = controllers;
    this.client = client;
  }

  /** Starts the controllers. */
  void run() {
    controllers.start();
    running = true;
    LOG.info("controllers are running");
  }

  /**
   * Starts the controllers when the Lease is ours.
   *
   * @param fence opened by each renewal of the Lease
   * @param failed runs when they cannot start; must end the process
   * @param lost runs when the Lease went to somebody else; must end the process, since a controller
   *     that once ran cannot be started again
   */
  void elect(
      String namespace,
      String lease,
      String identity,
      Fence fence,
      Runnable failed,
      Runnable lost) {
    leadership =
        new Leadership(
            client,
            namespace,
            lease,
            identity,
            fence,
            () -> runOr(failed),
            () -> {
              if (!ending.get() && led) {
                LOG.error("leadership is lost, ending");
                lost.run();
              }
            });
  }

  /**
   * Whether the informers work, or need not yet. One that is refused, or whose API server is away,
   * works: it tries again, and a restart would do no more for it and harm the others.
   */
  boolean healthy() {
    if (!running) {
      return true;
    }
    return controllers
        .running()
        .flatMap(
            controller ->
                controller
                    .getControllerHealthInfo()
                    .informerEventSourceHealthIndicators()
                    .values()
                    .stream())
        .allMatch(OperatorProcess::runs);
  }

  private static boolean runs(InformerWrappingEventSourceHealthIndicator<?> source) {
    return source.informerHealthIndicators().values().stream()
        .allMatch(InformerHealthIndicator::isRunning);
  }

  /** A standby is ready: it can take over. */
  boolean ready() {
    return !ending.get() && (running || leadership != null);
  }

  @Override
  public void close() {
    if (!ending.compareAndSet(false, true)) {
      return;
    }
    if (running) {
      controllers.stop();
    }
    Leadership held = leadership;
    if (held != null) {
      held.close();
    }
    client.close();
  }

  private void runOr(Runnable failed) {
    led = true;
    try {
      run();
    } catch (RuntimeException e) {
      LOG.error("the controllers cannot start", e);
      failed.run();
    }
  }
}
