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

  /** What it lists, the servers' own pages first, also when it does not list those. */
  public static List<DataSource> of(CompiledConfig config) {
    List<EngineMetrics> engines = config.settings(EngineMetrics.class);
    List<MetricsSource> pages = config.settings(MetricsSource.class);
    List<DataSource> all = new ArrayList<>();
    for (MetricsSource page : pages.isEmpty() ? List.of(MetricsSource.DEFAULT) : pages) {
      all.add(new EnginePages(page, engines.isEmpty() ? List.of(EngineMetrics.DEFAULT) : engines));
    }
    all.addAll(config.settings(DataSource.class));
    return all;
  }
}
