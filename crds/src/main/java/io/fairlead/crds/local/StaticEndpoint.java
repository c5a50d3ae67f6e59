package io.fairlead.crds.local;

import java.util.Map;

/**
 * An endpoint of the plain list of endpoints.
 *
 * @param namespace empty where none is said
 * @param name unique in its namespace
 * @param address IP address or host name
 * @param port 1–65535
 * @param labels what plugins may look at
 */
public record StaticEndpoint(
    String namespace, String name, String address, int port, Map<String, String> labels) {
  public StaticEndpoint {
    labels = Map.copyOf(labels);
  }
}
