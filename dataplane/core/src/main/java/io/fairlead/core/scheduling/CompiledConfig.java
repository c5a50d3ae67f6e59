package io.fairlead.core.scheduling;

import io.fairlead.core.FlowHeaders;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.Timeouts;
import io.fairlead.core.flow.FlowSettings;
import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.core.view.Teachable;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.ReceiptsConfig;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.SaturationDetector;
import io.fairlead.plugin.Setting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A config document with its plugins made and its references resolved: ready to be applied. Belongs
 * to one pool: its scheduler keeps scratch arrays.
 */
public final class CompiledConfig {

  private final PoolConfig source;
  private final Map<String, CompiledModel> models;
  private final Map<String, ObjectiveConfig> objectives;
  private final Timeouts poolTimeouts;
  private final Scheduler scheduler;
  private final SaturationDetector saturation;
  private final @Nullable FlowSettings flow;
  private final KeptPlugins plugins;
  private final Map<Teachable, PluginConfig> teachables;
  private final List<Observer> observers;
  private final List<Setting> settings;
  private final List<Problem> warnings;
  private final PrefixSettings prefix;
  private final @Nullable KvEventsSource events;
  private final List<CompiledShadow> shadows;

  CompiledConfig(
      PoolConfig source,
      KeptPlugins plugins,
      Scheduler scheduler,
      SaturationDetector saturation,
      @Nullable FlowSettings flow,
      PrefixSettings prefix,
      @Nullable KvEventsSource events,
      List<Observer> observers,
      List<Setting> settings,
      List<Problem> warnings,
      List<CompiledShadow> shadows) {
    this.shadows = List.copyOf(shadows);
    this.source = source;
    this.plugins = plugins;
    this.teachables = plugins.teachables();
    this.observers = List.copyOf(observers);
    this.settings = List.copyOf(settings);
    this.warnings = List.copyOf(warnings);
    this.scheduler = scheduler;
    this.saturation = saturation;
    this.flow = flow;
    this.prefix = prefix;
    this.events = events;
    this.poolTimeouts = CompiledModel.timeouts(source.requests().timeouts());
    this.models = HashMap.newHashMap(source.models().size());
    for (ModelConfig model : source.models()) {
      models.put(model.name(), CompiledModel.of(model));
    }
    this.objectives = HashMap.newHashMap(source.objectives().size());
    for (ObjectiveConfig objective : source.objectives()) {
      objectives.put(objective.name(), objective);
    }
  }

  /** The document that this was compiled from. */
  public PoolConfig source() {
    return source;
  }

  /**
   * What a request's model name means. A name that is not configured is its own target, as
   * important as {@link #unconfigured()}; no name at all (empty) is standard.
   */
  public CompiledModel model(String name) {
    @Nullable CompiledModel known = models.get(name);
    if (known != null) {
      return known;
    }
    return CompiledModel.plain(name, name.isEmpty() ? Criticality.STANDARD : unconfigured());
  }

  /** What the names of configured models are replaced by, each once. */
  public Set<String> targets() {
    return models.values().stream()
        .flatMap(CompiledModel::targets)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Whether it says something of this model. */
  public boolean names(String model) {
    return models.containsKey(model);
  }

  /**
   * How a request fares when the pool is short of capacity: as its objective says, where it names
   * one that is configured, else as its model does.
   */
  public Criticality criticality(CompiledModel model, RequestHeaders headers) {
    ObjectiveConfig objective = objective(headers);
    return objective == null ? model.criticality() : objective.criticality();
  }

  /** The same as a number: the larger, the more important; below 0 is sheddable. */
  public long priority(CompiledModel model, RequestHeaders headers) {
    ObjectiveConfig objective = objective(headers);
    if (objective != null) {
      return objective.priority();
    }
    return switch (model.criticality()) {
      case CRITICAL -> 1;
      case STANDARD -> 0;
      case SHEDDABLE -> -1;
    };
  }

  /** The one that the request names; null if it names none that is configured. */
  private @Nullable ObjectiveConfig objective(RequestHeaders headers) {
    if (!objectives.isEmpty()) {
      for (String header : FlowHeaders.OBJECTIVE) {
        String named = headers.first(header);
        if (named != null) {
          return objectives.get(named);
        }
      }
    }
    return null;
  }

  /** How requests fare whose model is not configured. */
  public Criticality unconfigured() {
    return source.requests().unconfiguredModels();
  }

  /** Bounds of requests of which neither the request nor its model says other ones. */
  public Timeouts poolTimeouts() {
    return poolTimeouts;
  }

  /** Whether headers of a request may set its own bounds in time. */
  public boolean trustTimeoutHeaders() {
    return source.requests().trustTimeoutHeaders();
  }

  /** Whose headers count for flow control. */
  public FlowTrust trustFlowHeaders() {
    return source.requests().trustFlowHeaders();
  }

  /** Of how many requests it is kept why they went where they did. */
  public ReceiptsConfig receipts() {
    return source.requests().receipts();
  }

  /** Requests that may be sent again, as a share of those that arrive: 0 to 1. */
  public double retryBudget() {
    return source.requests().retryBudgetPercent() / 100.0;
  }

  /** Runs the profiles. */
  public Scheduler scheduler() {
    return scheduler;
  }

  /** Says which endpoints are too full for sheddable requests. */
  public SaturationDetector saturation() {
    return saturation;
  }

  /** How requests wait that find no room; null if none does. */
  public @Nullable FlowSettings flow() {
    return flow;
  }

  /** How much the prefix index remembers. */
  public PrefixSettings prefix() {
    return prefix;
  }

  /** Where engines tell what their caches hold; null where nobody listens. */
  public @Nullable KvEventsSource kvEvents() {
    return events;
  }

  /** Listed settings of this kind, for what they configure. */
  public <S extends Setting> List<S> settings(Class<S> kind) {
    return settings.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /** What is tried beside it. */
  public List<CompiledShadow> shadows() {
    return shadows;
  }

  /** What the document says that is checked and not carried out. */
  public List<Problem> warnings() {
    return warnings;
  }

  KeptPlugins plugins() {
    return plugins;
  }

  /** Plugins that can tell what they have learned, and what each is. */
  public Map<Teachable, PluginConfig> teachables() {
    return teachables;
  }

  /** Plugins that want to know what becomes of requests. */
  public List<Observer> observers() {
    return observers;
  }
}
