package io.fairlead.lab.load;

import io.fairlead.lab.Way;
import io.fairlead.lab.workload.Workload;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One of the two ways that are compared: sends, and charges its processes' CPU time to it. */
final class LoadSide implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final Duration FOREVER = Duration.ofDays(365);

  private final Way way;
  private final LoadRun run;
  private final Map<String, Duration> cpu = new LinkedHashMap<>();
  private @Nullable LoadReport warmUp;

  LoadSide(Way way) {
    this.way = way;
    this.run = new LoadRun(way.url(), LoadSettings.mixed(TIMEOUT));
    way.processes().keySet().forEach(process -> cpu.put(process, Duration.ZERO));
  }

  String name() {
    return way.name();
  }

  /** Sends requests that don't count. */
  void warmUp(Workload workload, long seed, int requests) throws InterruptedException {
    try (var warming = new LoadRun(way.url(), LoadSettings.mixed(TIMEOUT))) {
      warming.send(workload.start(seed), requests, FOREVER);
      warmUp = warming.report();
    }
  }

  /** Sends requests that count, and waits for the last answer. */
  void send(Workload workload, long seed, int requests) throws InterruptedException {
    Map<String, Duration> before = used();
    run.send(workload.start(seed), requests, FOREVER);
    before.forEach((process, time) -> cpu.merge(process, time.negated(), Duration::plus));
    used().forEach((process, time) -> cpu.merge(process, time, Duration::plus));
  }

  /** What went wrong before it counted. */
  Optional<String> warmUpProblem() {
    LoadReport report = warmUp;
    return report == null || report.flawless()
        ? Optional.empty()
        : Optional.of(ComparisonReport.problem(name() + ", warming up", report));
  }

  ComparisonReport.Side report() {
    LoadReport report = run.report();
    var micros = new LinkedHashMap<String, Double>();
    cpu.forEach((process, used) -> micros.put(process, used.toNanos() / 1e3 / report.sent()));
    return new ComparisonReport.Side(name(), report, micros);
  }

  @Override
  public void close() {
    run.close();
  }

  private Map<String, Duration> used() {
    var used = new LinkedHashMap<String, Duration>();
    way.processes()
        .forEach(
            (process, id) ->
                used.put(
                    process,
                    ProcessHandle.of(id)
                        .flatMap(handle -> handle.info().totalCpuDuration())
                        .orElseThrow(
                            () ->
                                new IllegalStateException(
                                    "%s has no process %s (%d) any more"
                                        .formatted(name(), process, id)))));
    return used;
  }
}
