package io.fairlead.epp.datalayer;

import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.Readings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * The servers' own metrics pages, in Prometheus's text format: the data source that is there
 * without being listed. The scraper reads these piece by piece as they come; {@link #read} is the
 * same for a whole page.
 *
 * @param source where the pages are
 * @param engines what stands on them
 * @param asRequests whether servers are trusted here, over TLS, as they are with requests: nobody
 *     says otherwise
 */
record EnginePages(MetricsSource source, List<EngineMetrics> engines, boolean asRequests)
    implements DataSource {

  static final EnginePages DEFAULT =
      new EnginePages(MetricsSource.DEFAULT, List.of(EngineMetrics.DEFAULT));

  /** No engine writes that much; a server that does is not read to its end. */
  private static final int MAX_BYTES = 16 << 20;

  /** Pages of which a config says itself how servers are trusted. */
  EnginePages(MetricsSource source, List<EngineMetrics> engines) {
    this(source, engines, false);
  }

  EnginePages {
    engines = List.copyOf(engines);
  }

  PrometheusPage page(Target endpoint) {
    return new PrometheusPage(MetricMapping.of(engines, endpoint.labels()));
  }

  @Override
  public String path() {
    return source.path();
  }

  @Override
  public int port(Target endpoint) {
    return source.port() == 0 ? endpoint.port() : source.port();
  }

  /** Zero for the picker's own pace. */
  @Override
  public Duration interval() {
    Duration set = source.interval();
    return set == null ? Duration.ZERO : set;
  }

  @Override
  public int maxBytes() {
    return MAX_BYTES;
  }

  @Override
  public void read(Target endpoint, String page, Readings readings) {
    PrometheusPage reader = page(endpoint);
    byte[] bytes = page.getBytes(StandardCharsets.UTF_8);
    reader.reset();
    reader.feed(bytes, 0, bytes.length);
    reader.finish(readings);
  }
}
