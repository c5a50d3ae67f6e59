package io.fairlead.core.receipt;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * A decision in a line: who got the request at what cost, or with what score, and by how much the
 * next ones were worse. Printable ASCII, whatever endpoints are called.
 */
public final class DecisionBrief {

  /** So many others are named. */
  private static final int OTHERS = 3;

  private static final int LONGEST_NAME = 63;

  private DecisionBrief() {}

  /** The line, such as {@code one; cost=812.4; two=+2475.0; three=+2475.0; candidates=8}. */
  public static String of(Decision decision) {
    ProfileRun run = decision.primaryRun();
    int picked = run.pick(0);
    boolean byCost = run.hasCost(picked);
    List<String> parts = new ArrayList<>();
    parts.add(name(decision, run, picked));
    parts.add(byCost ? "cost=" + number(run.cost(picked)) : "score=" + number(run.sum(picked)));
    IntStream.range(0, run.left())
        .filter(place -> place != picked && (!byCost || run.hasCost(place)))
        // An external scheduler may have named few.
        .filter(place -> byCost || Double.isFinite(run.sum(place)))
        .boxed()
        .sorted(Comparator.comparingDouble(place -> worse(run, picked, place, byCost)))
        .limit(OTHERS)
        .forEach(
            place -> {
              double more = worse(run, picked, place, byCost);
              // A lower score is worse, and a higher cost.
              String sign = byCost == more >= 0 ? "+" : "-";
              parts.add(name(decision, run, place) + "=" + sign + number(Math.abs(more)));
            });
    parts.add("candidates=" + decision.candidates());
    return String.join("; ", parts);
  }

  private static double worse(ProfileRun run, int picked, int place, boolean byCost) {
    return byCost ? run.cost(place) - run.cost(picked) : run.sum(picked) - run.sum(place);
  }

  private static String name(Decision decision, ProfileRun run, int place) {
    String name = decision.candidate(run.candidate(place));
    String ascii = name.replaceAll("[^!-:<-~]", "?"); // no blank and no semicolon either
    return ascii.substring(0, Math.min(LONGEST_NAME, ascii.length()));
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value).replaceAll("\\.?0+$", "");
  }
}
