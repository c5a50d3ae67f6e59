package io.fairlead.crds.compile;

import static io.fairlead.crds.config.TargetModel.MOST_WEIGHT;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import io.fairlead.crds.v1alpha2.TargetModel;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Judges a model's spec by itself, also where the schema does not. */
final class ModelCheck {
  private static final int LONGEST_NAME = 256;

  private ModelCheck() {}

  /** The first thing that is wrong with {@code model}, whatever its pool. */
  static Optional<Finding> of(InferenceModel model) {
    InferenceModelSpec spec = model.getSpec();
    if (spec == null) {
      return invalid(model, "spec", "is missing; set modelName and poolRef");
    }
    Optional<Finding> name = name(model, "spec.modelName", spec.modelName());
    if (name.isPresent()) {
      return name;
    }
    if (criticality(spec.criticality()).isEmpty()) {
      return invalid(
          model,
          "spec.criticality",
          "is "
              + FieldPath.quote(String.valueOf(spec.criticality()))
              + "; use "
              + Arrays.stream(Criticality.values())
                  .map(Criticality::wireName)
                  .collect(Collectors.joining(", ")));
    }
    return targets(model, spec.targetModels());
  }

  /** The criticality of that wire name, Standard when absent, empty when unknown. */
  static Optional<Criticality> criticality(@Nullable String wireName) {
    String wanted = wireName == null ? Criticality.STANDARD.wireName() : wireName;
    return Arrays.stream(Criticality.values()).filter(c -> c.wireName().equals(wanted)).findFirst();
  }

  private static Optional<Finding> targets(InferenceModel model, List<TargetModel> targets) {
    if (targets.size() > 10) {
      return invalid(model, "spec.targetModels", "lists more than 10 targets; remove some");
    }
    Set<String> names = new HashSet<>();
    for (int i = 0; i < targets.size(); i++) {
      TargetModel target = targets.get(i);
      String path = "spec.targetModels[" + i + "]";
      Optional<Finding> name = name(model, path + ".name", target.name());
      if (name.isPresent()) {
        return name;
      }
      if (!names.add(String.valueOf(target.name()))) {
        return invalid(
            model,
            path + ".name",
            "repeats "
                + FieldPath.quote(String.valueOf(target.name()))
                + "; name every target once and raise its weight instead");
      }
      Integer weight = target.weight();
      if (weight != null && (weight < 1 || weight > MOST_WEIGHT)) {
        return invalid(model, path + ".weight", "must be from 1 to " + MOST_WEIGHT);
      }
      if ((weight == null) != (targets.getFirst().weight() == null)) {
        return invalid(
            model,
            "spec.targetModels",
            "has a weight on some targets only; set it on every target or on none");
      }
    }
    return Optional.empty();
  }

  private static Optional<Finding> name(InferenceModel model, String path, @Nullable String name) {
    return nameProblem(name).flatMap(problem -> invalid(model, path, problem));
  }

  /** What keeps a name from being that of a model in the config, and the next step. */
  static Optional<String> nameProblem(@Nullable String name) {
    if (name == null || name.isEmpty()) {
      return Optional.of("is empty; no request could ask for it");
    }
    if (name.codePointCount(0, name.length()) > LONGEST_NAME) {
      return Optional.of("is longer than " + LONGEST_NAME + " characters; shorten it");
    }
    return name.codePoints()
            .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE)
        ? Optional.of("holds half of a surrogate pair, which UTF-8 cannot carry; remove it")
        : Optional.empty();
  }

  private static Optional<Finding> invalid(InferenceModel model, String path, String message) {
    return Optional.of(
        new Finding(
            ObjectRef.of(model),
            path,
            Finding.INVALID_SPEC,
            path + " " + message,
            Finding.Severity.REJECTS));
  }
}
