package io.fairlead.epp.datalayer;

import io.fairlead.epp.tls.EndpointSecurity;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.DataSource.Target;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** Reads servers' own pages where they arrive: in place, without a copy or another thread. */
final class EnginePageSource implements PageSource {

  private final EnginePages pages;
  private final Duration interval;
  private final Duration quiet;
  private final @Nullable EndpointTls tls;

  EnginePageSource(EnginePages pages, MetricsScraper.Settings usual) {
    this.pages = pages;
    boolean own = !pages.interval().isZero();
    interval = own ? pages.interval() : usual.interval();
    quiet = own ? pages.interval() : usual.quiet();
    tls = tls(pages, usual.tls());
  }

  private static @Nullable EndpointTls tls(EnginePages pages, @Nullable EndpointTls ofRequests) {
    if (!pages.source().tls()) {
      return null;
    }
    if (pages.asRequests() && ofRequests != null) {
      return ofRequests;
    }
    return EndpointTls.of(
        pages.source().verify()
            ? new EndpointSecurity.Verified(null, null)
            : new EndpointSecurity.Unverified());
  }

  @Override
  public DataSource source() {
    return pages;
  }

  @Override
  public Duration interval() {
    return interval;
  }

  @Override
  public Duration quiet() {
    return quiet;
  }

  @Override
  public @Nullable EndpointTls tls() {
    return tls;
  }

  @Override
  public boolean ofEngine() {
    return true;
  }

  @Override
  public PageReader reader(Target endpoint, Executor loop) {
    PrometheusPage page = pages.page(endpoint);
    return new PageReader() {
      @Override
      public void begin() {
        page.reset();
      }

      @Override
      public void feed(byte[] bytes, int offset, int length) {
        page.feed(bytes, offset, length);
      }

      @Override
      public void end(Sink sink) {
        EndpointReadings readings = new EndpointReadings();
        page.finish(readings);
        sink.read(readings);
      }
    };
  }

  @Override
  public void close() {}
}
