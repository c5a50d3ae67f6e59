package io.fairlead.core.plugins.topology;

import com.dynatrace.hash4j.hashing.Hashing;
import io.fairlead.plugin.EndpointAttributes;

/**
 * Where an endpoint runs, as hashes: compared for every candidate. 0 is unknown.
 *
 * @param host the machine
 * @param rack with its zone, as the next zone may have one of the same name
 * @param zone where the rack is
 */
record Location(long host, long rack, long zone) {

  /** How near two locations are, from farthest to nearest. */
  static final int APART = 0;

  static final int SAME_ZONE = 1;
  static final int SAME_RACK = 2;
  static final int SAME_HOST = 3;

  private static final long UNKNOWN = 0;

  static Location of(EndpointAttributes attributes) {
    String rack = attributes.rack().isEmpty() ? "" : attributes.zone() + "/" + attributes.rack();
    return new Location(hash(attributes.host()), hash(rack), hash(attributes.zone()));
  }

  private static long hash(String text) {
    return text.isEmpty() ? UNKNOWN : Hashing.wyhashFinal4().hashCharsToLong(text);
  }

  int nearness(Location other) {
    if (host == other.host && host != UNKNOWN) {
      return SAME_HOST;
    }
    if (rack == other.rack && rack != UNKNOWN) {
      return SAME_RACK;
    }
    return zone == other.zone && zone != UNKNOWN ? SAME_ZONE : APART;
  }
}
