package io.fairlead.e2e.cluster;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Where a cluster comes from, chosen by the setting {@code FAIRLEAD_CLUSTER}. */
public enum ClusterSource {
  /** The cluster that {@code KUBECONFIG} names. */
  KUBECONFIG {
    @Override
    public Cluster open() {
      return ExistingCluster.fromEnvironment(System.getenv());
    }
  },

  /** {@code ./hack/cluster}: Kubernetes' programs straight on this machine. */
  HOST {
    @Override
    public Cluster open() {
      return HostCluster.up(Checkout.find());
    }
  },

  /** Testcontainers' {@code K3sContainer}. */
  K3S {
    @Override
    public Cluster open() {
      return K3sCluster.start(Checkout.find());
    }
  };

  /**
   * Opens the cluster.
   *
   * @throws IllegalStateException if it can't be had, with what to install or to set
   */
  public abstract Cluster open();

  /**
   * The source that the settings ask for: the named one, else {@link #KUBECONFIG} where that
   * variable is set, else {@link #HOST} for root on Linux, else {@link #K3S}.
   *
   * @param named the value of the setting, or null if it is not set
   * @param environment the process's environment
   * @param hostPossible whether programs can be run as root on Linux here
   * @throws IllegalArgumentException if no source has that name
   */
  static ClusterSource choose(
      @Nullable String named, Map<String, String> environment, boolean hostPossible) {
    if (named != null && !named.isBlank()) {
      for (ClusterSource source : values()) {
        if (source.toString().equals(named)) {
          return source;
        }
      }
      throw new IllegalArgumentException(
          "FAIRLEAD_CLUSTER: '"
              + named
              + "' is none of "
              + Arrays.stream(values())
                  .map(ClusterSource::toString)
                  .collect(Collectors.joining(", ")));
    }
    if (!environment.getOrDefault("KUBECONFIG", "").isBlank()) {
      return KUBECONFIG;
    }
    return hostPossible ? HOST : K3S;
  }

  /**
   * The source for this process: see the system property or environment variable {@code
   * FAIRLEAD_CLUSTER}.
   */
  public static ClusterSource chosen() {
    boolean hostPossible =
        System.getProperty("os.name").equals("Linux")
            && System.getProperty("os.arch").equals("amd64")
            && System.getProperty("user.name").equals("root");
    return choose(
        System.getProperty("FAIRLEAD_CLUSTER", System.getenv("FAIRLEAD_CLUSTER")),
        System.getenv(),
        hostPossible);
  }

  /** The name in the setting. */
  @Override
  public String toString() {
    return switch (this) {
      case KUBECONFIG -> "kubeconfig";
      case HOST -> "host";
      case K3S -> "k3s";
    };
  }
}
