package io.fairlead.operator.desire;

import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.PodTemplateSpec;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether a pool's selector takes pickers for model servers: requests would be sent to pickers, and
 * by a gateway of ours in circles.
 */
public final class SelectedPickers {
  private SelectedPickers() {}

  /**
   * What is wrong with it.
   *
   * @param why with object, field and next step
   * @param now whether there are such pods, or would be whatever else they are asked to carry: no
   *     config may have the selector then
   */
  record Selected(Verdict why, boolean now) {}

  /** Judges the selector of a pool. */
  static Optional<Selected> of(Observation seen, @Nullable EndpointPicker picker) {
    Map<String, String> selector = selector(seen.pool());
    if (selector.isEmpty()) {
      return Optional.empty();
    }
    String name = Names.child(seen.pool().getMetadata().getName());
    Map<String, String> every = Labels.all(name);
    // Nobody else has any business with that label, whichever picker it is of.
    if (selector.containsKey(Labels.PICKER) || includes(every, selector)) {
      return Optional.of(
          new Selected(byThePool(seen.pool(), "the pods of pickers", selector), true));
    }
    boolean now = carried(seen, name).anyMatch(labels -> includes(labels, selector));
    Map<String, String> all =
        new HashMap<>(asked(picker == null ? EndpointPickerSpec.DEFAULT : picker.getSpec()));
    all.putAll(every);
    if (picker != null && includes(all, selector)) {
      Map<String, String> why = new TreeMap<>(selector);
      why.keySet().removeAll(every.keySet());
      return Optional.of(new Selected(byThePicker(picker, why, seen.pool()), now));
    }
    return now
        ? Optional.of(
            new Selected(
                byThePool(seen.pool(), "the pods of Deployment %s".formatted(name), selector),
                true))
        : Optional.empty();
  }

  private static Verdict byThePool(InferencePool pool, String pods, Map<String, String> selector) {
    return Verdict.no(
        Reason.INVALID_SPEC,
        "InferencePool %s/%s: spec.selector.matchLabels matches %s, which carry %s: requests would be sent to pickers; name one more label there, which only model servers carry"
            .formatted(
                pool.getMetadata().getNamespace(),
                pool.getMetadata().getName(),
                pods,
                text(selector)));
  }

  private static Verdict byThePicker(
      EndpointPicker picker, Map<String, String> labels, InferencePool pool) {
    return Verdict.no(
        Reason.INVALID_SPEC,
        "EndpointPicker %s/%s: spec.podTemplate.labels gives the picker's own pods %s, and spec.selector.matchLabels of InferencePool %s selects by that: requests would be sent to pickers; take it out, or have the selector name one more label, which only model servers carry"
            .formatted(
                picker.getMetadata().getNamespace(),
                picker.getMetadata().getName(),
                text(labels),
                pool.getMetadata().getName()));
  }

  /**
   * What is asked of a picker, less the labels by which a selector that is in force would take its
   * pods for model servers.
   */
  public static EndpointPickerSpec leftOut(
      EndpointPickerSpec settings, Map<String, String> selector, String picker) {
    Map<String, String> all = new HashMap<>(asked(settings));
    Map<String, String> every = Labels.all(picker);
    all.putAll(every);
    PodTemplateSpec template = settings.podTemplate();
    if (template == null || selector.isEmpty() || !includes(all, selector)) {
      return settings;
    }
    Map<String, String> kept = new TreeMap<>(template.labels());
    kept.keySet().removeIf(key -> selector.containsKey(key) && !every.containsKey(key));
    return settings.withPodTemplate(template.withLabels(kept));
  }

  private static Map<String, String> selector(InferencePool pool) {
    return pool.getSpec() == null || pool.getSpec().selector() == null
        ? Map.of()
        : pool.getSpec().selector().matchLabels();
  }

  private static Map<String, String> asked(@Nullable EndpointPickerSpec settings) {
    return settings == null || settings.podTemplate() == null
        ? Map.of()
        : settings.podTemplate().labels();
  }

  /**
   * By the picker's pods, those that are there and those that come. Anybody can make a pod with
   * such labels; only one that a ReplicaSet has made is a picker.
   */
  private static Stream<Map<String, String>> carried(Observation seen, String picker) {
    return Stream.concat(
            seen.pods().stream()
                .map(Pod::getMetadata)
                .filter(pod -> pod.getDeletionTimestamp() == null)
                .filter(
                    pod ->
                        pod.getOwnerReferences().stream()
                            .anyMatch(owner -> owner.getKind().equals("ReplicaSet"))),
            seen.child(Deployment.class, picker).stream()
                .map(deployment -> deployment.getSpec().getTemplate().getMetadata()))
        .map(ObjectMeta::getLabels);
  }

  private static boolean includes(@Nullable Map<String, String> labels, Map<String, String> some) {
    return labels != null && labels.entrySet().containsAll(some.entrySet());
  }

  private static String text(Map<String, String> labels) {
    return new TreeMap<>(labels)
        .entrySet().stream()
            .map(label -> label.getKey() + "=" + label.getValue())
            .collect(Collectors.joining(","));
  }
}
