package io.fairlead.core.scheduling;

import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.PluginFactory;
import java.util.List;

/**
 * Makes the plugins that a config document names. Done off the pool's loop; what comes out belongs
 * to one pool.
 */
public final class ConfigCompiler {

  /**
   * A compiler that knows the built-in plugin types and these.
   *
   * @param factories plugin types beyond the built-in ones, e.g. from {@link
   *     java.util.ServiceLoader}; one with a built-in type's name is an error
   */
  public ConfigCompiler(List<PluginFactory> factories) {}

  /**
   * Makes the plugins and resolves the references.
   *
   * @throws InvalidConfigException with every problem found, each with its field path
   */
  public CompiledConfig compile(PoolConfig config) {
    throw new InvalidConfigException(List.of());
  }
}
