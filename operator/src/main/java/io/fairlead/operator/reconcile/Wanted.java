package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.document.ConfigDocument.Written;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.children.PickerDesign;
import io.fairlead.operator.children.PickerDesign.Deployed;
import io.fairlead.operator.children.PickerDesign.ServicePlace;
import io.fairlead.operator.children.PickerImage;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.SelectedPickers;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ServiceRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What is wanted of a pool that is served, by what was seen of it.
 *
 * @param picker that says how; null for defaults
 * @param service that gateways ask
 * @param design of the children; empty where there is nothing that pods could run, or none are
 *     asked for
 */
record Wanted(
    Observation seen,
    @Nullable EndpointPicker picker,
    CompiledPool compiled,
    ServiceRef service,
    Frontend frontend,
    Optional<PickerDesign> design) {

  /**
   * Works it out.
   *
   * @param image of pickers that name none
   */
  static Wanted of(
      Observation seen, @Nullable EndpointPicker picker, CompiledPool compiled, PickerImage image) {
    ServiceRef service = ServiceRef.of(seen);
    Frontend frontend = frontend(seen, picker);
    return new Wanted(
        seen,
        picker,
        compiled,
        service,
        frontend,
        design(seen, picker, compiled, service, frontend, image));
  }

  /** The pool's UID. */
  String uid() {
    return seen.pool().getMetadata().getUid();
  }

  /** Of the config that is wanted; null where there is none. */
  @Nullable ConfigHash hash() {
    return design.map(PickerDesign::documentHash).orElse(null);
  }

  /** Whether all objects of the pool are to stay as they are. */
  boolean isPaused() {
    return PickerTelling.isPaused(picker);
  }

  /** What is asked for; where that is nothing that there is, what runs. */
  private static Frontend frontend(Observation seen, @Nullable EndpointPicker picker) {
    var spec = picker == null ? null : picker.getSpec();
    return Frontend.of(spec == null ? null : spec.frontend())
        .or(
            () ->
                seen.child(Deployment.class, Names.child(seen.pool().getMetadata().getName()))
                    .map(Children::frontend))
        .orElse(Frontend.EXT_PROC);
  }

  private static Optional<PickerDesign> design(
      Observation seen,
      @Nullable EndpointPicker picker,
      CompiledPool compiled,
      ServiceRef service,
      Frontend frontend,
      PickerImage usual) {
    Written document = compiled.document();
    ServicePlace place =
        service instanceof ServiceRef.Resolved resolved
            ? new ServicePlace(resolved.name(), resolved.port())
            : null;
    // Of a pool that nobody claims, and whose Service is another's, pods are not begun with.
    boolean areAskedFor = place != null || picker != null || !seen.own().isEmpty();
    if (!areAskedFor || (document == null && compiled.unknown() == null)) {
      return Optional.empty();
    }
    var spec = picker == null ? null : picker.getSpec();
    String image = spec == null ? null : spec.image();
    return Optional.of(
        new PickerDesign(
            seen.pool().getMetadata().getNamespace(),
            seen.pool().getMetadata().getName(),
            seen.pool().getApiVersion(),
            seen.pool().getMetadata().getUid(),
            place,
            document == null ? null : document.text(),
            document == null ? null : document.hash(),
            compiled.lastGood(),
            frontend,
            image == null || image.isBlank() ? usual : usual.named(image),
            spec == null ? EndpointPickerSpec.DEFAULT : carriedOut(spec, seen, compiled),
            compiled.schedulers(),
            account(seen),
            deployed(seen)));
  }

  /**
   * What there is of the picker. A Deployment whose labels somebody took away is out of sight until
   * it is put right, and its pods are not: without them it would be made as one of a single pod.
   */
  private static Deployed deployed(Observation seen) {
    String name = Names.child(seen.pool().getMetadata().getName());
    return seen.child(Deployment.class, name)
        .map(Deployment::getSpec)
        .map(
            there ->
                new Deployed(
                    Objects.requireNonNullElse(there.getReplicas(), 1),
                    Children.handsOver(there.getTemplate().getSpec(), name)))
        .orElseGet(
            () ->
                seen.pods().stream().anyMatch(pod -> Children.handsOver(pod.getSpec(), name))
                    ? new Deployed(seen.pods().size(), true)
                    : Deployed.NOTHING);
  }

  private static @Nullable String account(Observation seen) {
    String name = Names.child(seen.pool().getMetadata().getName());
    ServiceAccount account = seen.child(ServiceAccount.class, name).orElse(null);
    return seen.child(Deployment.class, name)
        .map(there -> Children.account(there, account, seen.pods()))
        .orElse(null);
  }

  private static EndpointPickerSpec carriedOut(
      EndpointPickerSpec asked, Observation seen, CompiledPool compiled) {
    List<Map<String, String>> selectors = new ArrayList<>(seen.selectors().values());
    PoolConfig inForce = compiled.config();
    if (inForce != null) {
      selectors.add(inForce.selector());
    }
    return SelectedPickers.leftOut(
        asked, selectors, Names.child(seen.pool().getMetadata().getName()));
  }
}
