package io.fairlead.epp.datalayer;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.DataSource.Target;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** A data source as the scraper works with it: one for all endpoints. */
interface PageSource extends AutoCloseable {

  DataSource source();

  Duration interval();

  /** Time from one look to the next while no decision depends on it, at least. */
  default Duration quiet() {
    return interval();
  }

  /** Null for plain HTTP. */
  @Nullable EndpointTls tls();

  /** Whether it is the servers' own page, without which nothing is told. */
  boolean ofEngine();

  /**
   * Reads the pages of one endpoint, on its loop.
   *
   * @param loop where the endpoint's events happen
   */
  PageReader reader(Target endpoint, Executor loop);

  @Override
  void close();

  /** Reads one page after another. */
  interface PageReader {

    /** A new page begins. */
    void begin();

    /** More of it; the bytes are not kept. */
    void feed(byte[] bytes, int offset, int length);

    /** The page is whole. Answers the sink once, now or later, always on the loop. */
    void end(Sink sink);
  }

  /** Takes what a page said, or that it could not be read. */
  interface Sink {
    void read(@Nullable EndpointReadings readings);
  }
}
