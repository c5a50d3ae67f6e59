package io.fairlead.e2e.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The cluster of {@code ./hack/cluster}. Taken down at the end only if it was started here. */
record HostCluster(Checkout checkout, String kubeconfig, boolean startedHere) implements Cluster {

  private static final String PRINTED = "KUBECONFIG=";

  static HostCluster up(Checkout checkout) {
    boolean running = checkout.attempt("cluster", "status").exitCode() == 0;
    String printed = checkout.run("cluster", "up");
    Path file = Path.of(printed.substring(printed.lastIndexOf(PRINTED) + PRINTED.length()));
    try {
      return new HostCluster(checkout, Files.readString(file), !running);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String name() {
    return "./hack/cluster on this machine";
  }

  @Override
  public void loadImage(Path tar) {
    checkout.run("cluster", "load", tar.toAbsolutePath().toString());
  }

  @Override
  public void close() {
    if (startedHere) {
      checkout.run("cluster", "down");
    }
  }
}
