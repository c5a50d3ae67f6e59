package io.fairlead.lab.load;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.lab.workload.Workload;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The program of {@code hack/load start}: what the first requests after a start cost. It starts a
 * picker, sends load from the moment that it is ready, and compares its first seconds with later
 * ones. The client has warmed up before on another way.
 */
public final class StartRun {

  private static final Duration TIMEOUT = Duration.ofSeconds(15);
  private static final Duration WARM_UP = Duration.ofSeconds(10);
  private static final Duration FIRST = Duration.ofSeconds(10);
  private static final Duration ALL = Duration.ofSeconds(60);
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long BETWEEN_LOOKS_MILLIS = 10;
  private static final long LONGEST_MICROS = 60_000_000;

  private final StartOptions options;
  private final Workload workload;

  private StartRun(StartOptions options) {
    this.options = options;
    workload = MixedRequests.of(options.model(), options.ratePerSecond());
  }

  /**
   * Prints a table and writes a report; exits 1 when a request failed.
   *
   * @param args see {@link StartOptions}
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    StartOptions options;
    try {
      options = StartOptions.parse(args);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    StartReport report = new StartRun(options).run();
    report.lines().forEach(System.out::println);
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(options.report().toFile(), report);
    boolean failed =
        report.starts().stream().anyMatch(s -> s.first().failed() + s.steady().failed() > 0);
    System.exit(failed ? 1 : 0);
  }

  private StartReport run() throws IOException, InterruptedException {
    var starts = new ArrayList<StartReport.Start>();
    for (int round = 0; round < options.rounds(); round++) {
      System.err.printf("start %d of %d%n", round + 1, options.rounds());
      try (var client = new LoadRun(options.other(), LoadSettings.mixed(TIMEOUT))) {
        client.send(workload.start(options.seed() - 1), Long.MAX_VALUE, WARM_UP);
      }
      starts.add(start(options.seed() + round));
    }
    return new StartReport(starts);
  }

  private StartReport.Start start(long seed) throws IOException, InterruptedException {
    long begun = System.nanoTime();
    Process picker =
        new ProcessBuilder("bash", "-c", "exec " + options.command())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(options.log().toFile()))
            .start();
    Thread lastResort = new Thread(picker::destroyForcibly, "stop-picker");
    Runtime.getRuntime().addShutdownHook(lastResort);
    try {
      awaitReady(picker);
      double readyMillis = (System.nanoTime() - begun) / 1e6;
      return load(picker.toHandle(), seed, readyMillis);
    } finally {
      picker.destroy();
      if (!picker.waitFor(30, TimeUnit.SECONDS)) {
        picker.destroyForcibly();
      }
      Runtime.getRuntime().removeShutdownHook(lastResort);
    }
  }

  private void awaitReady(Process picker) throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(options.ready()).timeout(Duration.ofSeconds(1)).build();
    long end = System.nanoTime() + PATIENCE.toNanos();
    try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      while (!isReady(client, request)) {
        if (!picker.isAlive() || System.nanoTime() > end) {
          throw new IOException("the picker did not get ready; its output: " + options.log());
        }
        Thread.sleep(BETWEEN_LOOKS_MILLIS);
      }
    }
  }

  private static boolean isReady(HttpClient client, HttpRequest request)
      throws InterruptedException {
    try {
      return client.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  private StartReport.Start load(ProcessHandle picker, long seed, double readyMillis)
      throws IOException, InterruptedException {
    var answers = new ConcurrentLinkedQueue<Answered>();
    Duration atFirst = cpu(picker);
    try (var run = new LoadRun(options.target(), LoadSettings.mixed(TIMEOUT), answers::add)) {
      run.send(workload.start(seed), Long.MAX_VALUE, FIRST);
    }
    StartReport.Span first = span(picker, answers, atFirst);
    try (var run = new LoadRun(options.target(), LoadSettings.mixed(TIMEOUT))) {
      run.send(workload.start(seed), Long.MAX_VALUE, ALL.minus(FIRST).minus(FIRST));
    }
    answers.clear();
    Duration atLast = cpu(picker);
    try (var run = new LoadRun(options.target(), LoadSettings.mixed(TIMEOUT), answers::add)) {
      run.send(workload.start(seed), Long.MAX_VALUE, FIRST);
    }
    return new StartReport.Start(readyMillis, first, span(picker, answers, atLast));
  }

  private static StartReport.Span span(
      ProcessHandle picker, Iterable<Answered> answers, Duration cpuBefore) throws IOException {
    var micros = new Histogram(LONGEST_MICROS, 3);
    long requests = 0;
    long failed = 0;
    for (Answered answer : answers) {
      requests++;
      if (answer.outcome() == Answered.Outcome.SUCCEEDED) {
        micros.recordValue(Math.min(answer.firstByte().toNanos() / 1_000, LONGEST_MICROS));
      } else {
        failed++;
      }
    }
    return new StartReport.Span(
        requests,
        failed,
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        cpu(picker).minus(cpuBefore).toNanos() / 1e3 / Math.max(1, requests),
        residentMiB(picker));
  }

  private static Duration cpu(ProcessHandle process) {
    return process
        .info()
        .totalCpuDuration()
        .orElseThrow(() -> new IllegalStateException("the picker has ended"));
  }

  /** From the kernel's table; NaN on other systems than Linux. */
  private static double residentMiB(ProcessHandle process) throws IOException {
    Path status = Path.of("/proc", Long.toString(process.pid()), "status");
    if (!Files.exists(status)) {
      return Double.NaN;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("VmRSS:"))
        .mapToDouble(line -> Double.parseDouble(line.replaceAll("[^0-9]", "")) / 1024)
        .findFirst()
        .orElse(Double.NaN);
  }
}
