package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Collects one profile's plugins, each in every role that it can play. */
final class ProfileParts {

  static final int MAX_WEIGHT = 1_000_000;

  private static final String DEFAULT_PICKER = "max-score-picker";

  private final PluginSet plugins;
  private final Problems problems;
  private final List<Filter> filters = new ArrayList<>();
  private final List<String> filterNames = new ArrayList<>();
  private final List<Scorer> scorers = new ArrayList<>();
  private final List<WeightedScorer> weighted = new ArrayList<>();
  private @Nullable Picker picker;
  private String pickerName = DEFAULT_PICKER;

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
      filterNames.add(made.name());
    }
    if (plugin instanceof Scorer scorer) {
      addScorer(made.name(), scorer, weight);
    }
    if (plugin instanceof Picker own) {
      if (picker != null) {
        problems.add(path, "\"" + made.name() + "\" is a second picker; keep one per profile");
      }
      picker = own;
      pickerName = made.name();
    }
  }

  void addScorer(String name, Scorer scorer, double weight) {
    scorers.add(scorer);
    weighted.add(new WeightedScorer(name, weight));
  }

  Profile profile(String name) {
    Picker own = picker != null ? picker : plugins.builtIn(DEFAULT_PICKER, Picker.class);
    return new Profile(
        new ProfileOutline(
            name,
            filterNames,
            filters.stream().map(ProfileParts::keeps).toList(),
            weighted,
            pickerName),
        filters,
        scorers,
        own);
  }

  /** It is for people alone: one that fails at it filters nevertheless. */
  private static String keeps(Filter filter) {
    try {
      return Objects.requireNonNullElse(filter.keeps(), "");
    } catch (RuntimeException | Error e) {
      return "";
    }
  }
}
