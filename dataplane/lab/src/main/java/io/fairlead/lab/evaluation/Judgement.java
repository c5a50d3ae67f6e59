package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import java.util.Locale;
import java.util.function.IntPredicate;

/**
 * Whether a contender has been shown to be no worse than another by one measure in one case. It has
 * only if the whole confidence interval is on the good side of the bound: an interval that is wide
 * shows nothing.
 *
 * @param setting the case
 * @param subject who is judged
 * @param peer by whom
 * @param criterion by what
 * @param interval of the ratio, or of the difference of shares
 * @param bound that it must keep
 * @param outcome what follows
 */
record Judgement(
    Setting setting,
    String subject,
    String peer,
    Criterion criterion,
    Interval interval,
    double bound,
    Outcome outcome) {

  /** By what contenders are judged. */
  enum Criterion {
    MEAN("mean", Measure.END_TO_END_MEAN, 1.03),
    TTFT_P99("TTFT p99", Measure.TTFT_P99, 1.10),
    GOODPUT("goodput", Measure.GOOD_PER_SECOND, 0.97),
    /** Where more comes than is served latencies are those of how long a run was. */
    SUSTAINED("sustained rate", Measure.SUSTAINED_PER_SECOND, 0.97),
    HIT_RATE("hit rate", Measure.HIT_RATE, -0.02);

    private final String word;
    private final Measure measure;
    private final double bound;

    Criterion(String word, Measure measure, double bound) {
      this.word = word;
      this.measure = measure;
      this.bound = bound;
    }

    String word() {
      return word;
    }

    Measure measure() {
      return measure;
    }

    double bound() {
      return bound;
    }

    /** Whether a run that diverged tells nothing of it but its own length. */
    boolean ofLatency() {
      return this == MEAN || this == TTFT_P99;
    }

    boolean difference() {
      return this == HIT_RATE;
    }
  }

  /** What is shown. */
  enum Outcome {
    PASSED("✓", "passes"),
    /** The interval has the bound within it. */
    UNCLEAR("?", "unclear"),
    FAILED("✗", "worse"),
    /** Both have nothing, so that neither is shown to be as good as the other. */
    NOT_JUDGED("not judged", "not judged"),
    /** More comes than it serves, where the peer keeps up. */
    BEHIND("✗", "falls behind where that peer keeps up");

    private final String sign;
    private final String word;

    Outcome(String sign, String word) {
      this.sign = sign;
      this.word = word;
    }

    String sign() {
      return sign;
    }
  }

  /** By all seeds; by those in which both kept up where latencies are compared. */
  static Judgement of(Row subject, Row peer, Criterion criterion, double bound) {
    IntPredicate counts =
        seed ->
            !criterion.ofLatency() || !(subject.diverged().get(seed) || peer.diverged().get(seed));
    double[] values = subject.of(criterion.measure(), counts);
    double[] others = peer.of(criterion.measure(), counts);
    Interval interval =
        criterion.difference()
            ? Interval.difference(values, others)
            : Interval.ratio(values, others);
    return new Judgement(
        subject.setting(),
        subject.contender(),
        peer.contender(),
        criterion,
        interval,
        bound,
        outcome(criterion, interval, bound));
  }

  /** The same, whatever the numbers say. */
  Judgement behind() {
    return new Judgement(setting, subject, peer, criterion, interval, bound, Outcome.BEHIND);
  }

  private static Outcome outcome(Criterion criterion, Interval interval, double bound) {
    if (!interval.known()) {
      return Outcome.NOT_JUDGED;
    }
    boolean less = criterion.measure().better() == Measure.Better.LESS;
    double worst = less ? interval.high() : interval.low();
    double best = less ? interval.low() : interval.high();
    if (less ? worst <= bound : worst >= bound) {
      return Outcome.PASSED;
    }
    return (less ? best > bound : best < bound) ? Outcome.FAILED : Outcome.UNCLEAR;
  }

  boolean passed() {
    return outcome == Outcome.PASSED;
  }

  /** Whether there was anything to judge. */
  boolean judged() {
    return outcome != Outcome.NOT_JUDGED;
  }

  /** As a table has it: the interval and what follows. */
  String cell() {
    return judged() ? shown() + " " + outcome.sign() : outcome.sign();
  }

  /** In a list of what did not pass. */
  String line() {
    if (!judged()) {
      return "%s: %s, 0 as of `%s`".formatted(setting.fullTitle(), criterion.word(), peer);
    }
    return "%s: %s %s of `%s`, bound %s: %s"
        .formatted(
            setting.fullTitle(),
            criterion.word(),
            shown(),
            peer,
            criterion.difference() ? points(bound) : "×" + number(bound),
            outcome.word);
  }

  private String shown() {
    return criterion.difference()
        ? "%s [%s, %s]"
            .formatted(points(interval.middle()), points(interval.low()), points(interval.high()))
        : "×%s [%s, %s]"
            .formatted(number(interval.middle()), number(interval.low()), number(interval.high()));
  }

  private static String points(double share) {
    return Double.isInfinite(share)
        ? number(share)
        : String.format(Locale.ROOT, "%+.1f pt", share * 100);
  }

  static String number(double ratio) {
    if (!Double.isFinite(ratio)) {
      return Double.isNaN(ratio) ? "–" : ratio > 0 ? "∞" : "-∞";
    }
    return String.format(Locale.ROOT, Math.abs(ratio) >= 10 ? "%.0f" : "%.2f", ratio);
  }
}
