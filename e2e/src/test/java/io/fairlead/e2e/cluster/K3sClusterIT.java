package io.fairlead.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.Crds;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The cluster in a container is as good as the one on the host: it takes our CRDs and runs our
 * images.
 */
final class K3sClusterIT {

  private static final Checkout CHECKOUT = Checkout.find();
  private static Cluster cluster;
  private static KubernetesClient client;

  @BeforeAll
  static void start() {
    cluster = ClusterSource.K3S.open();
    System.out.println("cluster: " + cluster.name());
    client = cluster.client();
  }

  @AfterAll
  static void stop() {
    client.close();
    cluster.close();
  }

  @Test
  void takesTheCrdsAndAPool() {
    Crds.apply(client);

    HasMetadata pool =
        client
            .resource(
                """
                apiVersion: inference.networking.k8s.io/v1
                kind: InferencePool
                metadata: {name: pool, namespace: default}
                spec:
                  selector: {matchLabels: {app: model-server}}
                  targetPorts: [{number: 8000}]
                  endpointPickerRef: {name: pool-epp, port: {number: 9002}}
                """)
            .serverSideApply();

    assertThat(pool.getMetadata().getUid()).isNotEmpty();
  }

  @Test
  void runsAPodOfAnImageBuiltHere() {
    CHECKOUT.run("images", "--no-load", "dataplane");
    cluster.loadImage(CHECKOUT.root().resolve("target/images/dataplane.tar"));
    Pod pod =
        new PodBuilder()
            .withNewMetadata()
            .withName("help")
            .withNamespace("default")
            .endMetadata()
            .withNewSpec()
            .withRestartPolicy("Never")
            .addNewContainer()
            .withName("help")
            .withImage("fairlead.local/dataplane:dev")
            .withImagePullPolicy("IfNotPresent")
            .withArgs("--help")
            .withNewSecurityContext()
            .withReadOnlyRootFilesystem(true)
            .withRunAsNonRoot(true)
            .withAllowPrivilegeEscalation(false)
            .endSecurityContext()
            .endContainer()
            .endSpec()
            .build();

    client.resource(pod).create();

    await()
        .atMost(Duration.ofMinutes(5))
        .until(
            () -> client.resource(pod).get().getStatus().getPhase(),
            phase -> phase.equals("Succeeded") || phase.equals("Failed"));
    assertThat(client.resource(pod).get().getStatus().getPhase())
        .as(client.pods().resource(pod).getLog())
        .isEqualTo("Succeeded");
  }
}
