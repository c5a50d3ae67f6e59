package io.fairlead.epp.datalayer;

import io.fairlead.epp.datalayer.MetricMapping.Fold;
import io.fairlead.plugin.Readings;
import java.util.Arrays;

/**
 * Reads the few wanted numbers from a metrics page in Prometheus's text format (versions 0.0.4 and
 * 1.0.0), piece by piece as it comes from the wire.
 *
 * <p>Lines that lie within one piece are read in place; only a line cut between pieces is copied.
 * Nothing is allocated per line. Not thread-safe; one per connection, reused.
 */
public final class PrometheusPage {

  /** A longer line is skipped: no series that is wanted is anywhere near. */
  private static final int MAX_LINE = 64 * 1024;

  private final WantedSeries[] wanted;
  private byte[] carry = new byte[256];
  private int carried;
  private boolean skipping;

  /** Of the last line that nobody wanted: of a histogram's buckets dozens follow each other. */
  private byte[] unwanted = new byte[128];

  private int unwantedLength;

  /** A page of vLLM's with nothing on it yet. */
  public static PrometheusPage ofVllm() {
    return new PrometheusPage(MetricMapping.VLLM);
  }

  /** A page with nothing on it yet. */
  PrometheusPage(MetricMapping mapping) {
    wanted = mapping.entries().stream().map(WantedSeries::new).toArray(WantedSeries[]::new);
  }

  /** Starts a new page. */
  public void reset() {
    carried = 0;
    skipping = false;
    for (WantedSeries series : wanted) {
      series.reset();
    }
  }

  /** Takes in the next piece of the page; the bytes are not kept. */
  public void feed(byte[] bytes, int offset, int length) {
    int end = offset + length;
    int start = offset;
    while (start < end) {
      int newline = indexOfNewline(bytes, start, end);
      if (newline < 0) {
        keep(bytes, start, end);
        return;
      }
      if (carried > 0 || skipping) {
        keep(bytes, start, newline);
        endCarried();
      } else {
        line(bytes, start, newline);
      }
      start = newline + 1;
    }
  }

  /** Ends the page and says what was on it. */
  public void finish(Readings readings) {
    if (carried > 0) {
      endCarried();
    }
    for (WantedSeries series : wanted) {
      series.tell(readings);
    }
  }

  private void line(byte[] bytes, int start, int end) {
    int stop = end > start && bytes[end - 1] == '\r' ? end - 1 : end;
    if (stop == start || bytes[start] == '#') {
      return;
    }
    if (isUnwanted(bytes, start, stop)) {
      return;
    }
    boolean named = false;
    for (WantedSeries series : wanted) {
      named |= series.offer(bytes, start, stop);
    }
    if (!named) {
      keepName(bytes, start, stop);
    }
  }

  private boolean isUnwanted(byte[] line, int start, int end) {
    int afterName = start + unwantedLength;
    return unwantedLength > 0
        && afterName < end
        && WantedSeries.endsName(line[afterName])
        && Arrays.equals(line, start, afterName, unwanted, 0, unwantedLength);
  }

  private void keepName(byte[] line, int start, int end) {
    int stop = Math.min(end, start + unwanted.length);
    int afterName = start;
    while (afterName < stop && !WantedSeries.endsName(line[afterName])) {
      afterName++;
    }
    unwantedLength = afterName < stop ? afterName - start : 0;
    System.arraycopy(line, start, unwanted, 0, unwantedLength);
  }

  private void keep(byte[] bytes, int start, int end) {
    int length = end - start;
    if (skipping || carried + length > MAX_LINE) {
      skipping = true;
      carried = 0;
      return;
    }
    if (carried + length > carry.length) {
      carry = Arrays.copyOf(carry, Math.min(MAX_LINE, 2 * (carried + length)));
    }
    System.arraycopy(bytes, start, carry, carried, length);
    carried += length;
  }

  private void endCarried() {
    if (!skipping) {
      line(carry, 0, carried);
    }
    carried = 0;
    skipping = false;
  }

  private static int indexOfNewline(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      if (bytes[i] == '\n') {
        return i;
      }
    }
    return -1;
  }

  /** Folds one value into what has been seen so far; NaN means nothing yet. */
  static double fold(Fold fold, double sofar, double next, boolean newer) {
    if (Double.isNaN(sofar)) {
      return next;
    }
    return switch (fold) {
      case SUM -> sofar + next;
      case MAX -> Math.max(sofar, next);
      case NEWEST -> newer ? next : sofar;
      case FIRST -> sofar;
    };
  }
}
