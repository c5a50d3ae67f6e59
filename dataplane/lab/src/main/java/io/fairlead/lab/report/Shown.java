package io.fairlead.lab.report;

import io.fairlead.lab.statistics.Estimate;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Numbers as readers see them: three digits or so, a dash where there is none. */
public final class Shown {

  static final String ABSENT = "–";

  private Shown() {}

  /** A measure's value, without its unit but for the per cent sign. */
  public static String value(Measure measure, double value) {
    return with(measure, value, decimals(measure, value, 0));
  }

  /** The mean of an estimate, with as many digits as its interval is shown with. */
  static String mean(Measure measure, Estimate estimate) {
    return with(measure, estimate.mean(), decimals(measure, estimate.mean(), estimate.halfWidth()));
  }

  /** Half the interval of an estimate; empty when there is none. */
  static String plusMinus(Measure measure, Estimate estimate) {
    double half = estimate.halfWidth();
    if (!Double.isFinite(half)) {
      return "";
    }
    double scale = measure.unit() == Measure.Unit.SHARE ? 100 : 1;
    return "± " + fixed(half * scale, decimals(measure, estimate.mean(), half));
  }

  /** The mean, its interval, and of how many seeds when some of them have no value. */
  static String estimate(Measure measure, Estimate estimate, int seeds) {
    return (mean(measure, estimate) + " " + plusMinus(measure, estimate)).stripTrailing()
        + onlySome(estimate, seeds);
  }

  /** Says so when a mean is not over all seeds. */
  static String onlySome(Estimate estimate, int seeds) {
    return estimate.seeds() == 0 || estimate.seeds() == seeds
        ? ""
        : " (%d of %d seeds)".formatted(estimate.seeds(), seeds);
  }

  /** A ratio with its interval, e.g. {@code ×0.92 ± 0.03}. */
  static String ratio(@Nullable Versus versus) {
    if (versus == null || !Double.isFinite(versus.ratio())) {
      return ABSENT;
    }
    int decimals = Math.abs(versus.ratio()) >= 100 ? 0 : Math.abs(versus.ratio()) >= 10 ? 1 : 2;
    String text = "×" + fixed(versus.ratio(), decimals);
    return Double.isFinite(versus.halfWidth())
        ? text + " ± " + fixed(versus.halfWidth(), decimals)
        : text;
  }

  private static String with(Measure measure, double value, int decimals) {
    if (!Double.isFinite(value)) {
      return value == Double.POSITIVE_INFINITY ? "∞" : ABSENT;
    }
    return switch (measure.unit()) {
      case SHARE -> fixed(value * 100, decimals) + " %";
      case MILLIS, NUMBER -> fixed(value, decimals);
    };
  }

  private static int decimals(Measure measure, double mean, double halfWidth) {
    if (measure.unit() == Measure.Unit.SHARE) {
      return 1;
    }
    double size = Math.abs(mean);
    if (size >= 100 || (size == Math.rint(size) && !(halfWidth > 0))) {
      return 0;
    }
    return size >= 10 ? 1 : size >= 1 ? 2 : 3;
  }

  private static String fixed(double value, int decimals) {
    String text = String.format(Locale.ROOT, "%." + decimals + "f", value);
    return text.matches("-0(\\.0*)?") ? text.substring(1) : text;
  }
}
