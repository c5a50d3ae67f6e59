package io.fairlead.core.plugins;

import io.fairlead.plugin.PluginFactory;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The plugin types that are always there. */
public final class BuiltInPlugins {

  private BuiltInPlugins() {}

  /** One factory per type, sorted by type. */
  public static List<PluginFactory> factories() {
    return Stream.of(scorers(), filters(), others())
        .flatMap(List::stream)
        .sorted(Comparator.comparing(PluginFactory::type))
        .toList();
  }

  private static List<PluginFactory> scorers() {
    return List.of(
        new ActiveRequestScorer.Factory(),
        new ContextLengthAware.Factory(),
        new EndpointAttributeScorer.Factory(),
        new HeaderLabelAffinityScorer.Factory(),
        new KvCacheUtilizationScorer.Factory(),
        new LoadAwareScorer.Factory(),
        new LoraAffinityScorer.Factory(),
        new NoHitLruScorer.Factory(),
        new PrefixCacheScorer.Factory(),
        new QueueScorer.Factory(),
        new RunningRequestsSizeScorer.Factory(),
        new SessionAffinityScorer.Factory(),
        new TokenLoadScorer.Factory(),
        new TopologyAffinityScorer.Factory(),
        new WorkCostScorer.Factory());
  }

  private static List<PluginFactory> filters() {
    return Stream.of(
            List.of(
                new EndpointAttributeFilter.Factory(),
                new HeaderBasedTestingFilter.Factory(),
                new LabelFilter.ByLabelFactory(),
                new PrefixCacheAffinityFilter.Factory(),
                new SessionAffinityFilter.Factory(),
                new TopologyAffinityFilter.Factory(),
                new UtilizationFilter.Factory()),
            LabelFilter.Factory.all(),
            RoleFilter.Factory.all())
        .flatMap(List::stream)
        .toList();
  }

  private static List<PluginFactory> others() {
    return List.of(
        new AlwaysDisaggPdDecider.Factory(),
        new AttributeAssigner.Factory(),
        new ConcurrencyDetector.Factory(),
        new DisaggProfileHandler.Factory(),
        new HeaderProfileHandler.Factory(),
        new MaxScorePicker.Factory(),
        new PrefixBasedPdDecider.Factory(),
        new RandomPicker.Factory(),
        new SingleProfileHandler.Factory(),
        new UtilizationDetector.Factory(),
        new WeightedRandomPicker.Factory());
  }
}
