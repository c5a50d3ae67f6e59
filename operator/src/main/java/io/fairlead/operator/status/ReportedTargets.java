package io.fairlead.operator.status;

import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import io.fairlead.crds.v1alpha2.TargetModel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the ready pickers of a pool tell of the targets of its models.
 *
 * <p>Each picker knows what was answered to requests that it has sent. What one has seen served
 * lately is served, whatever others say; what none has is not served where one says so; and what
 * was served long ago counts where nobody has heard anything else.
 */
public final class ReportedTargets {
  private final Set<String> served = new HashSet<>();

  /** By how many endpoints each was refused. */
  private final Map<String, Integer> notServed = new HashMap<>();

  private ReportedTargets() {}

  /** As the pool's pickers tell it now. */
  public static ReportedTargets of(PickerFacts facts) {
    List<PickerReport.Targets> told =
        facts.readyReplicas().stream()
            .map(Replica::report)
            .flatMap(Stream::ofNullable)
            .map(PickerReport::targets)
            .flatMap(Stream::ofNullable)
            .toList();
    ReportedTargets all = new ReportedTargets();
    told.forEach(one -> all.served.addAll(one.served()));
    for (PickerReport.Targets one : told) {
      for (PickerReport.NotServed target : one.notServed()) {
        if (!all.served.contains(target.name())) {
          all.notServed.merge(target.name(), target.endpoints(), Math::max);
        }
      }
    }
    for (PickerReport.Targets one : told) {
      one.servedEarlier().stream()
          .filter(name -> !all.notServed.containsKey(name))
          .forEach(all.served::add);
    }
    return all;
  }

  /** Whether all targets of a model are served; of one that its pickers run. */
  public Verdict of(@Nullable InferenceModelSpec spec) {
    List<String> targets = targets(spec);
    List<String> missing = targets.stream().filter(notServed::containsKey).toList();
    if (!missing.isEmpty()) {
      return Verdict.no(
          Reason.TARGET_MODEL_NOT_SERVED,
          "No endpoint serves target %s, so that requests for it fail; correct spec.targetModels, or have the pool's model servers load that model or adapter"
              .formatted(missing.stream().map(this::refused).collect(Collectors.joining(", "))));
    }
    List<String> unknown = targets.stream().filter(name -> !served.contains(name)).toList();
    return unknown.isEmpty()
        ? Verdict.yes(Reason.TARGETS_SERVED, "The pool's endpoints serve every target of the model")
        : new Verdict(
            Verdict.State.UNKNOWN,
            Reason.NOT_REPORTED,
            "No picker has told yet whether an endpoint serves target %s; answers to requests for it will show"
                .formatted(String.join(", ", unknown)),
            null);
  }

  private String refused(String target) {
    int endpoints = notServed.getOrDefault(target, 0);
    return "%s (%d %s answered that the model is not known there, and none has served it since)"
        .formatted(target, endpoints, endpoints == 1 ? "endpoint has" : "endpoints have");
  }

  /** Each once, in their order; a model without targets is its own. */
  private static List<String> targets(@Nullable InferenceModelSpec spec) {
    if (spec == null) {
      return List.of();
    }
    List<String> names = new ArrayList<>();
    for (TargetModel target : spec.targetModels()) {
      String name = target.name();
      if (name != null && !names.contains(name)) {
        names.add(name);
      }
    }
    String itself = spec.modelName();
    return spec.targetModels().isEmpty() && itself != null ? List.of(itself) : names;
  }
}
