package io.fairlead.lab.report;

import io.fairlead.lab.report.Comparison.Group;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The sentences that tell how to read a report. */
final class ReadingGuide {

  static final String MARKS =
      " ★ the best of a column, ≈ before a value: a tie with it; in a column without marks"
          + " none stands out. ✓ better, ✗ worse, ≈ tie, ? unclear.";

  private ReadingGuide() {}

  static String text(Comparison comparison) {
    int most =
        comparison.groups().stream()
            .flatMap(group -> group.policies().stream())
            .mapToInt(policy -> policy.seeds().size())
            .max()
            .orElse(0);
    return "Values are means over "
        + (most == 1
            ? "one seed, so without intervals. "
            : "up to " + most + " seeds, ± half their 95 % confidence interval. ")
        + "× is the ratio over "
        + comparison.reference()
        + " on the same seeds. Less than 3 % apart is a tie; unclear: further apart, but the"
        + " interval includes ×1. Latencies and hit rates are of served requests: they are not"
        + " compared where the shares of rejected ones are more than 2 points apart.";
  }

  /** Measures that are left out of the tables because they tell nothing; empty for none. */
  static String same(Group group) {
    String same =
        Arrays.stream(Measure.values())
            .filter(group::same)
            .filter(measure -> group.known(measure) || !measure.ofSome())
            .map(
                measure ->
                    measure.title()
                        + " "
                        + Shown.mean(measure, group.policies().getFirst().cell(measure).value()))
            .collect(Collectors.joining("; "));
    return same.isEmpty() ? "" : "The same for all policies: " + same + ".";
  }
}
