package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.core.view.Teachable;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.ProfileHandler;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * The plugins that run, for the config that comes next. One is taken over, and with it what it has
 * learned, when its name, type and parameters are the same and so are the plugins that it names; a
 * profile handler only with the same profiles, as it is told of them once.
 *
 * <p>Running plugins belong to their pool's loop: here they are handed on, never called.
 */
final class KeptPlugins {

  private final Map<String, PluginFactory> factories;
  private final List<String> profiles;
  private final Map<String, Made> listed = new HashMap<>();
  private final Map<String, Plugin> implied;

  /** Nothing runs yet. */
  KeptPlugins() {
    this(Map.of(), List.of(), List.of(), Map.of());
  }

  KeptPlugins(
      Map<String, PluginFactory> factories,
      List<String> profiles,
      List<Made> listed,
      Map<String, Plugin> implied) {
    this.factories = factories;
    this.profiles = profiles;
    this.implied = Map.copyOf(implied);
    listed.forEach(made -> this.listed.put(made.name(), made));
  }

  /** Those that a compiler with these types may use, for a config with these profiles. */
  KeptPlugins usable(SortedMap<String, PluginFactory> types, List<String> names) {
    // Another compiler's types may have other code behind the same names.
    if (!factories.equals(types)) {
      return new KeptPlugins();
    }
    if (profiles.equals(names)) {
      return this;
    }
    return new KeptPlugins(
        factories,
        names,
        listed.values().stream().filter(made -> !isHandler(made.plugin())).toList(),
        implied);
  }

  /** The instance to take over for this entry, or null. */
  @Nullable Made listed(PluginConfig config, Parameters.Plugins now) {
    Made before = listed.get(config.name());
    if (before == null || !before.config().equals(config)) {
      return null;
    }
    boolean sameUses =
        before.uses().entrySet().stream()
            .allMatch(use -> isSame(use.getValue(), now.named(use.getKey())));
    return sameUses ? before : null;
  }

  @Nullable Plugin implied(String type) {
    return implied.get(type);
  }

  /** Those that can tell what they have learned, and what each is. */
  Map<Teachable, PluginConfig> teachables() {
    Map<Teachable, PluginConfig> teachables = new LinkedHashMap<>();
    implied.forEach(
        (type, plugin) -> add(plugin, new PluginConfig(type, type, Map.of()), teachables));
    listed.values().forEach(made -> add(made.plugin(), made.config(), teachables));
    return Collections.unmodifiableMap(teachables);
  }

  private static void add(Plugin plugin, PluginConfig what, Map<Teachable, PluginConfig> to) {
    if (plugin instanceof Teachable teachable) {
      to.put(teachable, what);
    }
  }

  private static boolean isHandler(Plugin plugin) {
    return plugin instanceof ProfileHandler;
  }

  @SuppressWarnings("ReferenceEquality") // two records may be equal and yet not the same instance
  private static boolean isSame(@Nullable Plugin before, @Nullable Plugin now) {
    return before == now;
  }
}
