package io.fairlead.epp.datalayer;

import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.plugin.DataSource;
import java.util.ArrayList;
import java.util.List;

/** The data sources of a config. */
public final class DataSources {

  /** Nothing listed: the servers' own pages. */
  static final List<DataSource> DEFAULT = List.of(EnginePages.DEFAULT);

  private DataSources() {}

  /** Nothing listed: the servers' own pages, where they are. */
  static List<DataSource> of(MetricsSource pages) {
    return List.of(new EnginePages(pages, List.of(EngineMetrics.DEFAULT)));
  }

  /**
   * What it lists, the servers' own pages first, also when it does not list those.
   *
   * @param usual where those pages are then
   */
  public static List<DataSource> of(CompiledConfig config, MetricsSource usual) {
    List<EngineMetrics> engines = config.settings(EngineMetrics.class);
    List<MetricsSource> pages = config.settings(MetricsSource.class);
    List<DataSource> all = new ArrayList<>();
    for (MetricsSource page : pages.isEmpty() ? List.of(usual) : pages) {
      all.add(new EnginePages(page, engines.isEmpty() ? List.of(EngineMetrics.DEFAULT) : engines));
    }
    all.addAll(config.settings(DataSource.class));
    return all;
  }
}
