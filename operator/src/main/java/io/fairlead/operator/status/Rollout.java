package io.fairlead.operator.status;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateWaiting;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodCondition;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentCondition;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Labels;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads how the picker's Deployment fares: what keeps it from being wholly rolled out and ready.
 */
final class Rollout {
  /** All that a node says while it tries: with less, what is told would change with each try. */
  private static final Set<String> IMAGE =
      Set.of(
          "ImagePullBackOff",
          "ErrImagePull",
          "InvalidImageName",
          "ErrImageNeverPull",
          "ImageInspectError",
          "RegistryUnavailable",
          "SignatureValidationFailed");

  private static final Set<String> CRASH = Set.of("CrashLoopBackOff", "RunContainerError");

  /** A node forgets how often a container crashed once it has run for so long. */
  private static final Duration CRASHES_WITHIN = Duration.ofMinutes(10);

  private static final Set<String> CONFIG = Set.of("CreateContainerConfigError");
  private static final Set<String> MAKE = Set.of("CreateContainerError");

  /** As the scheduler says it. */
  private static final Pattern NO_CLAIM =
      Pattern.compile("persistentvolumeclaim \"(.+)\" not found");

  private final PickerFacts facts;

  Rollout(PickerFacts facts) {
    this.facts = facts;
  }

  /** The most specific thing that is wrong; empty when all is as desired. */
  Optional<Verdict> problem() {
    return broken().or(this::scaledDown).or(this::unfinished);
  }

  /** What keeps pods away until somebody does something. */
  Optional<Verdict> stuck() {
    return facts.deployment() == null ? Optional.empty() : broken().or(this::scaledDown);
  }

  /** Something that time alone will not mend; the pods that serve all the same are counted. */
  Optional<Verdict> broken() {
    return ailing().map(this::besideWhatOthersSet).map(this::besideWhatServes);
  }

  /** The operator leaves alone what it doesn't apply, and that may be what ails the pods. */
  private Verdict besideWhatOthersSet(Verdict ailing) {
    Deployment deployment = facts.deployment();
    PodTemplateSpec template = deployment == null ? null : deployment.getSpec().getTemplate();
    List<String> set = template == null ? List.of() : setByOthers(template.getSpec());
    return set.isEmpty()
        ? ailing
        : ailing.worded(
            message ->
                "%s; somebody else set %s in Deployment %s, take that out if it is why: kubectl edit deployment/%s --namespace %s"
                    .formatted(
                        message,
                        String.join(" and ", set),
                        facts.picker(),
                        facts.picker(),
                        facts.where().namespace()));
  }

  private static List<String> setByOthers(PodSpec spec) {
    Stream<String> command =
        picker(spec).filter(epp -> !epp.getCommand().isEmpty()).stream()
            .map(epp -> "command of container " + epp.getName());
    Stream<String> constraints =
        spec.getTopologySpreadConstraints().stream()
            .filter(one -> "DoNotSchedule".equals(one.getWhenUnsatisfiable()))
            .map(one -> "the topologySpreadConstraint over " + one.getTopologyKey());
    return Stream.concat(command, constraints).toList();
  }

  private Verdict besideWhatServes(Verdict ailing) {
    int ready = facts.readyReplicas().size();
    Deployment deployment = facts.deployment();
    int wanted = deployment == null ? 0 : orZero(deployment.getSpec().getReplicas());
    return ready == 0
        ? ailing
        : ailing.worded(
            message ->
                "%s; %d of %d pods are ready, and requests are served"
                    .formatted(message, ready, Math.max(wanted, (int) staying().count())));
  }

  private Optional<Verdict> ailing() {
    Optional<Verdict> image =
        waiting(IMAGE)
            .map(
                status ->
                    Verdict.no(
                        Reason.IMAGE_PULL_FAILED,
                        "Deployment %s: image %s cannot be pulled; correct the image or give the nodes access to its registry, %s says more"
                            .formatted(
                                facts.picker(), status.getImage(), facts.where().describePods())));
    return image
        .or(() -> waiting(CONFIG).map(this::notMade))
        .or(() -> failing(status -> crashes(status) && isKilledForMemory(status)).map(this::killed))
        .or(this::neverStarted)
        .or(this::crashing)
        .or(this::unschedulable)
        .or(
            () ->
                condition("ReplicaFailure", "True")
                    .map(
                        c ->
                            Verdict.no(
                                Reason.REPLICA_FAILURE,
                                "Deployment %s cannot create pods: %s; correct spec.resources or spec.podTemplate of the EndpointPicker, or what the namespace allows (ResourceQuota, LimitRange, admission)"
                                    .formatted(facts.picker(), c.getMessage()))))
        .or(
            () ->
                condition("Progressing", "False")
                    .map(
                        c ->
                            Verdict.no(
                                Reason.PROGRESS_DEADLINE_EXCEEDED,
                                "Deployment %s makes no progress: %s"
                                    .formatted(
                                        facts.picker(),
                                        notReady()
                                            .orElseGet(
                                                () ->
                                                    "a pod does not become ready; %s says which and why"
                                                        .formatted(
                                                            facts.where().describePods()))))))
        .or(this::paused);
  }

  private Verdict notMade(ContainerStatus status) {
    String why =
        Objects.requireNonNullElse(
            status.getState().getWaiting().getMessage(), "see " + facts.where().describePods());
    return Verdict.no(
        Reason.CREATE_CONTAINER_CONFIG_ERROR,
        "Deployment %s: container %s cannot be made: %s; %s"
            .formatted(
                facts.picker(),
                status.getName(),
                why,
                why.contains("runAsNonRoot")
                    ? "give it an image whose user is a number, and not 0"
                    : "create what it names, or correct spec.podTemplate.env of the EndpointPicker"));
  }

  /**
   * A node can't start one that its image has no command for, say: there is no log. Not in the
   * node's words: they name another container with each try.
   */
  private Optional<Verdict> neverStarted() {
    return failing(status -> MAKE.contains(waitingReason(status)) || isStartError(status))
        .map(
            failing ->
                Verdict.no(
                    Reason.CRASH_LOOPING,
                    "Deployment %s: container %s cannot be started; kubectl describe pod %s --namespace %s says why"
                        .formatted(
                            facts.picker(),
                            failing.container().getName(),
                            failing.pod(),
                            facts.where().namespace())));
  }

  /** The pod is named: of a Deployment kubectl would show the log of one that is well. */
  private Optional<Verdict> crashing() {
    return failing(Rollout::crashes)
        .map(
            failing ->
                Verdict.no(
                    Reason.CRASH_LOOPING,
                    "Deployment %s: container %s does not stay up; see its log with kubectl logs %s -c %s --namespace %s"
                        .formatted(
                            facts.picker(),
                            failing.container().getName(),
                            crashedLately(failing),
                            failing.container().getName(),
                            facts.where().namespace())));
  }

  /**
   * Which pod to name of several whose containers run for a while between two crashes: with those
   * that wait, the name would change each time that one of them is ready.
   */
  private String crashedLately(Failing failing) {
    String container = failing.container().getName();
    Predicate<ContainerStatus> ended =
        status -> container.equals(status.getName()) && end(status).isPresent();
    Optional<Instant> last =
        judged()
            .flatMap(pod -> containers(pod).filter(ended))
            .flatMap(status -> end(status).stream())
            .max(Comparator.naturalOrder());
    return last.flatMap(
            latest ->
                failing(
                    status ->
                        ended.test(status)
                            && end(status)
                                .filter(end -> end.isAfter(latest.minus(CRASHES_WITHIN)))
                                .isPresent()))
        .map(Failing::pod)
        .orElse(failing.pod());
  }

  /** When it crashed last, where the node says so. */
  private static Optional<Instant> end(ContainerStatus status) {
    return lastEnd(status)
        .filter(end -> orZero(end.getExitCode()) != 0)
        .map(ContainerStateTerminated::getFinishedAt)
        .map(Instant::parse);
  }

  /** By hand: the operator does not, and leaves alone what it does not apply. */
  private Optional<Verdict> paused() {
    Deployment deployment = facts.deployment();
    return deployment != null
            && Boolean.TRUE.equals(deployment.getSpec().getPaused())
            && progressing()
        ? Optional.of(
            Verdict.no(
                Reason.ROLLOUT_PAUSED,
                "Deployment %s is paused, and its pods stay as they are; kubectl rollout resume deploy/%s --namespace %s"
                    .formatted(facts.picker(), facts.picker(), facts.where().namespace())))
        : Optional.empty();
  }

  /** Nobody wants a pod: waiting helps nothing. */
  Optional<Verdict> scaledDown() {
    Deployment deployment = facts.deployment();
    Integer replicas = deployment == null ? null : deployment.getSpec().getReplicas();
    return replicas != null && replicas == 0
        ? Optional.of(
            Verdict.no(
                Reason.NO_READY_REPLICAS,
                "Deployment %s is scaled to 0; set spec.replicas of the EndpointPicker to 1 or more, or kubectl scale deploy/%s --replicas=1 --namespace %s where it sets none"
                    .formatted(facts.picker(), facts.picker(), facts.where().namespace())))
        : Optional.empty();
  }

  /** Something that time alone will mend. */
  Optional<Verdict> unfinished() {
    if (progressing()) {
      return slow()
          .map(this::besideWhatServes)
          .or(
              () ->
                  Optional.of(
                      Verdict.no(
                          Reason.ROLLOUT_IN_PROGRESS,
                          "Deployment %s is being rolled out; wait for it"
                              .formatted(facts.picker()))));
    }
    if (facts.readyReplicas().isEmpty()) {
      return Optional.of(
          Verdict.no(
              Reason.NO_READY_REPLICAS,
              "Deployment %s has no ready pod%s"
                  .formatted(
                      facts.picker(),
                      notReady()
                          .map(": "::concat)
                          .orElseGet(() -> "; see " + facts.where().describePods()))));
    }
    return Optional.empty();
  }

  /** Of a rollout that takes longer than most: time may still mend it, and mostly does not. */
  Optional<Verdict> slow() {
    return notReady()
        .map(
            why ->
                Verdict.no(
                    Reason.CONTAINERS_NOT_READY,
                    "Deployment %s: %s".formatted(facts.picker(), why)));
  }

  /**
   * A picker that runs, and is not ready after as long as a start takes: the kubelet sees no more
   * of it than that a probe fails, so its log is to say why.
   */
  private Optional<String> notReady() {
    return judged()
        .map(pod -> pod.getMetadata().getName())
        .filter(facts.slow()::contains)
        // The oldest stays the same for longest, and with it what all models say.
        .reduce((newer, older) -> older)
        .map(
            pod ->
                "container %s of pod %s runs and is not ready; see by its log, kubectl logs %s -c %s --namespace %s, whether it reaches the API server, and whether ClusterRole %s is there"
                    .formatted(
                        Children.CONTAINER,
                        pod,
                        pod,
                        Children.CONTAINER,
                        facts.where().namespace(),
                        Children.CLUSTER_ROLE));
  }

  /** Whether the Deployment controller is still at work on the newest template. */
  boolean progressing() {
    Deployment deployment = facts.deployment();
    DeploymentStatus status = deployment == null ? null : deployment.getStatus();
    if (deployment == null || status == null || status.getObservedGeneration() == null) {
      return true;
    }
    int wanted = orZero(deployment.getSpec().getReplicas());
    if (status.getObservedGeneration() < deployment.getMetadata().getGeneration()) {
      return !isScaledAlone(wanted, status);
    }
    int updated = orZero(status.getUpdatedReplicas());
    if (ended() && orZero(status.getReplicas()) == updated) {
      return false;
    }
    return updated < wanted
        || orZero(status.getReplicas()) > updated
        || (orZero(status.getAvailableReplicas()) < updated && !condition("Available").isPresent());
  }

  /**
   * Whether the number of pods is all that an edit which the Deployment controller has yet to see
   * has changed, as far as pods show it: that is no rollout.
   */
  private boolean isScaledAlone(int wanted, DeploymentStatus status) {
    return ended()
        && wanted != orZero(status.getReplicas())
        && staying().allMatch(this::runsWhatIsWanted);
  }

  /** Says so until the next rollout begins, also when pods are lost: that is no rollout. */
  private boolean ended() {
    return condition("Progressing")
        .filter(c -> "NewReplicaSetAvailable".equals(c.getReason()))
        .isPresent();
  }

  /** Not in the scheduler's words: they count nodes, and each change would be written down. */
  private Optional<Verdict> unschedulable() {
    return judged()
        .flatMap(pod -> pod.getStatus().getConditions().stream())
        .filter(c -> "PodScheduled".equals(c.getType()) && "Unschedulable".equals(c.getReason()))
        .findFirst()
        .map(c -> Verdict.no(Reason.UNSCHEDULABLE, missingClaim(c).orElseGet(this::noNode)));
  }

  /** In the scheduler's words numbers of nodes change all the while. */
  private String noNode() {
    return "Deployment %s: no node takes a pod; %s says why, see to spec.resources and spec.podTemplate of the EndpointPicker, or to the nodes"
        .formatted(facts.picker(), facts.where().describePods());
  }

  private Optional<String> missingClaim(PodCondition scheduled) {
    Matcher claim = NO_CLAIM.matcher(String.valueOf(scheduled.getMessage()));
    return claim.find()
        ? Optional.of(
            "Deployment %s: PersistentVolumeClaim %s does not exist; create it, or correct spec.capture.volumeClaimName of the EndpointPicker"
                .formatted(facts.picker(), claim.group(1)))
        : Optional.empty();
  }

  /**
   * Those of the newest template. One of a template before that was never ready stays until one of
   * the newest is, though what ails it may have been mended since. Such a one may also be younger,
   * where it was made anew; where admission changes all pods, the youngest has to do.
   */
  private Stream<Pod> judged() {
    Optional<String> newest =
        staying()
            .filter(this::runsWhatIsWanted)
            .findFirst()
            .or(() -> staying().findFirst())
            .map(Rollout::template);
    return staying().filter(pod -> newest.equals(Optional.of(template(pod))));
  }

  private boolean runsWhatIsWanted(Pod pod) {
    Deployment deployment = facts.deployment();
    PodTemplateSpec template = deployment == null ? null : deployment.getSpec().getTemplate();
    if (template == null || pod.getSpec() == null) {
      return false;
    }
    return picker(template.getSpec())
        .flatMap(wanted -> picker(pod.getSpec()).filter(there -> isMadeOf(wanted, there)))
        .isPresent();
  }

  private static Optional<Container> picker(PodSpec spec) {
    return spec.getContainers().stream()
        .filter(one -> Children.CONTAINER.equals(one.getName()))
        .findFirst();
  }

  /** Also where more was set by default, or by admission. */
  private static boolean isMadeOf(Container wanted, Container there) {
    return Objects.equals(wanted.getImage(), there.getImage())
        && wanted.getArgs().equals(there.getArgs())
        && there.getEnv().containsAll(wanted.getEnv())
        && requests(there).containsAll(requests(wanted));
  }

  private static Set<Map.Entry<String, Quantity>> requests(Container container) {
    return container.getResources() == null
        ? Set.of()
        : container.getResources().getRequests().entrySet();
  }

  private static String template(Pod pod) {
    return pod.getMetadata().getLabels().getOrDefault(Labels.TEMPLATE, "");
  }

  private Stream<Pod> staying() {
    return facts.staying().stream().map(Replica::pod).filter(pod -> pod.getStatus() != null);
  }

  private Optional<ContainerStatus> waiting(Set<String> reasons) {
    return containers(status -> reasons.contains(waitingReason(status)));
  }

  private Optional<ContainerStatus> containers(Predicate<ContainerStatus> which) {
    return failing(which).map(Failing::container);
  }

  /** A container and its pod. */
  private record Failing(Pod of, ContainerStatus container) {
    String pod() {
      return of.getMetadata().getName();
    }

    boolean hasMemoryLimit() {
      return Stream.of(of.getSpec().getContainers(), of.getSpec().getInitContainers())
          .flatMap(List::stream)
          .filter(one -> one.getName().equals(container.getName()))
          .map(Container::getResources)
          .anyMatch(asked -> asked != null && asked.getLimits().containsKey("memory"));
    }
  }

  private Optional<Failing> failing(Predicate<ContainerStatus> which) {
    return judged()
        .flatMap(pod -> containers(pod).filter(which).map(status -> new Failing(pod, status)))
        .findFirst();
  }

  /** Those that a pod starts with come first: the others wait for them. */
  private static Stream<ContainerStatus> containers(Pod pod) {
    return Stream.concat(
        pod.getStatus().getInitContainerStatuses().stream(),
        pod.getStatus().getContainerStatuses().stream());
  }

  /**
   * Whether it does not stay up, with whichever exit code. One that has been restarted runs for a
   * moment between two back-offs; until it is ready, that it runs says nothing, and a condition
   * that followed it would change with each try. One restart is none yet: a node was rebooted, or a
   * probe failed once.
   */
  private static boolean crashes(ContainerStatus status) {
    return CRASH.contains(waitingReason(status))
        || (!Boolean.TRUE.equals(status.getReady())
            && orZero(status.getRestartCount()) > 1
            && (isTerminated(status.getLastState()) || hasFailed(status.getState())));
  }

  private static boolean hasFailed(@Nullable ContainerState state) {
    return state != null
        && state.getTerminated() != null
        && orZero(state.getTerminated().getExitCode()) != 0;
  }

  /** Whether its last end was that; the log of one that is killed says nothing. */
  private static boolean isKilledForMemory(ContainerStatus status) {
    return lastEnd(status).filter(end -> "OOMKilled".equals(end.getReason())).isPresent();
  }

  private static boolean isStartError(ContainerStatus status) {
    return crashes(status)
        && lastEnd(status).filter(end -> "StartError".equals(end.getReason())).isPresent();
  }

  private static Optional<ContainerStateTerminated> lastEnd(ContainerStatus status) {
    return Stream.of(status.getState(), status.getLastState())
        .filter(Rollout::isTerminated)
        .map(ContainerState::getTerminated)
        .findFirst();
  }

  private Verdict killed(Failing failing) {
    String container = failing.container().getName();
    String setting =
        container.equals(Children.CONTAINER)
            ? "spec.resources.%s of the EndpointPicker"
            : "resources.%s of its sidecar";
    return Verdict.no(
        Reason.OOM_KILLED,
        failing.hasMemoryLimit()
            ? "Deployment %s: container %s is killed because it needs more memory than its limit; raise %s"
                .formatted(facts.picker(), container, setting.formatted("limits.memory"))
            : "Deployment %s: container %s, which has no limit, is killed because the node, or the pod as a whole, has too little memory; set %s, or see who else uses it"
                .formatted(facts.picker(), container, setting.formatted("requests.memory")));
  }

  private static boolean isTerminated(@Nullable ContainerState state) {
    return state != null && state.getTerminated() != null;
  }

  private static String waitingReason(ContainerStatus status) {
    ContainerStateWaiting waiting =
        status.getState() == null ? null : status.getState().getWaiting();
    return waiting == null || waiting.getReason() == null ? "" : waiting.getReason();
  }

  private Optional<DeploymentCondition> condition(String type) {
    return condition(type, "True");
  }

  private Optional<DeploymentCondition> condition(String type, String wanted) {
    Deployment deployment = facts.deployment();
    if (deployment == null || deployment.getStatus() == null) {
      return Optional.empty();
    }
    return deployment.getStatus().getConditions().stream()
        .filter(c -> type.equals(c.getType()) && wanted.equals(c.getStatus()))
        .findFirst();
  }

  private static int orZero(@Nullable Integer number) {
    return number == null ? 0 : number;
  }
}
