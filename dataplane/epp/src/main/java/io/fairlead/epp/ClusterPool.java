package io.fairlead.epp;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fairlead.crds.watch.ApiJson;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A pool on Kubernetes that the picker reads itself, without a config that the operator generated:
 * its pods, and where it is a resource, its objectives and the rules that rewrite models.
 *
 * @param namespace of the pool and its pods
 * @param members which pods it has
 * @param scheduling how its requests are scheduled
 * @param service of the pickers, in the same namespace, to know by how many of them share the pool;
 *     null for a picker that is alone
 * @param client opens a connection to the API server; closed by the data plane
 */
public record ClusterPool(
    String namespace,
    Members members,
    Scheduling scheduling,
    @Nullable String service,
    Supplier<KubernetesClient> client)
    implements DataPlaneConfig.Source {

  /** With the client's usual way to find the API server: service account, then kubeconfig. */
  public ClusterPool(
      String namespace, Members members, Scheduling scheduling, @Nullable String service) {
    this(namespace, members, scheduling, service, ClusterPool::usualClient);
  }

  /**
   * A client that reads whatever is stored: the watch of a kind must not end with an object of
   * another pool.
   */
  static KubernetesClient usualClient() {
    return new KubernetesClientBuilder()
        .withKubernetesSerialization(ApiJson.serialization())
        .build();
  }

  /** Which pods are the pool's. */
  public sealed interface Members {}

  /**
   * Those that an InferencePool selects.
   *
   * @param name of the InferencePool
   * @param group its API group, one of the two that have that kind
   */
  public record OfPool(String name, String group) implements Members {}

  /**
   * Those with these labels; there is no InferencePool.
   *
   * @param name what the pool is called in reports
   * @param labels all of which a pod must carry, at least one
   * @param ports of every pod, each an endpoint of its own; 1 to 8, unique
   */
  public record Selected(String name, Map<String, String> labels, List<Integer> ports)
      implements Members {

    public Selected {
      labels = Map.copyOf(labels);
      ports = List.copyOf(ports);
    }
  }

  /** Where the {@code EndpointPickerConfig} is. */
  public sealed interface Scheduling {}

  /** Nowhere: what upstream's picker does then. */
  public record UpstreamDefault() implements Scheduling {}

  /**
   * In a file, which is watched.
   *
   * @param path the file
   */
  public record InFile(Path path) implements Scheduling {}

  /**
   * On the command line.
   *
   * @param text the document
   */
  public record Inline(String text) implements Scheduling {}
}
