package io.fairlead.core.plugins.labels;

import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.stream.Stream;

/** The plugin types of this package. */
public final class LabelPlugins {

  private LabelPlugins() {}

  /** One factory per type. */
  public static List<PluginFactory> factories() {
    return Stream.of(
            List.<PluginFactory>of(
                new ContextLengthAware.Factory(),
                new HeaderLabelAffinityScorer.Factory(),
                new LabelFilter.ByLabelFactory(),
                new AttributeAssigner.Factory()),
            LabelFilter.Factory.all())
        .flatMap(List::stream)
        .toList();
  }
}
