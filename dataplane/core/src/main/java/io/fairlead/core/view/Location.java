package io.fairlead.core.view;

import io.fairlead.plugin.EndpointAttributes;

/**
 * Where an endpoint runs. What is empty is unknown.
 *
 * @param host the machine
 * @param rack with its zone, as the next zone may have one of the same name
 * @param zone where the rack is
 */
public record Location(String host, String rack, String zone) {

  /** How near two locations are, from farthest to nearest: nothing shared that is known. */
  public static final int APART = 0;

  /** In one zone, and no nearer. */
  public static final int SAME_ZONE = 1;

  /** In one rack, and no nearer. */
  public static final int SAME_RACK = 2;

  /** On one machine. */
  public static final int SAME_HOST = 3;

  /** What an endpoint's labels say of it. */
  public static Location of(EndpointAttributes attributes) {
    String rack = attributes.rack().isEmpty() ? "" : attributes.zone() + "/" + attributes.rack();
    return new Location(attributes.host(), rack, attributes.zone());
  }

  /** How near the other one is: one of the four above. */
  public int nearness(Location other) {
    if (same(host, other.host)) {
      return SAME_HOST;
    }
    if (same(rack, other.rack)) {
      return SAME_RACK;
    }
    return same(zone, other.zone) ? SAME_ZONE : APART;
  }

  /** Hashes first, which strings keep: this is asked for every candidate. */
  private static boolean same(String one, String other) {
    return one.hashCode() == other.hashCode() && !one.isEmpty() && one.equals(other);
  }
}
