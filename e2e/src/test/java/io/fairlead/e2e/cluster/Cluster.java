package io.fairlead.e2e.cluster;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.nio.file.Path;

/**
 * A real Kubernetes cluster that runs pods.
 *
 * <p>Closing it ends what was started for it, and leaves alone what ran before.
 */
public interface Cluster extends AutoCloseable {

  /** Says how the cluster was got, for people who read a test's output. */
  String name();

  /** The kubeconfig of a cluster administrator, as YAML. */
  String kubeconfig();

  /**
   * Makes an image known to the node, so that pods with {@code imagePullPolicy: IfNotPresent} find
   * it.
   *
   * @param tar an image archive as {@code docker save} and {@code ./hack/images} write it
   */
  void loadImage(Path tar);

  /** A new client with an administrator's rights; the caller closes it. */
  default KubernetesClient client() {
    return new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig())).build();
  }

  @Override
  void close();
}
