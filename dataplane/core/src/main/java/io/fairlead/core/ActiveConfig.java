package io.fairlead.core;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.Observer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The config in force, and what holds while there is none. */
final class ActiveConfig {

  private @Nullable CompiledConfig config;

  void apply(CompiledConfig next) {
    config = next;
  }

  /** Null before the first one. */
  @Nullable CompiledConfig get() {
    return config;
  }

  List<Observer> observers() {
    return config == null ? List.of() : config.observers();
  }

  Criticality criticalityOf(RequestFacts facts) {
    return config == null
        ? Criticality.STANDARD
        : config.criticality(config.model(facts.model()), facts.headers());
  }
}
