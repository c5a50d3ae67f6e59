package io.fairlead.cli;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells whoever waits how far something is and how long it will yet take, on stderr so that results
 * can be piped. Silent for the first two seconds. On a terminal it draws one line over itself and
 * wipes it in the end; elsewhere, in a log, it writes a line every ten seconds at most. May be told
 * of progress from several threads.
 */
public final class Progress implements AutoCloseable {

  private static final long SILENT_NANOS = Duration.ofSeconds(2).toNanos();
  private static final long REDRAW_NANOS = Duration.ofMillis(200).toNanos();
  private static final long LINE_NANOS = Duration.ofSeconds(10).toNanos();
  private static final int BAR_WIDTH = 24;

  private final String what;
  private final double total;
  private final PrintStream out;
  private final ProgressTerminal terminal;
  private final LongSupplier nanos;
  private final long began;

  private @Nullable Thread ticker;
  private double done;
  private long doneAt;
  private String piece = "";
  private boolean shown;
  private long shownAt;
  private boolean closed;

  /**
   * @param what is being done, in a word or two
   * @param total how much there is to do, in any unit
   * @param out where to tell
   * @param terminal what {@code out} ends in
   * @param nanos a clock that never goes back
   */
  Progress(
      String what, double total, PrintStream out, ProgressTerminal terminal, LongSupplier nanos) {
    if (!(total > 0)) {
      throw new IllegalArgumentException("total is %s; it must be above 0".formatted(total));
    }
    this.what = what;
    this.total = total;
    this.out = out;
    this.terminal = terminal;
    this.nanos = nanos;
    this.began = nanos.getAsLong();
  }

  /** One that tells on stderr, also while there is no progress to be told of. */
  public static Progress onStderr(String what, double total) {
    var progress =
        new Progress(
            what, total, System.err, ProgressTerminal.ofStderr(System.getenv()), System::nanoTime);
    progress.startTicking();
    return progress;
  }

  /** Some more is done: so much of the total. */
  public synchronized void advance(double amount) {
    advance(amount, piece);
  }

  /** Some more is done, and this is what is being worked on, e.g. {@code chat, cost, seed 3}. */
  public synchronized void advance(double amount, String workingOn) {
    done = Math.clamp(done + amount, 0, total);
    doneAt = nanos.getAsLong();
    piece = workingOn;
    tick();
  }

  /**
   * Wipes the bar, or says how long it took if anything was said before. Further calls do nothing.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    if (ticker != null) {
      ticker.interrupt();
    }
    if (!shown) {
      return;
    }
    if (terminal.redraws()) {
      out.print("\r\033[K");
    } else {
      out.printf("%s: ended after %s%n", what, time(nanos.getAsLong() - began));
    }
    out.flush();
  }

  /** Time has passed: draws, if it is time to. */
  synchronized void tick() {
    long now = nanos.getAsLong();
    if (closed || now - began < SILENT_NANOS) {
      return;
    }
    if (shown && now - shownAt < (terminal.redraws() ? REDRAW_NANOS : LINE_NANOS)) {
      return;
    }
    shown = true;
    shownAt = now;
    if (terminal.redraws()) {
      out.print("\r" + fitted(bar(now)) + "\033[K");
    } else {
      out.println(line(now));
    }
    out.flush();
  }

  private synchronized void startTicking() {
    ticker =
        Thread.ofPlatform()
            .daemon()
            .name("progress")
            .start(
                () -> {
                  try {
                    while (true) {
                      Thread.sleep(Duration.ofNanos(REDRAW_NANOS));
                      tick();
                    }
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt(); // closed
                  }
                });
  }

  private String bar(long now) {
    int full = (int) (BAR_WIDTH * done / total);
    return "%s [%s%s] %s"
        .formatted(what, "#".repeat(full), "-".repeat(BAR_WIDTH - full), state(now));
  }

  private String line(long now) {
    return what + ": " + state(now);
  }

  private String state(long now) {
    String percent = String.format(Locale.ROOT, "%3d %%", (int) (100 * done / total));
    return percent.strip() + ", " + left(now) + (piece.isEmpty() ? "" : " (" + piece + ")");
  }

  /** As fast as up to the latest progress; since then, time counts down. */
  private String left(long now) {
    if (done == 0) {
      return "time left unknown";
    }
    double left = (doneAt - began) * (total - done) / done - (now - doneAt);
    return time((long) Math.max(0, left)) + " left";
  }

  /** A line as wide as the terminal would wrap, and could not be drawn over. */
  private String fitted(String line) {
    return line.substring(0, Math.min(line.length(), terminal.columns() - 1));
  }

  private static String time(long nanos) {
    long seconds = Math.round(nanos / 1e9);
    if (seconds < 60) {
      return seconds + " s";
    }
    return seconds < 3_600
        ? "%d min %02d s".formatted(seconds / 60, seconds % 60)
        : "%d h %02d min".formatted(seconds / 3_600, seconds / 60 % 60);
  }
}
