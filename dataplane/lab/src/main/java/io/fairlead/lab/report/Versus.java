package io.fairlead.lab.report;

import io.fairlead.lab.statistics.Estimate;
import java.util.Arrays;

/**
 * One policy beside another on the same seeds. The seeds make the same requests for both, so that
 * the difference within each seed counts and not how much the seeds differ from each other.
 *
 * @param ratio mean over the other's mean; NaN where there is none, e.g. over 0
 * @param halfWidth of the ratio's 95 % confidence interval; NaN with fewer than two seeds
 * @param seeds in common
 * @param verdict in words
 */
public record Versus(double ratio, double halfWidth, int seeds, Verdict verdict) {

  /** Differences below this share of the other's mean are ties. */
  public static final double TIE = 0.03;

  /** How a policy does against another by one measure. */
  public enum Verdict {
    BETTER,
    WORSE,
    /** Less than 3 % apart. */
    TIE,
    /** Further apart, but the confidence interval of the ratio includes 1. */
    UNCLEAR,
    /** No seed in common with a value for both. */
    ABSENT;

    /** Beside colours, for those who don't see them. */
    String sign() {
      return switch (this) {
        case BETTER -> "✓";
        case WORSE -> "✗";
        case TIE -> "≈";
        case UNCLEAR -> "?";
        case ABSENT -> "";
      };
    }

    /** In lower case, as tables have it. */
    String word() {
      return switch (this) {
        case BETTER -> "better";
        case WORSE -> "worse";
        case TIE -> "tie";
        case UNCLEAR -> "unclear";
        case ABSENT -> "absent";
      };
    }
  }

  /**
   * Compares values of the same seeds, in the same order; a pair with a NaN does not count.
   *
   * <p>The interval is that of a ratio of means: with {@code r} the ratio, that of the mean of
   * {@code value - r * other}, over the other's mean.
   */
  static Versus of(Measure.Better better, double[] values, double[] others) {
    int[] pairs = new int[values.length];
    int n = 0;
    for (int i = 0; i < values.length; i++) {
      if (!Double.isNaN(values[i]) && !Double.isNaN(others[i])) {
        pairs[n++] = i;
      }
    }
    int[] used = Arrays.copyOf(pairs, n);
    if (n == 0) {
      return new Versus(Double.NaN, Double.NaN, 0, Verdict.ABSENT);
    }
    double mean = Arrays.stream(used).mapToDouble(i -> values[i]).sum() / n;
    double other = Arrays.stream(used).mapToDouble(i -> others[i]).sum() / n;
    if (other == 0) {
      return overNothing(better, Arrays.stream(used).mapToDouble(i -> values[i]).toArray(), mean);
    }
    double ratio = mean / other;
    double[] residuals =
        Arrays.stream(used).mapToDouble(i -> values[i] - ratio * others[i]).toArray();
    double halfWidth = Estimate.halfWidth(residuals, 0) / other;
    return new Versus(ratio, halfWidth, n, verdict(better, ratio - 1, TIE, halfWidth));
  }

  /** No ratio can be had, but something is clearly more than nothing, or not. */
  private static Versus overNothing(Measure.Better better, double[] values, double mean) {
    boolean none = mean == 0;
    return new Versus(
        none ? 1 : Double.NaN,
        none && values.length > 1 ? 0 : Double.NaN,
        values.length,
        none ? Verdict.TIE : verdict(better, mean, 0, Estimate.halfWidth(values, mean)));
  }

  private static Verdict verdict(
      Measure.Better better, double difference, double tie, double halfWidth) {
    if (Math.abs(difference) < tie) {
      return Verdict.TIE;
    }
    if (Math.abs(difference) <= halfWidth) {
      return Verdict.UNCLEAR;
    }
    return difference < 0 == (better == Measure.Better.LESS) ? Verdict.BETTER : Verdict.WORSE;
  }
}
