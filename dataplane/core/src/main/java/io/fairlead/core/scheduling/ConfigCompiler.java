package io.fairlead.core.scheduling;

import io.fairlead.core.flow.FlowSettings;
import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.crds.config.NotCarriedOut;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.ShadowConfig;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.SaturationDetector;
import io.fairlead.plugin.Setting;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Makes the plugins that a config document names. Done off the pool's loop; what comes out belongs
 * to one pool. Not changed after construction: any thread may compile.
 *
 * <p>What a document leaves out is filled in: no plugins at all means one profile of {@code
 * work-cost}; plugins without profiles mean one profile {@code default} of every filter, scorer and
 * picker; a profile without a picker gets {@code max-score-picker}; one profile without a handler
 * gets {@code single-profile-handler}; without a saturation detector named, the only one listed or
 * else {@code utilization-detector} serves.
 */
public final class ConfigCompiler {

  private final SortedMap<String, PluginFactory> factories = new TreeMap<>();

  /**
   * A compiler that knows the built-in plugin types and these.
   *
   * @param factories plugin types beyond the built-in ones, e.g. from {@link
   *     java.util.ServiceLoader}; one with a built-in type's name is an error
   * @throws IllegalArgumentException if two factories have the same type
   */
  public ConfigCompiler(List<PluginFactory> factories) {
    BuiltInPlugins.factories().forEach(this::add);
    BuiltInSettings.factories().forEach(this::add);
    factories.forEach(this::add);
  }

  private void add(PluginFactory factory) {
    String type = factory.type();
    if (factories.containsKey(type)) {
      throw new IllegalArgumentException(
          "plugin type \""
              + type
              + "\" of "
              + factory.getClass().getName()
              + " is taken; give it another name");
    }
    factories.put(type, factory);
  }

  /**
   * Makes the plugins and resolves the references.
   *
   * @throws InvalidConfigException with every problem found, each with its field path
   */
  public CompiledConfig compile(PoolConfig config) {
    return compile(config, null);
  }

  /**
   * Makes the plugins and resolves the references. A plugin that {@code previous} has with the same
   * name, type and parameters is taken over as it is, with what it has learned.
   *
   * @param previous what this compiler made of the pool's config before, and what runs now; null
   *     for a fresh start
   * @throws InvalidConfigException with every problem found, each with its field path; nothing of
   *     {@code previous} has changed then
   */
  public CompiledConfig compile(PoolConfig config, @Nullable CompiledConfig previous) {
    Problems problems = new Problems();
    ModelRules.check(config.models(), problems);
    RequestRules.check(config.requests(), problems);
    SchedulerConfig scheduling = ShippedProfiles.expand(config.scheduler());
    List<String> profiles = scheduling.profiles().stream().map(ProfileConfig::name).toList();
    KeptPlugins kept =
        previous == null ? new KeptPlugins() : previous.plugins().usable(factories, profiles);
    PluginSet plugins = new PluginSet(factories, kept, problems);
    plugins.make(scheduling.plugins());
    SchedulerAssembly assembly = new SchedulerAssembly(scheduling, plugins, problems);
    Scheduler scheduler = assembly.scheduler();
    SaturationDetector saturation = assembly.saturation();
    PrefixSettings prefix = assembly.prefix();
    FlowSettings flow = new FlowAssembly(scheduling, plugins, problems).settings();
    new SectionRules(plugins, problems).check(scheduling);
    checkExternal(config, problems);
    KvEventsSource events = events(plugins, problems);
    List<CompiledShadow> shadows = shadows(config, previous, problems);
    problems.throwIfAny();
    return new CompiledConfig(
        config,
        plugins.keep(profiles),
        scheduler,
        saturation,
        flow,
        prefix,
        events,
        plugins.instances(Observer.class),
        plugins.instances(Setting.class),
        warnings(scheduling, plugins, assembly.choosesByDefault()),
        shadows);
  }

  /** Where engines tell of their caches, which may be said in several places. */
  private static @Nullable KvEventsSource events(PluginSet plugins, Problems problems) {
    PluginSet.Made first = null;
    for (PluginSet.Made made : plugins.all()) {
      if (made.events() == null) {
        continue;
      }
      if (first == null) {
        first = made;
      } else if (!made.events().equals(first.events())) {
        problems.add(
            made.path() + ".parameters",
            "say otherwise than those of \""
                + first.name()
                + "\" where engines tell of their caches; set them in one place");
      }
    }
    return first == null ? null : first.events();
  }

  /** A scheduling asks one at most. */
  private static void checkExternal(PoolConfig config, Problems problems) {
    boolean listed = false;
    for (int i = 0; i < config.scheduler().plugins().size(); i++) {
      if (config.scheduler().plugins().get(i).type().equals(ExternalScheduler.TYPE)) {
        if (listed) {
          problems.add(
              "scheduler.plugins[" + i + "].type",
              "is a second "
                  + ExternalScheduler.TYPE
                  + "; a scheduling asks one, remove the other");
        }
        listed = true;
      }
    }
  }

  private List<CompiledShadow> shadows(
      PoolConfig config, @Nullable CompiledConfig previous, Problems problems) {
    List<CompiledShadow> shadows = new ArrayList<>();
    for (int i = 0; i < config.shadows().size(); i++) {
      ShadowConfig shadow = config.shadows().get(i);
      CompiledConfig before =
          previous == null
              ? null
              : previous.shadows().stream()
                  .filter(other -> other.name().equals(shadow.name()) && !other.isSpoiled())
                  .map(CompiledShadow::config)
                  .findFirst()
                  .orElse(null);
      try {
        CompiledConfig compiled = compile(alone(config, shadow), before);
        shadows.add(new CompiledShadow(shadow.name(), compiled, before == null));
      } catch (InvalidConfigException e) {
        String path = "shadows[" + i + "].";
        e.problems().stream()
            .filter(problem -> problem.path().startsWith("scheduler."))
            .forEach(problem -> problems.add(path + problem.path(), problem.message()));
        problems.thrown(e.thrown());
      }
    }
    return shadows;
  }

  /** The pool as a shadow sees it. */
  private static PoolConfig alone(PoolConfig config, ShadowConfig shadow) {
    SchedulerConfig tried = shadow.scheduler();
    Map<String, Boolean> gates = new HashMap<>(tried.featureGates());
    gates.put("flowControl", false);
    return new PoolConfig(
        config.namespace(),
        config.name(),
        config.selector(),
        config.targetPorts(),
        config.appProtocol(),
        config.models(),
        config.objectives(),
        config.requests().withReceipts(new ReceiptsConfig(0, 1)),
        new SchedulerConfig(
            tried.plugins(),
            tried.profiles(),
            tried.saturationDetector(),
            gates,
            tried.flowControl(),
            tried.dataLayer(),
            tried.parsers()));
  }

  private static List<Problem> warnings(
      SchedulerConfig config, PluginSet plugins, boolean choosesByDefault) {
    List<Problem> warnings = new ArrayList<>();
    for (NotCarriedOut what : NotCarriedOut.of(config)) {
      warnings.add(new Problem("scheduler." + what.path(), what.message()));
    }
    if (choosesByDefault && plugins.instances(ExternalScheduler.class).isEmpty()) {
      warnings.add(
          new Problem(
              "scheduler.profiles",
              "is not set, and no plugin that is listed filters, scores or picks: endpoints are"
                  + " chosen by work-cost; list what they are to be chosen by"));
    }
    boolean compares =
        plugins.instances(TokenizerSource.class).stream().anyMatch(TokenizerSource::isThere);
    for (PluginSet.Made made : plugins.all()) {
      if (made.events() != null && !compares) {
        warnings.add(
            new Problem(
                made.path(),
                "prompts can't be compared with what engines hold without their model's tokenizer,"
                    + " so that events only say how much that is; list token-producer with path"));
      }
      made.ignored()
          .forEach(
              (field, why) ->
                  warnings.add(
                      new Problem(made.path() + ".parameters." + field, "has no effect: " + why)));
    }
    return warnings;
  }
}
