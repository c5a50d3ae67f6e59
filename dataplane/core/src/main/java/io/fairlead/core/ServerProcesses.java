package io.fairlead.core;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Whose pages are read at one address: of one process, or of several that take turns where workers
 * share a port or a balancer is before them. What one has computed is compared with its own page
 * before, or pages that take turns would look like progress all the time, and like a restart.
 *
 * <p>A process is told by when it started. One that started later than all before has taken their
 * place; one that started earlier was there all along, and was not seen.
 */
final class ServerProcesses {

  /** Seconds by which two scrapes of one process may differ in when it started. */
  private static final double SAME_START = 1;

  private static final int MOST = 16;

  private static final class ServerProcess {
    private double startedAt;
    private double progress = Double.NaN;
    private double usedTokens = Double.NaN;
    private double kvUsage = Double.NaN;
    private final StillPage page = new StillPage();

    ServerProcess(double startedAt) {
      this.startedAt = startedAt;
    }
  }

  /** In the order in which they told last, the newest at the end; never empty. */
  private final List<ServerProcess> known = new ArrayList<>(List.of(new ServerProcess(Double.NaN)));

  /** Whether a page is of a process that has taken the place of those before. */
  boolean isAnother(EndpointMetrics page) {
    ServerProcess same = exactly(page.startedAt());
    if (same != null) {
      return page.progress() < same.progress;
    }
    return page.startedAt() - startedAt() > SAME_START
        || (Double.isNaN(startedAt()) && page.progress() < last().progress);
  }

  /** That process has taken their place: nothing else is known. */
  void restarted(EndpointMetrics page) {
    known.clear();
    known.add(new ServerProcess(page.startedAt()));
  }

  /** What they did is of a former life. */
  void forgetPages() {
    known.forEach(
        process -> {
          process.page.forget();
          process.usedTokens = Double.NaN;
          process.kvUsage = Double.NaN;
        });
  }

  /** Whether the process has computed something since its last page that told. */
  boolean progressed(EndpointMetrics page) {
    // While a long prompt is computed piece by piece, nothing but the use of the cache may grow.
    ServerProcess process = of(page);
    return process != null
        && (page.progress() > process.progress
            || page.usedTokens() > process.usedTokens
            || page.kvUsage() > process.kvUsage);
  }

  /** Takes a page in; what of it is to be believed. */
  EndpointMetrics read(long begunAt, EndpointMetrics page) {
    ServerProcess process = of(page);
    if (process == null) {
      process = new ServerProcess(page.startedAt());
      if (known.size() == MOST) {
        known.removeFirst();
      }
    } else {
      known.remove(process);
    }
    known.add(process);
    process.startedAt = Double.isNaN(page.startedAt()) ? process.startedAt : page.startedAt();
    process.progress = Double.isNaN(page.progress()) ? process.progress : page.progress();
    process.usedTokens = page.usedTokens();
    process.kvUsage = page.kvUsage();
    return process.page.believed(begunAt, page);
  }

  /** When the newest one started; NaN if none has told. */
  double startedAt() {
    double newest = Double.NaN;
    for (ServerProcess process : known) {
      if (!(process.startedAt <= newest)) {
        newest = process.startedAt;
      }
    }
    return newest;
  }

  /** Whether one of them may have started then; NaN where none has said. */
  boolean mayHaveStarted(double start) {
    for (ServerProcess process : known) {
      if (!(Math.abs(start - process.startedAt) > SAME_START)) {
        return true;
      }
    }
    return false;
  }

  /** Another picker was told so. */
  void believedToHaveStarted(double told) {
    if (Double.isNaN(startedAt())) {
      last().startedAt = told;
    }
  }

  private ServerProcess last() {
    return known.getLast();
  }

  /** Whose page it is; null for one that was not known. */
  private @Nullable ServerProcess of(EndpointMetrics page) {
    if (Double.isNaN(page.startedAt()) || Double.isNaN(startedAt())) {
      return last();
    }
    ServerProcess same = exactly(page.startedAt());
    if (same != null) {
      return same;
    }
    for (ServerProcess process : known) {
      // Workers may be started within a second: less progress is another's.
      if (Math.abs(page.startedAt() - process.startedAt) <= SAME_START
          && !(page.progress() < process.progress)) {
        return process;
      }
    }
    return null;
  }

  private @Nullable ServerProcess exactly(double start) {
    for (ServerProcess process : known) {
      if (process.startedAt == start) {
        return process;
      }
    }
    return null;
  }
}
