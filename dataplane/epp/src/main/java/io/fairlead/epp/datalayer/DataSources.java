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
  static List<DataSource> of(MetricsScraper.Settings usual) {
    return List.of(
        new EnginePages(usual.pages(), List.of(EngineMetrics.DEFAULT), usual.asRequests()));
  }

  /**
   * What it lists, the servers' own pages first, also when it does not list those.
   *
   * @param usual where those pages are then
   */
  public static List<DataSource> of(CompiledConfig config, MetricsScraper.Settings usual) {
    List<EngineMetrics> listed = config.settings(EngineMetrics.class);
    List<EngineMetrics> engines = listed.isEmpty() ? List.of(EngineMetrics.DEFAULT) : listed;
    List<MetricsSource> pages = config.settings(MetricsSource.class);
    List<DataSource> all = new ArrayList<>();
    if (pages.isEmpty()) {
      all.add(new EnginePages(usual.pages(), engines, usual.asRequests()));
    }
    for (MetricsSource page : pages) {
      all.add(new EnginePages(page, engines));
    }
    all.addAll(config.settings(DataSource.class));
    return all;
  }
}
