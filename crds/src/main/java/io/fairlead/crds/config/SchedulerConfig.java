package io.fairlead.crds.config;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The scheduling part of the document, in the shape of upstream's {@code EndpointPickerConfig}.
 *
 * @param plugins instances by unique name
 * @param profiles profiles by unique name; empty means one profile of every filter, scorer and
 *     picker among {@code plugins}, or the built-in default when there are none either
 * @param saturationDetector name of the plugin that says when an endpoint is full; null for that of
 *     {@code flowControl}, or the default
 * @param featureGates whether a feature is switched on, by its name
 * @param flowControl null for the defaults
 * @param dataLayer null for the defaults
 * @param parsers names of the plugins that read requests; empty for the defaults
 */
public record SchedulerConfig(
    List<PluginConfig> plugins,
    List<ProfileConfig> profiles,
    @Nullable String saturationDetector,
    Map<String, Boolean> featureGates,
    @Nullable FlowControlConfig flowControl,
    @Nullable DataLayerConfig dataLayer,
    List<String> parsers) {

  /** Nothing configured: the built-in default profile. */
  public static final SchedulerConfig DEFAULT = new SchedulerConfig(List.of(), List.of(), null);

  public SchedulerConfig {
    plugins = List.copyOf(plugins);
    profiles = List.copyOf(profiles);
    featureGates = Map.copyOf(featureGates);
    parsers = List.copyOf(parsers);
  }

  /** Plugins and profiles, and the defaults for the rest. */
  public SchedulerConfig(
      List<PluginConfig> plugins,
      List<ProfileConfig> profiles,
      @Nullable String saturationDetector) {
    this(plugins, profiles, saturationDetector, Map.of(), null, null, List.of());
  }

  /** Whether requests wait that find no room: they do unless {@code flowControl=false}. */
  public boolean flowControlled() {
    return featureGates.getOrDefault("flowControl", true);
  }

  /** The detector's name wherever it is set, or null. */
  public @Nullable String detector() {
    return saturationDetector != null || flowControl == null
        ? saturationDetector
        : flowControl.saturationDetector();
  }
}
