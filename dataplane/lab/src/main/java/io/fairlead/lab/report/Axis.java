package io.fairlead.lab.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Where values lie on a plot.
 *
 * @param scale how values are spread
 * @param low value at its beginning
 * @param high value at its end
 * @param ticks values with a label, rising
 */
record Axis(Scale scale, double low, double high, List<Tick> ticks) {

  /** The least share of requests that a tail is drawn for: distributions keep thousandths. */
  static final double LEAST_LEFT = 0.001;

  private static final int MOST_TICKS = 7;
  private static final int LEAST_STEPS = 3;

  /** Up to here the labels 0 and 1 are far enough apart on an axis of counts. */
  private static final double ROOM_FOR_ONE = 2_000;

  /** Within a decade, the finest that are not too many. */
  private static final double[][] STEPS = {
    {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1, 3}, {1}
  };

  Axis {
    ticks = List.copyOf(ticks);
  }

  enum Scale {
    LINEAR,
    LOG,
    /** Linear near 0, logarithmic further up: shows 3 and 3,000 in one plot. */
    LOG_FROM_ZERO;

    private double of(double value) {
      return switch (this) {
        case LINEAR -> value;
        case LOG -> Math.log10(value);
        case LOG_FROM_ZERO -> Math.log1p(value);
      };
    }
  }

  record Tick(double value, String label) {}

  /**
   * What is left of 1 beyond a share, down to a thousandth: the tail, where policies differ, gets
   * as much room per decade as the body.
   */
  static Axis tail() {
    return new Axis(
        Scale.LOG,
        LEAST_LEFT,
        1,
        List.of(
            new Tick(LEAST_LEFT, "p99.9"),
            new Tick(0.01, "p99"),
            new Tick(0.1, "p90"),
            new Tick(0.5, "p50"),
            new Tick(1, "0")));
  }

  /** From 0, in equal steps. */
  static Axis linear(double high) {
    return linear(high, "");
  }

  /** Time from 0 on. */
  static Axis seconds(double high) {
    return linear(high, " s");
  }

  private static Axis linear(double high, String unit) {
    double end = high > 0 && Double.isFinite(high) ? high : 1;
    double step = step(end / LEAST_STEPS);
    List<Tick> ticks = new ArrayList<>();
    for (int i = 0; i * step <= end * 1.0001; i++) {
      ticks.add(new Tick(i * step, plain(i * step) + unit));
    }
    return new Axis(Scale.LINEAR, 0, end, ticks);
  }

  /** Counts from 0, the small ones wide apart. */
  static Axis counts(double high) {
    double end = high > 1 && Double.isFinite(high) ? high : 1;
    List<Tick> ticks = new ArrayList<>();
    ticks.add(new Tick(0, "0"));
    for (double tick = end > ROOM_FOR_ONE ? 10 : 1; tick <= end; tick *= 10) {
      ticks.add(new Tick(tick, plain(tick)));
    }
    return new Axis(Scale.LOG_FROM_ZERO, 0, end, ticks);
  }

  /** Milliseconds from one value above 0 to another, with the usual unit at each tick. */
  static Axis millis(double low, double high) {
    double from = low > 0 && Double.isFinite(low) ? low : 1;
    double to = high > from * 1.01 && Double.isFinite(high) ? high : from * 10;
    List<Tick> ticks = new ArrayList<>();
    for (double[] steps : STEPS) {
      ticks.clear();
      for (int power = (int) Math.floor(Math.log10(from)); Math.pow(10, power) <= to; power++) {
        for (double step : steps) {
          double tick = step * Math.pow(10, power);
          if (tick >= from && tick <= to) {
            ticks.add(new Tick(tick, duration(tick)));
          }
        }
      }
      if (ticks.size() <= MOST_TICKS) {
        break;
      }
    }
    return new Axis(Scale.LOG, from, to, ticks);
  }

  /** Where a value lies between two coordinates; one beyond the end of the axis lies at its end. */
  double at(double value, double from, double to) {
    double within = Math.clamp(value, low, high);
    double begin = scale.of(low);
    return from + (to - from) * (scale.of(within) - begin) / (scale.of(high) - begin);
  }

  /** The largest round number that is not above this. */
  private static double step(double most) {
    double power = Math.pow(10, Math.floor(Math.log10(most)));
    return most >= 5 * power ? 5 * power : most >= 2 * power ? 2 * power : power;
  }

  private static String duration(double millis) {
    return millis < 1_000 ? plain(millis) + " ms" : plain(millis / 1_000) + " s";
  }

  private static String plain(double value) {
    if (value >= 10_000) {
      return plain(value / 1_000) + "k";
    }
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("\\.?0+$", "");
  }
}
