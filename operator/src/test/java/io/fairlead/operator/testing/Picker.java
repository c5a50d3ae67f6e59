package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;

/**
 * A real picker in this JVM, in the part of the fixture's pod, with the rights that it is given.
 */
public final class Picker implements AutoCloseable {
  private final DataPlane plane;

  /** Starts at once, on what the operator has made for it. */
  public Picker(Installed cluster, PoolFixture pool) {
    Config config = cluster.account(pool.namespace(), PoolFixture.PICKER);
    Pod pod = pool.need(Pod.class, PoolFixture.POD);
    plane =
        DataPlane.start(
            DataPlaneConfig.builder(
                    new DataPlaneConfig.Kubernetes(
                        pool.namespace(),
                        PoolFixture.PICKER,
                        new DataPlaneConfig.Reporting(
                            PoolFixture.PICKER,
                            PoolFixture.POD,
                            pool.namespace(),
                            pod.getMetadata().getUid()),
                        () -> new KubernetesClientBuilder().withConfig(config).build()))
                .loops(1)
                .build());
  }

  /** What it says of itself. */
  public PickerReport report() {
    return plane.report();
  }

  /** Why requests cannot be served now; empty when they can. */
  public String notReady() {
    return plane.notReady();
  }

  @Override
  public void close() {
    plane.close();
  }
}
