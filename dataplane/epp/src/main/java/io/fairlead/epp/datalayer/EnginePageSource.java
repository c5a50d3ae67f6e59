package io.fairlead.epp.datalayer;

import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.DataSource.Target;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.time.Duration;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Reads servers' own pages where they arrive: in place, without a copy or another thread. */
final class EnginePageSource implements PageSource {

  private final EnginePages pages;
  private final Duration interval;
  private final Duration quiet;
  private final @Nullable SslContext tls;

  EnginePageSource(EnginePages pages, MetricsScraper.Settings usual) {
    this.pages = pages;
    boolean own = !pages.interval().isZero();
    interval = own ? pages.interval() : usual.interval();
    quiet = own ? pages.interval() : usual.quiet();
    tls = pages.source().tls() ? tls(pages.source().verify()) : null;
  }

  private static SslContext tls(boolean verify) {
    SslContextBuilder client = SslContextBuilder.forClient();
    if (!verify) {
      client.trustManager(InsecureTrustManagerFactory.INSTANCE).endpointIdentificationAlgorithm("");
    }
    try {
      return client.build();
    } catch (SSLException e) {
      throw new IllegalStateException("TLS can't be set up", e);
    }
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
  public @Nullable SslContext tls() {
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
