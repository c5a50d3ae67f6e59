package io.fairlead.core;

import java.util.Map;

/**
 * An endpoint that may get requests.
 *
 * @param name unique in the pool
 * @param incarnation changes when another process took the name over (pod UID and restart count):
 *     what was learned about the old one is forgotten
 * @param address IP address without brackets
 * @param port 1 to 65535
 * @param labels of the pod
 */
public record EndpointSpec(
    String name, String incarnation, String address, int port, Map<String, String> labels) {

  public EndpointSpec {
    labels = Map.copyOf(labels);
  }
}
