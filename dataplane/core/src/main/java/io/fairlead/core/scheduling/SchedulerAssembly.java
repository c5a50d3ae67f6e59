package io.fairlead.core.scheduling;

import io.fairlead.core.scheduling.PluginSet.Made;
import io.fairlead.crds.config.ImpliedTypes;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Assigner;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.ProfileHandler;
import io.fairlead.plugin.SaturationDetector;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Puts a document's plugins together and fills in what it leaves out. */
final class SchedulerAssembly {

  /** Upstream's, which is enough for who is refused at once. */
  private static final String UPSTREAM_DETECTOR = "utilization-detector";

  /**
   * Of those who wait: needs no numbers for hardware and model, and counts what was sent since the
   * last scrape.
   */
  private static final String DETECTOR = "expected-wait-detector";

  private static final String SINGLE_PROFILE = "single-profile-handler";

  /** What the lab found no worse than the others on any workload: docs/evaluation.md. */
  private static final String DEFAULT_SCORER = "work-cost";

  private final SchedulerConfig config;
  private final PluginSet plugins;
  private final Problems problems;
  private final @Nullable Made detector;
  private boolean filledIn;

  SchedulerAssembly(SchedulerConfig config, PluginSet plugins, Problems problems) {
    this.config = config;
    this.plugins = plugins;
    this.problems = problems;
    this.detector = detector();
  }

  SaturationDetector saturation() {
    if (detector != null && detector.plugin() instanceof SaturationDetector listed) {
      return listed;
    }
    boolean upstream = !config.flowControlled() || UPSTREAM_DETECTOR.equals(config.detector());
    String type = upstream && !DETECTOR.equals(config.detector()) ? UPSTREAM_DETECTOR : DETECTOR;
    return plugins.builtIn(type, SaturationDetector.class);
  }

  /** Set by the producer or, as older documents have it, by a prefix scorer. */
  PrefixSettings prefix() {
    Made found = null;
    for (Made made : plugins.all()) {
      PrefixSettings own = made.prefix();
      if (own == null) {
        continue;
      }
      if (found != null && !own.equals(found.prefix())) {
        problems.add(
            made.path() + ".parameters",
            "differ from those of \""
                + found.name()
                + "\", but there is one prefix index; set them in one place");
      }
      found = found == null ? made : found;
    }
    return found == null || found.prefix() == null ? PrefixSettings.DEFAULT : found.prefix();
  }

  Scheduler scheduler() {
    List<Profile> profiles = new ArrayList<>();
    Set<String> names = new HashSet<>();
    for (int i = 0; i < config.profiles().size(); i++) {
      ProfileConfig profile = config.profiles().get(i);
      String path = "scheduler.profiles[" + i + "]";
      if (profile.name().isEmpty()) {
        problems.add(path + ".name", "is empty; set a name");
      } else if (!names.add(profile.name())) {
        problems.add(
            path + ".name", "\"" + profile.name() + "\" is there twice; give each its own name");
      }
      profiles.add(profile(path, profile));
    }
    if (profiles.isEmpty()) {
      profiles.add(profileOfAll());
    }
    ProfileHandler handler = handler(profiles.stream().map(Profile::name).toList());
    return new Scheduler(profiles, handler, assigner(handler));
  }

  private Profile profile(String path, ProfileConfig config) {
    ProfileParts parts = new ProfileParts(plugins, problems);
    for (int i = 0; i < config.plugins().size(); i++) {
      PluginReference reference = config.plugins().get(i);
      String at = path + ".plugins[" + i + "]";
      if (!(reference.weight() >= 0 && reference.weight() <= ProfileParts.MAX_WEIGHT)) {
        problems.add(
            at + ".weight",
            "is " + reference.weight() + "; set a number from 0 to " + ProfileParts.MAX_WEIGHT);
      }
      Made made = resolve(at + ".pluginRef", reference.pluginRef());
      if (made != null) {
        parts.add(at, made, reference.weight());
      }
    }
    return parts.profile(config.name());
  }

  private Profile profileOfAll() {
    ProfileParts parts = new ProfileParts(plugins, problems);
    for (Made made : plugins.all()) {
      boolean gate = detector != null && made.name().equals(detector.name());
      if (!gate && ProfileParts.takes(made.plugin())) {
        parts.add(made.path(), made, 1);
      }
    }
    if (parts.isEmpty()) {
      filledIn = true;
      parts.addScorer(DEFAULT_SCORER, plugins.builtIn(DEFAULT_SCORER, Scorer.class), 1);
    }
    return parts.profile("default");
  }

  /** Whether nothing says by what endpoints are chosen, although plugins are listed. */
  boolean choosesByDefault() {
    return filledIn && !config.plugins().isEmpty();
  }

  private ProfileHandler handler(List<String> profiles) {
    Made found = null;
    for (Made made : plugins.all()) {
      if (!(made.plugin() instanceof ProfileHandler)) {
        continue;
      }
      if (found != null) {
        problems.add(
            made.path(), "is a second profile handler beside " + found.name() + "; keep one");
      } else {
        found = made;
      }
    }
    if (profiles.size() > 1 && (found == null || found.type().equals(SINGLE_PROFILE))) {
      problems.add(
          "scheduler.profiles",
          "has "
              + profiles.size()
              + " entries, but no plugin says which to run when; list a profile handler that can,"
              + " or keep one profile");
    }
    if (found == null || !(found.plugin() instanceof ProfileHandler listed)) {
      return plugins.builtIn(SINGLE_PROFILE, ProfileHandler.class);
    }
    if (found.kept()) {
      return listed;
    }
    try {
      listed.profiles(profiles);
    } catch (InvalidParameterException e) {
      problems.add(found.path() + ".parameters." + e.field(), e);
    } catch (RuntimeException | Error e) {
      problems.failed(
          found.path(), "\"" + found.name() + "\" fails at the profiles " + profiles, e);
    }
    return listed;
  }

  /** The one that is listed, else the profile handler if it can do that as well. */
  private @Nullable Assigner assigner(ProfileHandler handler) {
    Assigner found = null;
    for (Made made : plugins.all()) {
      if (made.plugin() instanceof Assigner assigner && !assigner.equals(handler)) {
        if (found != null) {
          problems.add(made.path(), "is a second assigner; keep one");
        }
        found = assigner;
      }
    }
    return found == null && handler instanceof Assigner both ? both : found;
  }

  private @Nullable Made detector() {
    String path = "scheduler.saturationDetector";
    String name = config.detector();
    if (name != null) {
      if (config.saturationDetector() == null) {
        path = "scheduler.flowControl.saturationDetector.pluginRef";
      }
      if (ImpliedTypes.SATURATION_DETECTOR.has(name) && !plugins.knows(name)) {
        return null;
      }
      Made made = resolve(path, name);
      if (made != null && !(made.plugin() instanceof SaturationDetector)) {
        problems.add(path, "\"" + name + "\" is a " + made.type() + "; name a saturation detector");
      }
      return made;
    }
    List<Made> listed =
        plugins.all().stream().filter(m -> m.plugin() instanceof SaturationDetector).toList();
    if (listed.size() > 1) {
      problems.add(
          path,
          "is not set, and there are several: "
              + String.join(", ", listed.stream().map(Made::name).toList())
              + "; name one of them");
    }
    return listed.size() == 1 ? listed.getFirst() : null;
  }

  private @Nullable Made resolve(String path, String name) {
    if (!plugins.knows(name)) {
      problems.add(
          path, "\"" + name + "\" is not the name of a plugin; there are " + plugins.names());
    }
    return plugins.get(name);
  }
}
