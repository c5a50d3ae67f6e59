package io.fairlead.core;

import io.fairlead.crds.config.PluginConfig;
import java.util.List;
import java.util.Map;

/**
 * What a plugin has learned, in numbers of its own: another one of the same type and parameters may
 * begin with it. Never changes, and may go from one thread to another.
 *
 * @param plugin what it was
 * @param at when, by the pool's clock
 * @param general what is of no single endpoint, by the plugin's own keys
 * @param endpoints what it has learned of each
 */
public record Learned(
    PluginConfig plugin, long at, Map<String, double[]> general, List<OfEndpoint> endpoints) {

  public Learned {
    general = Map.copyOf(general);
    endpoints = List.copyOf(endpoints);
  }

  /** Of an endpoint, as long as it is the same process. */
  @SuppressWarnings("ArrayRecordComponent") // told and taken as it is, never compared
  public record OfEndpoint(EndpointSpec endpoint, double[] numbers) {}

  /** Whether a plugin is what this one was, but for its name. */
  public boolean isOf(PluginConfig other) {
    return plugin.type().equals(other.type()) && plugin.parameters().equals(other.parameters());
  }
}
