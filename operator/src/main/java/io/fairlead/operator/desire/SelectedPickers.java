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
import io.fairlead.operator.observe.Selectors;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether a selector takes a pool's pickers for model servers: requests would be sent to pickers,
 * and by a gateway of ours in circles.
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
    Map<String, String> selector = Selectors.of(seen.pool());
    return selector.isEmpty()
        ? byAnother(seen, picker)
        : byItself(seen, picker, selector).or(() -> byAnother(seen, picker));
  }

  private static Optional<Selected> byItself(
      Observation seen, @Nullable EndpointPicker picker, Map<String, String> selector) {
    String name = Names.child(seen.pool().getMetadata().getName());
    Map<String, String> every = Labels.all(name);
    // Nobody else has any business with that label, whichever picker it is of.
    if (selector.containsKey(Labels.PICKER)
        || includes(every, selector)
        || seen.selectsAnotherPicker()) {
      return Optional.of(
          new Selected(byThePool(seen.pool(), "the pods of pickers", selector), true));
    }
    boolean now = carried(seen, name).anyMatch(labels -> includes(labels, selector));
    if (picker != null && includes(labels(picker.getSpec(), every), selector)) {
      return Optional.of(
          new Selected(
              byThePicker(picker, asked(selector, every), seen.pool().getMetadata().getName()),
              now));
    }
    return now
        ? Optional.of(
            new Selected(
                byThePool(seen.pool(), "the pods of Deployment %s".formatted(name), selector),
                true))
        : Optional.empty();
  }

  /** The other pool is not at fault, and gets no pod of this one's picker. */
  private static Optional<Selected> byAnother(Observation seen, @Nullable EndpointPicker picker) {
    if (picker == null) {
      return Optional.empty();
    }
    Map<String, String> every = Labels.all(Names.child(seen.pool().getMetadata().getName()));
    Map<String, String> all = labels(picker.getSpec(), every);
    return seen.selectors().entrySet().stream()
        .filter(other -> includes(all, other.getValue()))
        .filter(other -> !includes(every, other.getValue()))
        .findFirst()
        .map(
            other ->
                new Selected(
                    byThePicker(picker, asked(other.getValue(), every), other.getKey()), false));
  }

  /** What of a selector is not the operator's own. */
  private static Map<String, String> asked(
      Map<String, String> selector, Map<String, String> operators) {
    Map<String, String> asked = new TreeMap<>(selector);
    asked.keySet().removeAll(operators.keySet());
    return asked;
  }

  private static Verdict byThePool(InferencePool pool, String pods, Map<String, String> selector) {
    return Verdict.no(
        Reason.INVALID_SPEC,
        "InferencePool %s/%s: spec.selector.matchLabels matches %s, which carry %s: requests would be sent to pickers; name one more label there, which only model servers carry"
            .formatted(
                pool.getMetadata().getNamespace(),
                pool.getMetadata().getName(),
                pods,
                Labels.text(selector)));
  }

  private static Verdict byThePicker(
      EndpointPicker picker, Map<String, String> labels, String pool) {
    return Verdict.no(
        Reason.INVALID_SPEC,
        "EndpointPicker %s/%s: spec.podTemplate.labels gives the picker's own pods %s, and spec.selector.matchLabels of InferencePool %s selects by that: requests would be sent to pickers; take it out, or have the selector name one more label, which only model servers carry"
            .formatted(
                picker.getMetadata().getNamespace(),
                picker.getMetadata().getName(),
                Labels.text(labels),
                pool));
  }

  /**
   * What is asked of a picker, less the labels by which a selector would take its pods for model
   * servers.
   *
   * @param selectors that are in force
   */
  public static EndpointPickerSpec leftOut(
      EndpointPickerSpec settings, Collection<Map<String, String>> selectors, String picker) {
    Map<String, String> every = Labels.all(picker);
    Map<String, String> all = labels(settings, every);
    Set<String> selecting =
        selectors.stream()
            .filter(selector -> !selector.isEmpty() && includes(all, selector))
            .flatMap(selector -> selector.keySet().stream())
            .collect(Collectors.toSet());
    selecting.removeAll(every.keySet());
    PodTemplateSpec template = settings.podTemplate();
    if (template == null || selecting.isEmpty()) {
      return settings;
    }
    Map<String, String> kept = new TreeMap<>(template.labels());
    kept.keySet().removeAll(selecting);
    return settings.withPodTemplate(template.withLabels(kept));
  }

  /** What a picker's pods carry: what is asked of them, and the operator's own, which win. */
  private static Map<String, String> labels(
      @Nullable EndpointPickerSpec settings, Map<String, String> operators) {
    Map<String, String> labels = new HashMap<>();
    if (settings != null && settings.podTemplate() != null) {
      labels.putAll(settings.podTemplate().labels());
    }
    labels.putAll(operators);
    return labels;
  }

  /** By the picker's pods, those that are there and those that come. */
  private static Stream<Map<String, String>> carried(Observation seen, String picker) {
    return Stream.concat(
            seen.pods().stream()
                .map(Pod::getMetadata)
                .filter(pod -> pod.getDeletionTimestamp() == null),
            seen.child(Deployment.class, picker).stream()
                .map(deployment -> deployment.getSpec().getTemplate().getMetadata()))
        .map(ObjectMeta::getLabels);
  }

  private static boolean includes(@Nullable Map<String, String> labels, Map<String, String> some) {
    return labels != null && labels.entrySet().containsAll(some.entrySet());
  }
}
