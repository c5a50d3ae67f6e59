package io.fairlead.operator.status;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Every reason of a condition that the operator writes. Names on the wire are an interface: alerts
 * and scripts go by them.
 */
public enum Reason {
  ACCEPTED(Kind.GOOD, "Accepted", "The object can be carried out as it is written.", "Nothing."),
  RESOLVED_REFS(
      Kind.GOOD, "ResolvedRefs", "What the object refers to is there and may be used.", "Nothing."),
  PROGRAMMED(
      Kind.GOOD,
      "Programmed",
      "Every ready picker runs the config; of a model: runs the model.",
      "Nothing."),
  ENDPOINTS_READY(
      Kind.GOOD,
      "EndpointsReady",
      "The picker has endpoints. The message names those that don't answer.",
      "Nothing; look after endpoints that are named."),
  ALL_ACCEPTED(Kind.GOOD, "AllAccepted", "Every model of the pool is in the config.", "Nothing."),
  NO_MODELS(
      Kind.GOOD,
      "NoModels",
      "No InferenceModel names the pool; requests for any model are served as unconfigured ones.",
      "Nothing, or create an InferenceModel."),
  ROOM_FOR_REQUESTS(
      Kind.GOOD, "RoomForRequests", "An endpoint has room for more requests.", "Nothing."),
  TARGETS_SERVED(
      Kind.GOOD,
      "TargetsServed",
      "Endpoints have answered for every target of the model, or name it in their metrics.",
      "Nothing."),
  AVAILABLE(Kind.GOOD, "Available", "The picker's Deployment has a ready pod.", "Nothing."),
  READY(Kind.GOOD, "Ready", "All is well.", "Nothing."),
  PAUSED_BY_SPEC(
      Kind.GOOD,
      "PausedBySpec",
      "`spec.paused` of the EndpointPicker is true: nothing is made, changed or deleted for the pool.",
      "Nothing; set it to false to have what is wanted made so."),
  PENDING(
      Kind.PASSING,
      "Pending",
      "Not known yet. The message says what it depends on.",
      "Wait, unless the message names something to do."),
  NOT_REPORTED(
      Kind.PASSING,
      "NotReported",
      "No picker has told whether endpoints serve the targets that the message names: no request for them was answered yet, or their answers say nothing of it. A picker that starts anew knows nothing.",
      "Nothing; send the model a request to see."),
  PROGRESSING(
      Kind.PASSING, "Progressing", "The model is not ready yet.", "See its condition `Ready`."),
  ROLLOUT_IN_PROGRESS(
      Kind.PASSING,
      "RolloutInProgress",
      "The picker's Deployment brings new pods up.",
      "Wait; requests are served by the pods that are ready."),
  CONTAINERS_NOT_READY(
      Kind.PASSING,
      "ContainersNotReady",
      "A new pod's picker runs for longer than a start takes, some ten seconds, and is not ready. It may still become so, as on a slow node; after five minutes the reason is `ProgressDeadlineExceeded`.",
      "See the pod's log, `kubectl logs POD -c epp --namespace NAMESPACE`: whether it reaches the API server, from which a NetworkPolicy may keep it, and whether ClusterRole `fairlead-epp` is there."),
  WAITING_FOR_TURN(
      Kind.PASSING,
      "WaitingForTurn",
      "An upgrade replaces so many pickers at a time (`--max-rollouts`), and others are being replaced. One that doesn't become ready gives its turn back when its Deployment says `ProgressDeadlineExceeded`.",
      "Wait; to have it at once, raise `--max-rollouts`, or see to the Deployments that are not rolled out: `kubectl get deployments -A -l app.kubernetes.io/managed-by=fairlead-operator`."),
  INVALID_SPEC(
      Kind.WRONG,
      "InvalidSpec",
      "A field can't be carried out. What was in force stays.",
      "Correct the field that the message names."),
  ENDPOINT_PICKER_REF_MISSING(
      Kind.WRONG,
      "EndpointPickerRefMissing",
      "The pool names no Service under which gateways find its picker.",
      "Set `spec.endpointPickerRef` of the InferencePool."),
  INVALID_EXTENSION_REF(
      Kind.WRONG,
      "InvalidExtensionRef",
      "The Service that the pool names can't be provided: it is somebody else's, another pool's, or no Service.",
      "Delete that Service, or name another in `spec.endpointPickerRef`."),
  INVALID_CERTIFICATE_REF(
      Kind.WRONG,
      "InvalidCertificateRef",
      "The Secret in `spec.tls` of the EndpointPicker is not there, lacks `tls.crt` or `tls.key`, or these are no certificate and its key. Pods that run keep the last good pair.",
      "Put a pair there: `kubectl create secret tls NAME --cert=tls.crt --key=tls.key --namespace NAMESPACE`."),
  INVALID_CA_CERTIFICATE_REF(
      Kind.WRONG,
      "InvalidCACertificateRef",
      "The ConfigMap or Secret in `spec.endpointTls` of the EndpointPicker is not there, or its key `ca.crt` holds no PEM certificates. Pods that run keep the last good ones; those that start fail until it is right.",
      "Put them there: `kubectl create configmap NAME --from-file=ca.crt --namespace NAMESPACE`, or `kubectl create secret generic NAME --from-file=ca.crt --namespace NAMESPACE`."),
  CERTIFICATE_EXPIRED(
      Kind.WRONG,
      "CertificateExpired",
      "The certificate in `spec.tls` of the EndpointPicker has ended.",
      "Renew the Secret; pods take the new pair without a restart."),
  INVALID_SECRET_REF(
      Kind.WRONG,
      "InvalidSecretRef",
      "The Secret in `spec.handOver` of the EndpointPicker is not there, or lacks the key `secret`: pods that start wait for it, those that run go on. Or that in `spec.console` is not there, or holds no token: requests are served.",
      "Create it: `kubectl create secret generic NAME --from-literal=secret=\"$(openssl rand -hex 32)\" --namespace NAMESPACE`, for a console with the key `token`."),
  INVALID_POOL_REF(
      Kind.WRONG,
      "InvalidPoolRef",
      "The model's reference is not to an InferencePool.",
      "Correct `spec.poolRef`."),
  POOL_NOT_FOUND(
      Kind.WRONG,
      "PoolNotFound",
      "The namespace has no InferencePool of the name in `spec.poolRef`.",
      "Create the pool or correct the name."),
  POOL_NOT_MANAGED(
      Kind.WRONG,
      "PoolNotManaged",
      "The model's pool is there, but not served by Fairlead.",
      "Create an EndpointPicker that names the pool, or leave the model to whoever serves it."),
  POOL_TERMINATING(
      Kind.WRONG,
      "PoolTerminating",
      "The InferencePool is being deleted, and a finalizer keeps it. What it has serves as it is until it is gone; nothing is made, repaired or changed for it.",
      "See to whoever set the finalizer that the message names; only where nobody will finish, take it out of `metadata.finalizers`."),
  TERMINATING(
      Kind.WRONG,
      "Terminating",
      "The EndpointPicker, InferenceModel, InferenceObjective or InferenceModelRewrite is being deleted, and a finalizer keeps it. It counts no longer: its pool is served as if it were gone.",
      "See to whoever set the finalizer that the message names; only where nobody will finish, take it out of `metadata.finalizers`. To have it back, create it anew when it is gone."),
  MODEL_NAME_IN_USE(
      Kind.WRONG,
      "ModelNameInUse",
      "An older InferenceModel of the pool has the same `spec.modelName`; of an InferenceModelRewrite: an InferenceModel or an older rewrite has the names of all its models.",
      "Delete one of the two or rename it."),
  SUPERSEDED(
      Kind.WRONG,
      "Superseded",
      "The cluster has the kind in two groups, and the newer one counts: of InferenceObjectives and InferenceModelRewrites only those of `llm-d.ai`, of two InferencePools of one name only that of `inference.networking.k8s.io`.",
      "Create the object in that group, with `fairlead convert --group llm-d.ai`; delete the older InferencePool once no route refers to it."),
  MODEL_CONFLICTS(
      Kind.WRONG,
      "ModelConflicts",
      "Some models of the pool are not in the config; all others are.",
      "See the status of the models that the message names."),
  PICKER_CONFLICT(
      Kind.WRONG,
      "PickerConflict",
      "An older EndpointPicker names the same pool, and is the one that counts.",
      "Delete one of the two."),
  CONFIG_REJECTED(
      Kind.WRONG,
      "ConfigRejected",
      "A picker can't run the config, and goes on with the last good scheduling. Where it can read the rest, edits of the pool and its models take effect all the same.",
      "Correct the field of the EndpointPicker that the message names."),
  CONFIG_NOT_REPORTED(
      Kind.WRONG,
      "ConfigNotReported",
      "A ready pod of the picker has not said for a minute that it runs the config, or has not renewed for 15 minutes what it said. It may serve all the same, by this or an older one.",
      "See the pod's log: whether it reaches the API server, and whether its ServiceAccount may write Leases and read the ConfigMap. A new pod has a new token: `kubectl rollout restart deployment/DEPLOYMENT --namespace NAMESPACE`."),
  CONFIG_TOO_LARGE(
      Kind.WRONG,
      "ConfigTooLarge",
      "The config of the pool and its models is larger than a ConfigMap holds, compressed too. The one that was in force stays.",
      "Delete models, take targets from them, or give some of them another pool."),
  PERMISSION_DENIED(
      Kind.WRONG,
      "PermissionDenied",
      "The API server forbids the operator something that the pool needs.",
      "Grant what the message names to the operator's ServiceAccount."),
  KIND_NOT_FOUND(
      Kind.WRONG,
      "KindNotFound",
      "The cluster lacks a kind that the operator needs. Where it never had it, nothing of the pool is made or changed until it is there; where it was taken away, what was seen last counts. What serves goes on.",
      "Install the kind as the message says; it is seen within a minute."),
  API_SERVER_ERROR(
      Kind.WRONG,
      "APIServerError",
      "The API server, or a webhook that it asks, fails at an object that the pool needs. What is in force goes on, and the operator tries again all the while.",
      "See to the webhook that the message names, or to the API server."),
  FIELD_MANAGER_CONFLICT(
      Kind.WRONG,
      "FieldManagerConflict",
      "Somebody undoes what the operator applies of an object, again and again. It is put back six times at once, then once a minute.",
      "Have whoever the message names leave the object alone, or change the EndpointPicker instead."),
  OPERATOR_ERROR(
      Kind.WRONG,
      "OperatorError",
      "The operator fails at something in the pool, its picker or its models that it does not expect. Nothing of the pool is changed until that is gone.",
      "See the operator's log for what it is, undo the last edit of these objects, and report it."),
  EPP_UNAVAILABLE(
      Kind.WRONG,
      "EPPUnavailable",
      "No picker is ready, or something that it consists of can't be made.",
      "Do what the message says; condition `Ready` of the pool has all of it."),
  NO_READY_REPLICAS(
      Kind.WRONG,
      "NoReadyReplicas",
      "The picker's Deployment is scaled to 0, or has lost its ready pods.",
      "Scale it up, or see `kubectl describe pods -l fairlead.io/picker=DEPLOYMENT --namespace NAMESPACE`."),
  IMAGE_PULL_FAILED(
      Kind.WRONG,
      "ImagePullFailed",
      "A pod can't get its image.",
      "Correct `spec.image`, give the nodes access to the registry, or name its Secret in `podTemplate.imagePullSecrets`."),
  CRASH_LOOPING(
      Kind.WRONG,
      "CrashLooping",
      "A container of the picker doesn't stay up, or can't be started.",
      "See its log, `kubectl logs POD -c CONTAINER --namespace NAMESPACE`, or where there is none `kubectl describe pod POD --namespace NAMESPACE`; the message names both."),
  OOM_KILLED(
      Kind.WRONG,
      "OOMKilled",
      "A container of the picker doesn't stay up: it needs more memory than its limit, or where it has none than there is, and is killed for it. Its log says nothing of that.",
      "Raise `spec.resources.limits.memory` of the EndpointPicker, or the limit of the sidecar that the message names; where there is none, do what the message says."),
  CREATE_CONTAINER_CONFIG_ERROR(
      Kind.WRONG,
      "CreateContainerConfigError",
      "A node can't make the picker's container: a Secret or ConfigMap that a variable is from is not there, or lacks the key, or its image would run as root.",
      "Create what the message names, correct `spec.podTemplate.env` of the EndpointPicker, or give the container an image whose user is a number, and not 0."),
  UNSCHEDULABLE(
      Kind.WRONG,
      "Unschedulable",
      "No node takes a pod of the picker. Those that are ready serve meanwhile.",
      "See `kubectl describe pods -l fairlead.io/picker=DEPLOYMENT --namespace NAMESPACE` for why; correct `spec.resources` and `spec.podTemplate` of the EndpointPicker, or add nodes. Wait where the cluster adds them by itself."),
  REPLICA_FAILURE(
      Kind.WRONG,
      "ReplicaFailure",
      "Pods can't be created: a quota, a webhook, a policy.",
      "Do what the message says."),
  PROGRESS_DEADLINE_EXCEEDED(
      Kind.WRONG,
      "ProgressDeadlineExceeded",
      "New pods don't become ready in time.",
      "See `kubectl describe pods -l fairlead.io/picker=DEPLOYMENT --namespace NAMESPACE` for why."),
  ROLLOUT_PAUSED(
      Kind.WRONG,
      "RolloutPaused",
      "Somebody has paused the Deployment, and its pods are not as they should be.",
      "`kubectl rollout resume deploy/DEPLOYMENT --namespace NAMESPACE`."),
  NO_MATCHING_PODS(
      Kind.WRONG,
      "NoMatchingPods",
      "No pod of the namespace matches `spec.selector` of the pool.",
      "Start model servers with these labels, or correct the selector."),
  NO_READY_PODS(
      Kind.WRONG,
      "NoReadyPods",
      "Pods match, but none is ready.",
      "See `kubectl describe pods -l SELECTOR --namespace NAMESPACE`, with the labels of `spec.selector`; large models take minutes to load."),
  TARGET_MODEL_NOT_SERVED(
      Kind.WRONG,
      "TargetModelNotServed",
      "No endpoint serves a target of the model: every endpoint in use, or 16 of more, has answered that it does not know it, and none has served it since. Requests that get the target fail.",
      "Correct the name in `spec.targetModels`, which must be as the model servers have it (`/v1/models` of one lists them), or have them load the model or adapter. It ends with the first good answer, or an hour after the last request for it."),
  EVERY_ENDPOINT_FULL(
      Kind.WRONG,
      "EveryEndpointFull",
      "No endpoint has room for more requests, for some seconds at least: they wait in the picker, and those that may not, or not so long, get 429.",
      "Start more model servers, let an autoscaler do it, or find who sends so much by the metrics `fairlead_queue_*`."),
  SHADOW_SWITCHED_OFF(
      Kind.WRONG,
      "ShadowSwitchedOff",
      "A plugin of a shadow failed, or was at one event for seconds. Nothing goes where a shadow says, so no request has suffered.",
      "Correct or take out the shadow that the message names in `spec.shadows` of the EndpointPicker; an edit of its scheduling tries it again, but for one whose thread still runs by the message: that takes a processor until the picker's pods are restarted."),
  EXTERNAL_SCHEDULER_UNAVAILABLE(
      Kind.WRONG,
      "ExternalSchedulerUnavailable",
      "A picker can't reach an external scheduler, or what comes from it is not the protocol. The plugins beside it decide where requests go.",
      "See the message for why, and the scheduler's own log; hold it against `fairlead conformance scheduler`. The picker tries again every 5 s at most."),
  EXTERNAL_SCHEDULER_LATE(
      Kind.WRONG,
      "ExternalSchedulerLate",
      "An external scheduler has been late again and again, so no request waits for it: the plugins beside it decide where requests go. It is asked on trial meanwhile.",
      "Give it more CPU, make it quicker, or raise `timeout` of `spec.scheduling.external`; requests wait for it again once it is in time."),
  AUTOSCALER_INACTIVE(
      Kind.WRONG,
      "AutoscalerInactive",
      "The picker's HorizontalPodAutoscaler has had nothing to scale by for two minutes, as in a cluster without metrics. Pods stay as many as they are.",
      "See to the picker's pods first where none is ready. Else install metrics-server, or for `podMetrics` an adapter that serves them; have no other HorizontalPodAutoscaler scale the same Deployment."),
  OBJECT_NOT_APPLIED(
      Kind.WRONG,
      "ObjectNotApplied",
      "An object that requests are served without can't be made as it should be, or deleted when nobody wants it any more: its name is somebody else's, or the API server refuses it.",
      "Do what the message says."),
  STATUS_REFUSED(
      Kind.WRONG,
      "StatusRefused",
      "The API server does not take the status of the InferencePool, as where an admission policy refuses it. Requests are served.",
      "See to the webhook or policy that the message names; meanwhile the EndpointPicker tells how the pool is."),
  NO_POD_MONITORS(
      Kind.WRONG,
      "NoPodMonitors",
      "The cluster has no kind PodMonitor of `monitoring.coreos.com`, or the operator may not read it.",
      "Install the Prometheus operator, or take `spec.monitoring` out of the EndpointPicker; the kind is seen within a minute."),
  PORT_NOT_SERVED(
      Kind.WRONG,
      "PortNotServed",
      "Pods are ready, but none listens on `spec.targetPorts`.",
      "Correct the ports of the pool or of the servers."),
  NO_ENDPOINT_ANSWERS(
      Kind.WRONG,
      "NoEndpointAnswers",
      "Endpoints are there, but all fail or refuse requests.",
      "Look at the servers that the message names.");

  /** What a reason is to whoever reads it. */
  public enum Kind {
    /** As it should be. */
    GOOD,
    /** Not yet as it should be, and nobody need do anything. */
    PASSING,
    /** Somebody has to do something. */
    WRONG
  }

  private static final Map<String, Reason> BY_NAME =
      Arrays.stream(values()).collect(Collectors.toMap(Reason::wireName, Function.identity()));

  private final Kind kind;
  private final String wireName;
  private final String meaning;
  private final String step;

  Reason(Kind kind, String wireName, String meaning, String step) {
    this.kind = kind;
    this.wireName = wireName;
    this.meaning = meaning;
    this.step = step;
  }

  /**
   * The reason that the compiler of configs gives.
   *
   * @param wireName as in a condition
   * @throws IllegalArgumentException when there is none of this name
   */
  public static Reason of(String wireName) {
    return find(wireName)
        .orElseThrow(
            () ->
                new IllegalArgumentException("%s is no reason of a condition".formatted(wireName)));
  }

  /** The reason of this name, if there is one. */
  public static Optional<Reason> find(String wireName) {
    return Optional.ofNullable(BY_NAME.get(wireName));
  }

  /** What it is to whoever reads it. */
  public Kind kind() {
    return kind;
  }

  /** The spelling in a condition's {@code reason}. */
  public String wireName() {
    return wireName;
  }

  /** What is the case; Markdown. */
  public String meaning() {
    return meaning;
  }

  /** What to do about it; Markdown. */
  public String step() {
    return step;
  }

  @Override
  public String toString() {
    return wireName;
  }
}
