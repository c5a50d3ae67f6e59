package io.fairlead.lab.load;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.HdrHistogram.Histogram;

/**
 * How many requests wait in the engines of model servers, by their own metrics: each is looked at
 * ten times a second, so that what waits for less may be missed.
 */
final class EngineQueues implements AutoCloseable {

  private static final Pattern WAITING =
      Pattern.compile("^vllm:num_requests_waiting\\{[^}]*} ([0-9.eE+]+)$", Pattern.MULTILINE);
  private static final long MILLIS_BETWEEN_LOOKS = 100;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final int MOST = 1_000_000;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(TIMEOUT).build();
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Histogram looks = new Histogram(MOST, 3);

  /**
   * Looks at servers from now on.
   *
   * @param servers their URLs
   */
  EngineQueues(List<URI> servers) {
    for (URI server : servers) {
      HttpRequest page =
          HttpRequest.newBuilder(server.resolve("/metrics")).timeout(TIMEOUT).build();
      Thread.ofVirtual().name("look-" + server).start(() -> look(page));
    }
  }

  private void look(HttpRequest page) {
    try {
      do {
        try {
          seen(client.send(page, BodyHandlers.ofString()).body());
        } catch (IOException notNow) {
          // Its queue is not known at this moment; that it fails is told by its requests.
        }
      } while (!closed.await(MILLIS_BETWEEN_LOOKS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void seen(String page) {
    Matcher matcher = WAITING.matcher(page);
    while (matcher.find()) {
      looks.recordValue(Math.min(MOST, (long) Double.parseDouble(matcher.group(1))));
    }
  }

  /** Requests in one engine's queue: what 99 of 100 looks at one saw at most, and all. */
  synchronized Waiting seen() {
    return new Waiting(looks.getTotalCount(), looks.getValueAtPercentile(99), looks.getMaxValue());
  }

  /**
   * What was seen of queues in engines.
   *
   * @param looks how many looks at one server
   * @param p99 99 of 100 looks saw no more
   * @param most none saw more
   */
  record Waiting(long looks, long p99, long most) {}

  @Override
  public void close() {
    closed.countDown();
    client.shutdownNow();
    client.close();
  }
}
