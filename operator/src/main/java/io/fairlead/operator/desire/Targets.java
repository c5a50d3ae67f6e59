package io.fairlead.operator.desire;

import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import io.fairlead.crds.v1alpha2.TargetModel;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/** Who answers for a model's name, as people read it. */
final class Targets {
  private Targets() {}

  /** Each target of a valid model, with its share of the requests where there are several. */
  static String read(InferenceModelSpec spec) {
    List<TargetModel> targets = spec.targetModels();
    if (targets.size() < 2) {
      return String.valueOf(targets.isEmpty() ? spec.modelName() : targets.getFirst().name());
    }
    long all = targets.stream().mapToLong(Targets::weight).sum();
    return targets.stream()
        .map(target -> target.name() + " " + percent(100.0 * weight(target) / all))
        .collect(Collectors.joining(", "));
  }

  private static int weight(TargetModel target) {
    return Objects.requireNonNullElse(target.weight(), 1);
  }

  /** Who gets few requests is not told to get none. */
  private static String percent(double share) {
    return (share < 1 ? "<1" : share > 99 ? ">99" : Math.round(share)) + " %";
  }
}
