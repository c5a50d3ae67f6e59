package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Collects one profile's plugins, each in every role that it can play. */
final class ProfileParts {

  static final int MAX_WEIGHT = 1_000_000;

  private final PluginSet plugins;
  private final Problems problems;
  private final List<Filter> filters = new ArrayList<>();
  private final List<Profile.Weighted> scorers = new ArrayList<>();
  private @Nullable Picker picker;

  ProfileParts(PluginSet plugins, Problems problems) {
    this.plugins = plugins;
    this.problems = problems;
  }

  /** Whether a profile can have such a plugin. */
  static boolean takes(Plugin plugin) {
    return plugin instanceof Filter || plugin instanceof Scorer || plugin instanceof Picker;
  }

  boolean isEmpty() {
    return filters.isEmpty() && scorers.isEmpty() && picker == null;
  }

  void add(String path, Made made, double weight) {
    Plugin plugin = made.plugin();
    if (!takes(plugin)) {
      problems.add(
          path + ".pluginRef",
          "\"" + made.name() + "\" is no filter, scorer or picker; remove it from the profile");
      return;
    }
    if (plugin instanceof Filter filter) {
      filters.add(filter);
    }
    if (plugin instanceof Scorer scorer) {
      scorers.add(new Profile.Weighted(scorer, weight));
    }
    if (plugin instanceof Picker own) {
      if (picker != null) {
        problems.add(path, "\"" + made.name() + "\" is a second picker; keep one per profile");
      }
      picker = own;
    }
  }

  void addScorer(Scorer scorer, double weight) {
    scorers.add(new Profile.Weighted(scorer, weight));
  }

  Profile profile(String name) {
    Picker own = picker != null ? picker : plugins.builtIn("max-score-picker", Picker.class);
    return new Profile(name, filters, scorers, own);
  }
}
