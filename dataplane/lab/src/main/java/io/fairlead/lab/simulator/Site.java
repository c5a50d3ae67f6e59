package io.fairlead.lab.simulator;

import java.util.HashMap;
import java.util.Map;

/**
 * What a server of a pool is there for, and where it stands.
 *
 * @param role {@code prefill}, {@code decode} or {@code both}; empty for a pool without roles
 * @param rack its rack's name; empty where nobody says
 */
public record Site(String role, String rack) {

  /** A server like any other. */
  public static final Site ANY = new Site("", "");

  /** Says so on its pod. */
  Map<String, String> labels() {
    Map<String, String> labels = new HashMap<>();
    if (!role.isEmpty()) {
      labels.put("llm-d.ai/role", role);
    }
    if (!rack.isEmpty()) {
      labels.put("topology.kubernetes.io/rack", rack);
    }
    return labels;
  }
}
