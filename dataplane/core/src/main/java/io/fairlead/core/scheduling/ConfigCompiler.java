package io.fairlead.core.scheduling;

import io.fairlead.core.plugins.BuiltInPlugins;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Makes the plugins that a config document names. Done off the pool's loop; what comes out belongs
 * to one pool. Not changed after construction: any thread may compile.
 *
 * <p>What a document leaves out is filled in: no plugins at all means one profile of queue, KV
 * cache and prefix scorers, weight 1 each; plugins without profiles mean one profile {@code
 * default} of every filter, scorer and picker; a profile without a picker gets {@code
 * max-score-picker}; one profile without a handler gets {@code single-profile-handler}; without a
 * saturation detector named, the only one listed or else {@code utilization-detector} serves.
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
    factories.forEach(this::add);
  }

  private void add(PluginFactory factory) {
    String type = factory.type();
    if (factories.containsKey(type) || UpstreamTypes.builtIn(type)) {
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
    Problems problems = new Problems();
    ModelRules.check(config.models(), problems);
    PluginSet plugins = PluginSet.make(config.scheduler().plugins(), factories, problems);
    SchedulerAssembly assembly = new SchedulerAssembly(config.scheduler(), plugins, problems);
    Scheduler scheduler = assembly.scheduler();
    problems.throwIfAny();
    return new CompiledConfig(config, scheduler, assembly.saturation(), assembly.observers());
  }
}
