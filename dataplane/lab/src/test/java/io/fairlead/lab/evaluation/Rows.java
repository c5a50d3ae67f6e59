package io.fairlead.lab.evaluation;

import io.fairlead.lab.evaluation.Row.Setting;
import io.fairlead.lab.report.Measure;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Made-up results. */
final class Rows {

  static final Setting CHAT = new Setting("chat", 1, "8xh100-8b", "");
  static final Setting CHAT_TWICE = new Setting("chat", 2, "8xh100-8b", "");

  static final String PLAN =
      """
      frozen: {omega: 48, criticalWeight: 0.5}
      contenders:
        cost: {}
        weighted: {}
        product: {scrapeMillis: 0}
      parts:
        main:
          kind: test
          says: What it is for.
          seeds: 6..8
          subjects: [cost]
          peers: [weighted, product]
          cases:
          - {workload: chat, loads: [1, 2], upTo: 3, seconds: 10}
      """;

  private Rows() {}

  /** The text of a policy. */
  static String policy(String name) {
    return "plugins: [{type: " + name + "}]";
  }

  /** A row of three seeds, with the values of the mean; what isn't said is the same for all. */
  static Row row(Setting setting, String contender, double... means) {
    var values = new EnumMap<Measure, List<Double>>(Measure.class);
    for (Measure measure : Row.MEASURES) {
      values.put(measure, Collections.nCopies(means.length, 0.0));
    }
    values.put(Measure.END_TO_END_MEAN, Arrays.stream(means).boxed().toList());
    values.put(Measure.TTFT_P99, Collections.nCopies(means.length, 100.0));
    values.put(Measure.GOOD_PER_SECOND, Collections.nCopies(means.length, 40.0));
    values.put(Measure.SUSTAINED_PER_SECOND, Collections.nCopies(means.length, 50.0));
    return new Row(setting, contender, Collections.nCopies(means.length, false), values, List.of());
  }

  static Row with(Row row, Measure measure, Double... seeds) {
    Map<Measure, List<Double>> values = new EnumMap<>(row.values());
    values.put(measure, List.of(seeds));
    return new Row(row.setting(), row.contender(), row.diverged(), values, row.flows());
  }

  static Row diverged(Row row, Boolean... seeds) {
    return new Row(row.setting(), row.contender(), List.of(seeds), row.values(), row.flows());
  }

  static Row refusing(Row row, double share) {
    return with(row, Measure.REJECTED_SHARE, share, share, share);
  }

  static PartResults results(Row... rows) {
    return new PartResults(
        "./hack/evaluate main",
        "0123456789",
        "abcdef",
        Plan.read(PLAN).fingerprint("main", Rows::policy),
        false,
        List.of(6L, 7L, 8L),
        List.of(rows));
  }
}
