package io.fairlead.e2e.cluster;

import java.io.IOException;
import java.nio.file.Path;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.k3s.K3sContainer;
import org.testcontainers.utility.DockerImageName;
import org.testcontainers.utility.MountableFile;

/**
 * A cluster in one container, from the public k3s image or the node image that {@code hack/} makes.
 */
final class K3sCluster implements Cluster {

  private final String image;
  private final K3sContainer container;

  private K3sCluster(String image, K3sContainer container) {
    this.image = image;
    this.container = container;
  }

  static K3sCluster start(Checkout checkout) {
    String image = checkout.run("testcluster/k3s-image");
    // The client asks for an API that older engines don't know; the engine says which it does.
    System.setProperty("api.version", checkout.run("docker", "api-version"));
    if (!DockerClientFactory.instance().isDockerAvailable()) {
      throw new IllegalStateException(
          "Testcontainers finds no Docker engine; start one: ./hack/docker up");
    }
    K3sContainer container =
        new K3sContainer(DockerImageName.parse(image).asCompatibleSubstituteFor("rancher/k3s"));
    try {
      container.start();
    } catch (RuntimeException e) {
      System.err.println(container.getLogs());
      container.close();
      throw e;
    }
    return new K3sCluster(image, container);
  }

  @Override
  public String name() {
    return "Testcontainers' K3sContainer on " + image;
  }

  @Override
  public String kubeconfig() {
    return container.getKubeConfigYaml();
  }

  @Override
  public void loadImage(Path tar) {
    String inside = "/var/lib/" + tar.getFileName();
    container.copyFileToContainer(MountableFile.forHostPath(tar), inside);
    try {
      ExecResult result = container.execInContainer("ctr", "images", "import", inside);
      if (result.getExitCode() != 0) {
        throw new IllegalStateException("can't load " + tar + ": " + result.getStderr());
      }
      container.execInContainer("rm", inside);
    } catch (IOException e) {
      throw new IllegalStateException("can't load " + tar, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while loading " + tar, e);
    }
  }

  @Override
  public void close() {
    container.close();
  }
}
