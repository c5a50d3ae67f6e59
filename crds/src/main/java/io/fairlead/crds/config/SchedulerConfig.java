package io.fairlead.crds.config;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The scheduling part of the document, in the shape of upstream's {@code EndpointPickerConfig}.
 *
 * @param plugins instances by unique name
 * @param profiles profiles by unique name; empty means one profile of every filter, scorer and
 *     picker among {@code plugins}, or the built-in default when there are none either
 * @param saturationDetector name of the plugin that says when an endpoint is full; null for the
 *     default
 */
public record SchedulerConfig(
    List<PluginConfig> plugins, List<ProfileConfig> profiles, @Nullable String saturationDetector) {

  /** Nothing configured: the built-in default profile. */
  public static final SchedulerConfig DEFAULT = new SchedulerConfig(List.of(), List.of(), null);

  public SchedulerConfig {
    plugins = List.copyOf(plugins);
    profiles = List.copyOf(profiles);
  }
}
