package io.fairlead.lab.faults;

import io.fairlead.lab.load.Answered;
import io.fairlead.lab.load.LoadRun;
import io.fairlead.lab.load.LoadSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** One scenario on one way, with servers and a picker of its own. */
final class Trial {

  /** A client waits so long for a whole answer. */
  private static final Duration TIMEOUT = Duration.ofSeconds(15);

  /** Programs that have just been started are slow, this one among them. */
  private static final Duration WARM_UP = Duration.ofSeconds(4);

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long BETWEEN_LOOKS_MILLIS = 250;
  private static final List<String> MODELS =
      List.of(PoolFiles.MODEL, PoolFiles.TARGET, PoolFiles.UNCONFIGURED);

  private final Scenario scenario;
  private final Way way;
  private final PoolFiles files;
  private final long seed;
  private final Queue<Answered> answers = new ConcurrentLinkedQueue<>();

  /**
   * A trial to be made.
   *
   * @param home an empty folder
   */
  Trial(Scenario scenario, Way way, Path home, long seed) {
    this.scenario = scenario;
    this.way = way;
    this.files = new PoolFiles(home);
    this.seed = seed;
  }

  Finding make() throws IOException, InterruptedException {
    files.write(scenario.load().criticality());
    try (var pool = new FaultyPool(scenario.servers(), files, MODELS);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(2)) {
      for (Scenario.Step step : scenario.steps()) {
        if (step.at() < 0) {
          step.deed().to(pool);
        }
      }
      try (Way.Started started = way.start(files)) {
        awaitAnswer(started.url());
        if (!scenario.fromTheStart()) {
          warmUp(started.url());
        }
        return watched(pool, started, timer);
      } finally {
        timer.shutdownNow();
      }
    }
  }

  private Finding watched(FaultyPool pool, Way.Started started, ScheduledExecutorService timer)
      throws InterruptedException {
    var counts = new SentCounts(pool, started.metrics());
    // A thread of its own for what is done, so that a slow look delays nothing.
    long begin = System.nanoTime();
    for (Scenario.Step step : scenario.steps()) {
      if (step.at() >= 0) {
        long in = begin + (long) (step.at() * 1e9) - System.nanoTime();
        var _ = timer.schedule(() -> take(step, pool), in, TimeUnit.NANOSECONDS);
      }
    }
    var _ =
        timer.scheduleWithFixedDelay(
            () -> counts.look((System.nanoTime() - begin) / 1e9),
            0,
            BETWEEN_LOOKS_MILLIS,
            TimeUnit.MILLISECONDS);
    try (var run = new LoadRun(started.url(), settings(), answers::add)) {
      run.send(
          scenario.load().start(seed),
          Long.MAX_VALUE,
          Duration.ofNanos((long) (scenario.end() * 1e9)));
    }
    counts.look((System.nanoTime() - begin) / 1e9);
    return new Assessment(scenario, way.name(), pool.names(), List.copyOf(answers), counts)
        .finding();
  }

  private void warmUp(URI url) throws InterruptedException {
    try (var run = new LoadRun(url, settings())) {
      run.send(scenario.load().start(seed - 1), Long.MAX_VALUE, WARM_UP);
    }
  }

  private LoadSettings settings() {
    return new LoadSettings(TIMEOUT, 1, scenario.load().streamShare(), false, model -> model);
  }

  private static void take(Scenario.Step step, FaultyPool pool) {
    try {
      step.deed().to(pool);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A picker is there when a request gets through it. */
  private static void awaitAnswer(URI url) throws IOException, InterruptedException {
    byte[] body =
        "{\"model\":\"%s\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"
            .formatted(PoolFiles.MODEL)
            .getBytes(StandardCharsets.UTF_8);
    HttpRequest request =
        HttpRequest.newBuilder(url.resolve("/v1/chat/completions"))
            .timeout(Duration.ofSeconds(2))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    long end = System.nanoTime() + PATIENCE.toNanos();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      while (true) {
        String answer;
        try {
          int status = client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
          if (status == 200) {
            return;
          }
          answer = Integer.toString(status);
        } catch (IOException e) {
          answer = e.toString();
        }
        if (System.nanoTime() > end) {
          throw new IOException("no request gets through at " + url + ": " + answer);
        }
        Thread.sleep(BETWEEN_LOOKS_MILLIS);
      }
    }
  }
}
