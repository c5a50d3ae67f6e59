package io.fairlead.epp.datalayer;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.plugin.DataSource;
import io.fairlead.plugin.DataSource.Target;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data source of a config. Its code reads whole pages on a thread of its own, so the worst it can
 * do is to know nothing. At most one page for each endpoint waits there: none is asked again
 * before.
 */
final class ListedPageSource implements PageSource {

  private static final Logger LOG = LoggerFactory.getLogger(ListedPageSource.class);

  private final DataSource source;
  private final Duration interval;
  private final int maxBytes;
  private final ThreadPoolExecutor thread;
  private final AtomicLong failures = new AtomicLong();

  /**
   * @throws RuntimeException whatever the source's own code throws
   */
  ListedPageSource(DataSource source) {
    this.source = source;
    interval = source.interval();
    maxBytes = source.maxBytes();
    if (interval.toMillis() < 10 || maxBytes < 1 || !source.path().startsWith("/")) {
      throw new IllegalArgumentException(
          source.getClass().getName()
              + ": interval "
              + interval
              + ", maxBytes "
              + maxBytes
              + ", path \""
              + source.path()
              + "\"; at least 10 ms, at least 1, and a leading slash are needed");
    }
    // Without a page to read there is no thread.
    thread =
        new ThreadPoolExecutor(
            0,
            1,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("fairlead-data-source").factory());
  }

  @Override
  public DataSource source() {
    return source;
  }

  @Override
  public Duration interval() {
    return interval;
  }

  @Override
  public @Nullable EndpointTls tls() {
    return null;
  }

  @Override
  public boolean ofEngine() {
    return false;
  }

  @Override
  public PageReader reader(Target endpoint, Executor loop) {
    return new Whole(endpoint, loop);
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  private @Nullable EndpointReadings read(Target endpoint, String page) {
    try {
      EndpointReadings readings = new EndpointReadings();
      source.read(endpoint, page, readings);
      return readings;
    } catch (RuntimeException | StackOverflowError | LinkageError | AssertionError e) {
      long count = failures.incrementAndGet();
      if (Long.bitCount(count) == 1) {
        LOG.warn(
            "Data source {} can't read what {} says, {} times so far",
            source.getClass().getName(),
            endpoint.name(),
            count,
            e);
      }
      return null;
    }
  }

  private final class Whole implements PageReader {

    private final Target endpoint;
    private final Executor loop;
    private ByteArrayOutputStream page = new ByteArrayOutputStream();

    Whole(Target endpoint, Executor loop) {
      this.endpoint = endpoint;
      this.loop = loop;
    }

    @Override
    public void begin() {
      page.reset();
    }

    @Override
    public void feed(byte[] bytes, int offset, int length) {
      page.write(bytes, offset, length);
    }

    @Override
    public void end(Sink sink) {
      String text = page.toString(StandardCharsets.UTF_8);
      page = new ByteArrayOutputStream();
      try {
        thread.execute(
            () -> {
              EndpointReadings readings = null;
              try {
                readings = read(endpoint, text);
              } finally {
                tell(sink, readings); // whatever it threw: the endpoint waits for this
              }
            });
      } catch (RejectedExecutionException e) {
        sink.read(null); // closed meanwhile
      }
    }

    private void tell(Sink sink, @Nullable EndpointReadings readings) {
      try {
        loop.execute(() -> sink.read(readings));
      } catch (RejectedExecutionException e) {
        // The loop is gone, and with it whoever wanted to know.
      }
    }
  }
}
