package io.fairlead.e2e.cluster;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A cluster that is there already. Its nodes get the images from elsewhere: nobody here can reach
 * into them.
 */
record ExistingCluster(Path file, String kubeconfig) implements Cluster {

  static ExistingCluster fromEnvironment(Map<String, String> environment) {
    String named = environment.getOrDefault("KUBECONFIG", "");
    Path file =
        named.isBlank()
            ? Path.of(System.getProperty("user.home"), ".kube", "config")
            : Path.of(named.split(File.pathSeparator, -1)[0]);
    try {
      return new ExistingCluster(file, Files.readString(file));
    } catch (IOException e) {
      throw new IllegalStateException(
          "KUBECONFIG: can't read " + file + "; set it to the kubeconfig of a cluster", e);
    }
  }

  @Override
  public String name() {
    return "the cluster of " + file;
  }

  @Override
  public void loadImage(Path tar) {
    System.out.println(
        name() + " must have the image of " + tar + " already: load or push it beforehand");
  }

  @Override
  public void close() {}
}
