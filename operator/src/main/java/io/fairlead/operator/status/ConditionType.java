package io.fairlead.operator.status;

import java.util.Arrays;
import java.util.Optional;

/** Every type of condition that the operator writes. */
public enum ConditionType {
  ACCEPTED(
      "Accepted",
      "InferencePool, EndpointPicker, InferenceModel, InferenceObjective, InferenceModelRewrite",
      "What the object says can be carried out; of all that name a pool: it is in the pool's config."),
  RESOLVED_REFS(
      "ResolvedRefs",
      "InferencePool, EndpointPicker, InferenceModel, InferenceObjective, InferenceModelRewrite",
      "What the object refers to is there and may be used: a pool's Service, a picker's certificate, the authorities of its model servers, the Secret that its pods share and that of its console, a model's pool."),
  PROGRAMMED(
      "Programmed",
      "InferencePool, EndpointPicker, InferenceModel",
      "Every ready picker runs the config, or the model as it is written."),
  ENDPOINTS_AVAILABLE(
      "EndpointsAvailable",
      "InferencePool, EndpointPicker",
      "The picker has endpoints to send requests to."),
  MODELS_ACCEPTED(
      "ModelsAccepted",
      "InferencePool, EndpointPicker",
      "Every InferenceModel that names the pool is in its config."),
  SATURATED(
      "Saturated",
      "InferencePool, EndpointPicker, InferenceModel",
      "No endpoint of the pool has room for more requests: they wait or are refused. `False` is how it should be."),
  TARGETS_AVAILABLE(
      "TargetsAvailable",
      "InferenceModel",
      "Endpoints of the pool serve every target of the model, as answers to its requests have shown, or metrics that name a target. `False` leaves `Ready` as it is: the model is in force as it is written, its other targets are served, and an adapter may be loaded later."),
  SHADOWS_RUNNING(
      "ShadowsRunning",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: a shadow of the picker was switched off. Requests are served as before."),
  EXTERNAL_SCHEDULERS_ASKED(
      "ExternalSchedulersAsked",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: an external scheduler is not asked, or nobody waits for its answers, and the plugins beside it decide. Requests are served."),
  UP_TO_DATE(
      "UpToDate",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: the picker's pods are those of another release of the operator, and wait for their turn to be replaced. They serve meanwhile."),
  MONITORED(
      "Monitored",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: the PodMonitor that `spec.monitoring` asks for can't be made. Requests are served."),
  AVAILABILITY_GUARDED(
      "AvailabilityGuarded",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: the picker's HorizontalPodAutoscaler or PodDisruptionBudget can't be made as it should be, or the autoscaler has nothing to scale by, or the Secret that its pods are to share can't be made, or an object that nobody wants any more can't be deleted. Requests are served."),
  UPSTREAM_KINDS_READ(
      "UpstreamKindsRead",
      "InferencePool, EndpointPicker",
      "Only there when it is `False`: InferenceObjectives or InferenceModelRewrites can't be read. Where the API server fails, those that were in force stay, and the message names models that do, since an InferenceModel that is deleted may look like a rewrite; where it forbids it, none counts. Requests are served."),
  STATUS_WRITTEN(
      "StatusWritten",
      "EndpointPicker",
      "Only there when it is `False`: the API server does not take the status of the InferencePool, so that what stands there is no longer true. Requests are served."),
  PAUSED(
      "Paused",
      "EndpointPicker",
      "Only there when it is `True`: the operator leaves all objects of the picker as they are."),
  AVAILABLE("Available", "EndpointPicker", "The picker's Deployment has a ready pod."),
  READY(
      "Ready",
      "InferencePool, EndpointPicker, InferenceModel",
      "All is well with the object and its picker, and for an InferenceModel also with endpoints; a pool that has none stays ready, and `EndpointsAvailable` says so. Where not, it has the reason of the first condition that says why, and the messages of all."),
  STALLED(
      "Stalled",
      "EndpointPicker, InferenceModel",
      "Only there when it is `True`: time will not mend it. It has the reason of `Ready`."),
  RECONCILING(
      "Reconciling",
      "InferenceModel",
      "Only there when it is `True`: it is not ready yet, and may become so without an edit of the model.");

  private final String wireName;
  private final String kinds;
  private final String meaning;

  ConditionType(String wireName, String kinds, String meaning) {
    this.wireName = wireName;
    this.kinds = kinds;
    this.meaning = meaning;
  }

  /** The type of this name, if it is one of these. */
  static Optional<ConditionType> find(String wireName) {
    return Arrays.stream(values()).filter(type -> type.wireName.equals(wireName)).findFirst();
  }

  /** The spelling in a condition's {@code type}. */
  public String wireName() {
    return wireName;
  }

  /** The kinds that have it, separated by commas. */
  public String kinds() {
    return kinds;
  }

  /** What it means that it is {@code True}; a sentence of Markdown. */
  public String meaning() {
    return meaning;
  }

  /** Whether it says again what {@link #READY} says, for tools that look for it by this name. */
  public boolean repeats() {
    return this == STALLED || this == RECONCILING;
  }

  /** Whether it comes to be as it should be on the way to {@link #READY}, or with it. */
  boolean leadsToReady() {
    return this != READY && this != SATURATED && this != PAUSED;
  }

  /**
   * Whether a change from one status to another is told in an Event. That there is room at first is
   * none, nor that targets are known to be served, or not known any more since a picker has started
   * anew.
   */
  boolean tells(String before, String after) {
    if (repeats()) {
      return false;
    }
    return switch (this) {
      case SATURATED -> Verdict.State.TRUE.is(before) || Verdict.State.TRUE.is(after);
      case TARGETS_AVAILABLE ->
          Verdict.State.FALSE.is(after)
              || (Verdict.State.FALSE.is(before) && Verdict.State.TRUE.is(after));
      default -> true;
    };
  }

  @Override
  public String toString() {
    return wireName;
  }
}
