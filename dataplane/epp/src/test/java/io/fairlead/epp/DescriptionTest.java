package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class DescriptionTest {

  private static final Config NOBODY =
      new ConfigBuilder(Config.empty())
          .withMasterUrl("http://127.0.0.1:1/")
          .withRequestRetryBackoffLimit(0)
          .build();

  static Stream<DataPlaneConfig.Source> ofACluster() {
    Supplier<KubernetesClient> client =
        () -> new KubernetesClientBuilder().withConfig(NOBODY).build();
    return Stream.of(
        new DataPlaneConfig.Kubernetes("ns", "pool-epp", null, client),
        new ClusterPool(
            "ns",
            new ClusterPool.OfPool("pool", "inference.networking.k8s.io"),
            new ClusterPool.UpstreamDefault(),
            null,
            client));
  }

  @ParameterizedTest
  @MethodSource("ofACluster")
  void aClusterThatDoesNotAnswerIsNamed(DataPlaneConfig.Source source) {
    DataPlaneConfig config = DataPlaneConfig.builder(source).build();
    assertThatThrownBy(() -> Description.of(config))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the cluster at http://127.0.0.1:1/ does not answer; see kubectl cluster-info");
  }
}
