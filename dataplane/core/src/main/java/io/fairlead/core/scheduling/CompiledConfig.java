package io.fairlead.core.scheduling;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.SaturationDetector;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A config document with its plugins made and its references resolved: ready to be applied. Belongs
 * to one pool: its scheduler keeps scratch arrays.
 */
public final class CompiledConfig {

  private final PoolConfig source;
  private final Map<String, CompiledModel> models;
  private final Scheduler scheduler;
  private final SaturationDetector saturation;
  private final List<Observer> observers;

  CompiledConfig(
      PoolConfig source,
      Scheduler scheduler,
      SaturationDetector saturation,
      List<Observer> observers) {
    this.source = source;
    this.observers = List.copyOf(observers);
    this.scheduler = scheduler;
    this.saturation = saturation;
    this.models = HashMap.newHashMap(source.models().size());
    for (ModelConfig model : source.models()) {
      models.put(model.name(), CompiledModel.of(model));
    }
  }

  /** The document that this was compiled from. */
  public PoolConfig source() {
    return source;
  }

  /**
   * What a request's model name means. A name that is not configured is its own target and
   * sheddable; no name at all (empty) is standard.
   */
  public CompiledModel model(String name) {
    @Nullable CompiledModel known = models.get(name);
    if (known != null) {
      return known;
    }
    return CompiledModel.plain(name, name.isEmpty() ? Criticality.STANDARD : Criticality.SHEDDABLE);
  }

  /** Runs the profiles. */
  public Scheduler scheduler() {
    return scheduler;
  }

  /** Says which endpoints are too full for sheddable requests. */
  public SaturationDetector saturation() {
    return saturation;
  }

  /** Plugins that want to know what becomes of requests. */
  public List<Observer> observers() {
    return observers;
  }
}
