package io.fairlead.operator.testing;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.function.UnaryOperator;

/**
 * A real picker in this JVM, in the part of the fixture's pod, with the rights that it is given.
 */
public final class Picker implements AutoCloseable {
  private final DataPlane plane;

  /** Starts at once, on what the operator has made for it. */
  public Picker(Installed cluster, PoolFixture pool) {
    this(cluster, pool, builder -> builder);
  }

  /** One that takes requests itself, on a free port of the loopback. */
  public static Picker gateway(Installed cluster, PoolFixture pool) {
    return new Picker(cluster, pool, builder -> builder.gateway("127.0.0.1", 0));
  }

  private Picker(
      Installed cluster, PoolFixture pool, UnaryOperator<DataPlaneConfig.Builder> parts) {
    Config config = cluster.account(pool.namespace(), PoolFixture.PICKER);
    Pod pod = pool.need(Pod.class, PoolFixture.POD);
    plane =
        DataPlane.start(
            parts
                .apply(
                    DataPlaneConfig.builder(
                        new DataPlaneConfig.Kubernetes(
                            pool.namespace(),
                            PoolFixture.PICKER,
                            new DataPlaneConfig.Reporting(
                                PoolFixture.PICKER,
                                PoolFixture.POD,
                                pool.namespace(),
                                pod.getMetadata().getUid()),
                            () -> new KubernetesClientBuilder().withConfig(config).build())))
                .admin("127.0.0.1", 0)
                .loops(1)
                .build());
  }

  /** What it says of itself. */
  public PickerReport report() {
    return plane.report();
  }

  /** What its page says, as JSON. */
  public String status() {
    URI page = URI.create("http://127.0.0.1:" + plane.adminPort().orElseThrow() + "/debug/status");
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client
          .send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
          .body();
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException("the picker's page can't be read", e);
    }
  }

  /** Where it takes requests, if it does. */
  public int gatewayPort() {
    return plane.gatewayPort().orElseThrow();
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
