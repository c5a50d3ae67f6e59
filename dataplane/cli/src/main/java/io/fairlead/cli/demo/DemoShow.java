package io.fairlead.cli.demo;

import io.fairlead.cli.ShownText;
import io.fairlead.core.EndpointSnapshot;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.DataPlane;
import io.fairlead.epp.EndpointView;
import io.fairlead.lab.load.LoadReport;
import io.fairlead.lab.load.LoadRun;
import io.fairlead.lab.load.LoadSettings;
import io.fairlead.lab.workload.MixedWorkload;
import io.fairlead.lab.workload.MixedWorkload.ModelShare;
import io.fairlead.lab.workload.MixedWorkload.Spec;
import java.io.Console;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** What the user of the demo sees: where to send requests, the table, the summary. */
final class DemoShow implements AutoCloseable {

  private static final int REQUESTS_PER_ROUND = 150;
  private static final long REFRESH_MILLIS = 500;
  private static final long LINES_REFRESH_MILLIS = 5_000;
  private static final long AT_REST_POLL_MILLIS = 20;
  private static final Duration AT_REST_LIMIT = Duration.ofSeconds(10);

  private final DataPlane plane;
  private final Path folder;
  private final PrintStream out = System.out;
  private final boolean live = onTerminal();
  private final LoadRun load;
  private final CountDownLatch stopped;
  private int linesShown;

  DemoShow(DataPlane plane, Path folder, CountDownLatch stopped) {
    this.plane = plane;
    this.folder = folder;
    this.stopped = stopped;
    this.load = new LoadRun(base(), LoadSettings.mixed(Duration.ofSeconds(60)));
  }

  void banner(int stubs) {
    int admin = plane.adminPort().orElseThrow();
    out.println(
        """
        Fairlead runs: the gateway on %s in front of %d model server stubs.
        See what it does: http://127.0.0.1:%d/console/

        Ask it something:

          curl -s %s/v1/chat/completions -H 'content-type: application/json' \\
            -d '{"model": "chat", "messages": [{"role": "user", "content": "Where does the rope run?"}]}'

        Edit the YAML in %s (a weight, a criticality, an endpoint): it takes effect within a second.
        Metrics: http://127.0.0.1:%d/metrics
        """
            .formatted(base(), stubs, admin, base(), folder, admin));
  }

  /** One round of the load, then the summary. Returns the exit code. */
  int once(double rate, long seed) throws InterruptedException {
    Thread sender = startSending(rate, seed, 1);
    showUntil(sender);
    untilAtRest();
    LoadReport report = load.report();
    summary(report);
    return report.failed() == 0 && report.sent() == REQUESTS_PER_ROUND ? 0 : 1;
  }

  /** Rounds of the load until told to stop, then the summary. Returns the exit code. */
  int untilStopped(double rate, long seed) throws InterruptedException {
    Thread sender = startSending(rate, seed, Integer.MAX_VALUE);
    showUntil(sender);
    summary(load.report());
    return 0;
  }

  @Override
  public void close() {
    load.close();
  }

  /** Whether the table can be drawn over itself. */
  @SuppressWarnings("SystemConsoleNull") // true of JDK 22 to 24; 25 gives null without a terminal
  static boolean onTerminal() {
    Console console = System.console();
    return console != null && console.isTerminal();
  }

  private URI base() {
    return URI.create("http://127.0.0.1:" + plane.gatewayPort().orElseThrow());
  }

  private Thread startSending(double rate, long seed, int rounds) {
    var workload =
        new MixedWorkload(
            new Spec(
                List.of(new ModelShare("chat", 3), new ModelShare("batch", 1)),
                rate,
                6,
                600,
                120,
                48));
    return Thread.ofPlatform()
        .name("demo-load")
        .start(
            () -> {
              try {
                for (int round = 0; round < rounds && stopped.getCount() > 0; round++) {
                  load.send(workload.start(seed + round), REQUESTS_PER_ROUND, Duration.ofDays(365));
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  private void showUntil(Thread sender) throws InterruptedException {
    long refresh = live ? REFRESH_MILLIS : LINES_REFRESH_MILLIS;
    while (!sender.join(Duration.ofMillis(refresh))) {
      if (stopped.await(0, TimeUnit.SECONDS)) {
        load.stop();
      } else {
        table();
        if (out.checkError()) {
          // Nobody reads any more.
          stopped.countDown();
        }
      }
    }
  }

  /**
   * Waits until the endpoints say that nothing runs or waits: the last scrape may be older than the
   * last answer. Gives up after some seconds, and the table shows what was seen then.
   */
  private void untilAtRest() throws InterruptedException {
    long deadline = System.nanoTime() + AT_REST_LIMIT.toNanos();
    while (plane.snapshot().join().stream().map(DemoShow::row).anyMatch(EndpointRow::busy)
        && System.nanoTime() - deadline < 0
        && !stopped.await(AT_REST_POLL_MILLIS, TimeUnit.MILLISECONDS)) {
      // Look again.
    }
  }

  private void table() {
    List<String> lines = new ArrayList<>();
    lines.addAll(EndpointTable.lines(plane.snapshot().join().stream().map(DemoShow::row).toList()));
    lines.addAll(config(plane.report()));
    if (live && linesShown > 0) {
      out.printf("\033[%dA\033[J", linesShown); // back up over the last table and clear it
    }
    if (live) {
      // Cut where the terminal ends: lines that wrap would be more than are gone back over.
      out.print("\033[?7l");
    }
    lines.forEach(out::println);
    out.print(live ? "\033[?7h" : System.lineSeparator());
    linesShown = lines.size();
  }

  private static List<String> config(PickerReport report) {
    String hash = String.valueOf(Objects.requireNonNullElse(report.configHash(), "none"));
    List<String> lines = new ArrayList<>();
    lines.add("config " + hash.substring(0, Math.min(8, hash.length())) + " is in force");
    if (report.refused() != null) {
      lines.add(ShownText.line("a later edit is refused: " + report.refused().message()));
    }
    return lines;
  }

  private void summary(LoadReport report) {
    table();
    if (live) {
      out.println();
    }
    out.printf(
        Locale.ROOT,
        "%d requests sent: %d succeeded, %d rejected (429), %d failed%s%n",
        report.sent(),
        report.succeeded(),
        report.rejected(),
        report.failed(),
        report.failures().isEmpty() ? "" : " " + report.failures());
    out.printf("served by endpoint: %s%n", counts(report.endpoints()));
    out.printf("served by model: %s%n", counts(report.models()));
    out.printf(
        Locale.ROOT,
        "time to first byte: p50 %.1f ms, p99 %.1f ms; whole answer: p50 %.1f ms, p99 %.1f ms%n",
        report.ttft().p50(),
        report.ttft().p99(),
        report.endToEnd().p50(),
        report.endToEnd().p99());
  }

  private static String counts(Map<String, Long> counts) {
    return new TreeMap<>(counts)
        .entrySet().stream()
            .map(entry -> entry.getKey() + " " + entry.getValue())
            .collect(Collectors.joining(", "));
  }

  private static EndpointRow row(EndpointView view) {
    EndpointSnapshot state = view.state();
    return new EndpointRow(
        state.name() + (state.leaving() ? " (leaving)" : ""),
        state.inFlight(),
        Math.max(state.scrapedWaiting(), state.awaitingFirstToken()),
        state.kvUsage(),
        state.sent(),
        state.promptBlocks() == 0
            ? Double.NaN
            : (double) state.matchedBlocks() / state.promptBlocks(),
        view.latency().ttftP50Millis(),
        view.latency().ttftP99Millis());
  }
}
