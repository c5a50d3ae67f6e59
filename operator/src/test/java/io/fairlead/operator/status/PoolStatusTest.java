package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.api.model.ConditionBuilder;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStateTerminatedBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpecBuilder;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpecBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.report.PickerReport.Endpoints;
import io.fairlead.crds.report.PickerReport.Out;
import io.fairlead.crds.report.PickerReport.Refused;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.SeenReasons;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Makes({
  Reason.PROGRAMMED,
  Reason.READY,
  Reason.PENDING,
  Reason.ROLLOUT_IN_PROGRESS,
  Reason.CONTAINERS_NOT_READY,
  Reason.CONFIG_REJECTED,
  Reason.EPP_UNAVAILABLE,
  Reason.NO_READY_REPLICAS,
  Reason.IMAGE_PULL_FAILED,
  Reason.CRASH_LOOPING,
  Reason.OOM_KILLED,
  Reason.CREATE_CONTAINER_CONFIG_ERROR,
  Reason.UNSCHEDULABLE,
  Reason.REPLICA_FAILURE,
  Reason.PROGRESS_DEADLINE_EXCEEDED,
  Reason.ROLLOUT_PAUSED,
  Reason.ENDPOINTS_READY,
  Reason.NO_MATCHING_PODS,
  Reason.NO_READY_PODS,
  Reason.PORT_NOT_SERVED,
  Reason.NO_ENDPOINT_ANSWERS,
  Reason.ALL_ACCEPTED,
  Reason.NO_MODELS,
  Reason.MODEL_CONFLICTS,
  Reason.ROOM_FOR_REQUESTS,
  Reason.EVERY_ENDPOINT_FULL
})
class PoolStatusTest {
  private static final PickerFacts.Where WHERE = new PickerFacts.Where("ns", "p-epp", "app=vllm");
  private static final Verdict ACCEPTED = Verdict.yes(Reason.ACCEPTED, "m");
  private static final Verdict RESOLVED = Verdict.yes(Reason.RESOLVED_REFS, "m");
  private static final Endpoints SOME = new Endpoints(2, 2, null);
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private static PickerFacts facts(@Nullable Deployment deployment, Replica... replicas) {
    return new PickerFacts(
        WHERE,
        ACCEPTED,
        RESOLVED,
        hash("new"),
        deployment,
        List.of(replicas),
        null,
        new PickerFacts.ModelCount(1, 0, List.of()));
  }

  private static Deployment rolledOut() {
    return deployment(1, 1, 1, "True");
  }

  private static Deployment deployment(int observed, int updated, int available, String progress) {
    return deployment(observed, updated, available, progress, "ReplicaSetUpdated");
  }

  /** Its rollout has ended; what it lacks since is no rollout. */
  private static Deployment ended(int replicas, int available) {
    return deployment(1, replicas, available, "True", "NewReplicaSetAvailable");
  }

  private static Deployment paused(Deployment deployment) {
    return new DeploymentBuilder(deployment).editSpec().withPaused(true).endSpec().build();
  }

  private static Deployment deployment(
      int observed, int updated, int available, String progress, String reason) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withGeneration(1L)
        .endMetadata()
        .withNewSpec()
        .withReplicas(1)
        .endSpec()
        .withNewStatus()
        .withObservedGeneration((long) observed)
        .withReplicas(updated)
        .withUpdatedReplicas(updated)
        .withAvailableReplicas(available)
        .addNewCondition()
        .withType("Progressing")
        .withStatus(progress)
        .withReason(reason)
        .endCondition()
        .endStatus()
        .build();
  }

  private static Replica ready(@Nullable PickerReport report) {
    return replica("True", null, report);
  }

  private static Replica waiting(String reason) {
    return replica("False", reason, null);
  }

  private static Replica notMade(String why) {
    Replica replica = waiting("CreateContainerConfigError");
    replica
        .pod()
        .getStatus()
        .getContainerStatuses()
        .getFirst()
        .getState()
        .getWaiting()
        .setMessage(why);
    return replica;
  }

  private static Replica replica(
      String ready, @Nullable String waiting, @Nullable PickerReport report) {
    var status =
        new PodBuilder()
            .withNewMetadata()
            .withName("pod")
            .endMetadata()
            .withNewStatus()
            .addNewCondition()
            .withType("Ready")
            .withStatus(ready)
            .endCondition();
    if (waiting != null) {
      status
          .addNewContainerStatus()
          .withName("epp")
          .withImage("i")
          .withNewState()
          .withNewWaiting()
          .withReason(waiting)
          .endWaiting()
          .endState()
          .endContainerStatus();
    }
    return new Replica(status.endStatus().build(), report, null);
  }

  private static ConfigHash hash(String name) {
    return ConfigHash.of(name);
  }

  private static PickerReport runs(String hash) {
    return new PickerReport("ns/p", hash(hash), 1, null, SOME);
  }

  private static PickerReport refuses(String hash) {
    return new PickerReport("ns/p", hash("old"), 1, new Refused(hash(hash), "why"), SOME);
  }

  private static PickerReport endpoints(@Nullable String reason) {
    return new PickerReport("ns/p", hash("new"), 1, null, new Endpoints(0, 0, reason));
  }

  private static final Verdict NOT_STARTED =
      Verdict.no(
          Reason.CRASH_LOOPING,
          "Deployment p-epp: container epp cannot be started; kubectl describe pod pod --namespace ns says why");

  /** Has no log, and waiting for the rollout helps nothing. */
  @Test
  void aContainerThatCannotBeMadeIsToldInTheWordsOfTheNode() {
    Verdict ready =
        PoolStatus.of(facts(deployment(1, 1, 0, "True"), notMade("secret \"token\" not found")))
            .get(ConditionType.READY);
    assertThat(ready)
        .isEqualTo(
            Verdict.no(
                Reason.CREATE_CONTAINER_CONFIG_ERROR,
                "Deployment p-epp: container epp cannot be made: secret \"token\" not found; create what it names, or correct spec.podTemplate.env of the EndpointPicker"));
  }

  /**
   * Between two back-offs it runs for a moment, or has just ended: the condition stays as it is.
   */
  @ParameterizedTest
  @ValueSource(strings = {"waiting", "running", "terminated"})
  void aCrashLoopIsToldAllTheWhile(String state) {
    Replica crashing = new Replica(crashed(state, false), null, null);
    for (Deployment deployment : List.of(deployment(1, 1, 0, "True"), ended(1, 0))) {
      Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts(deployment, crashing));
      assertThat(brief(verdicts, ConditionType.READY)).isEqualTo("False/CrashLooping");
      assertThat(brief(verdicts, ConditionType.PROGRAMMED)).isEqualTo("False/EPPUnavailable");
      assertThat(verdicts.get(ConditionType.READY))
          .isEqualTo(
              PoolStatus.of(facts(deployment, new Replica(crashed("waiting", false), null, null)))
                  .get(ConditionType.READY));
    }
  }

  /** Whose log ends in the middle of a word. */
  @ParameterizedTest
  @ValueSource(strings = {"waiting", "running", "terminated"})
  void aContainerThatIsKilledForMemoryIsToldSo(String state) {
    Pod pod = crashed(state, false);
    ContainerStatus status = pod.getStatus().getContainerStatuses().getFirst();
    Stream.of(status.getState(), status.getLastState())
        .map(ContainerState::getTerminated)
        .filter(Objects::nonNull)
        .forEach(end -> end.setReason("OOMKilled"));
    assertThat(killed(pod, "epp", "1Gi"))
        .isEqualTo(
            "Deployment p-epp: container epp is killed because it needs more memory than its limit; raise spec.resources.limits.memory of the EndpointPicker");
    assertThat(killed(pod, "theirs", "1Gi"))
        .isEqualTo(
            "Deployment p-epp: container theirs is killed because it needs more memory than its limit; raise resources.limits.memory of its sidecar");
    assertThat(killed(pod, "epp", null))
        .isEqualTo(
            "Deployment p-epp: container epp, which has no limit, is killed because the node, or the pod as a whole, has too little memory; set spec.resources.requests.memory of the EndpointPicker, or see who else uses it");
    assertThat(killed(pod, "theirs", null))
        .isEqualTo(
            "Deployment p-epp: container theirs, which has no limit, is killed because the node, or the pod as a whole, has too little memory; set resources.requests.memory of its sidecar, or see who else uses it");
  }

  private static String killed(Pod pod, String container, @Nullable String limit) {
    pod.getStatus().getContainerStatuses().getFirst().setName(container);
    pod.setSpec(
        new PodSpecBuilder()
            .addNewContainer()
            .withName(container)
            .withNewResources()
            .withLimits(limit == null ? Map.of() : Map.of("memory", Quantity.parse(limit)))
            .endResources()
            .endContainer()
            .build());
    Map<ConditionType, Verdict> verdicts =
        PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null)));
    assertThat(brief(verdicts, ConditionType.READY)).isEqualTo("False/OOMKilled");
    return Objects.requireNonNull(verdicts.get(ConditionType.READY)).message();
  }

  /** As service meshes add: the picker's own container waits for it, and says nothing. */
  @ParameterizedTest
  @CsvSource({
    "CrashLoopBackOff,CrashLooping,kubectl logs next -c mesh-init",
    "ImagePullBackOff,ImagePullFailed,image mesh cannot be pulled",
    "SignatureValidationFailed,ImagePullFailed,image mesh cannot be pulled",
    "RegistryUnavailable,ImagePullFailed,image mesh cannot be pulled",
    "ImageInspectError,ImagePullFailed,image mesh cannot be pulled",
    "CreateContainerConfigError,CreateContainerConfigError,container mesh-init cannot be made"
  })
  void aContainerThatAPodStartsWithIsToldOf(String waiting, String reason, String words) {
    ContainerStatus first = waiting(waiting).pod().getStatus().getContainerStatuses().getFirst();
    first.setName("mesh-init");
    first.setImage("mesh");
    Pod pod = waiting("PodInitializing").pod();
    pod.getMetadata().setName("next");
    pod.getStatus().setInitContainerStatuses(List.of(first));
    Map<ConditionType, Verdict> verdicts =
        PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null)));
    assertThat(brief(verdicts, ConditionType.READY)).isEqualTo("False/" + reason);
    assertThat(verdicts.get(ConditionType.READY))
        .extracting(Verdict::message, InstanceOfAssertFactories.STRING)
        .contains(words);
  }

  /** Of a Deployment kubectl shows the log of some pod, which is mostly the one that is well. */
  @Test
  void theLogOfTheFirstPodThatCrashesIsNamed() {
    List<Replica> pods = new ArrayList<>(List.of(ready(runs("new"))));
    for (String name : List.of("c", "b", "d")) {
      Pod pod = crashed("waiting", false);
      pod.getMetadata().setName(name);
      pods.add(new Replica(pod, null, null));
    }
    assertThat(
            PoolStatus.of(facts(deployment(3, 3, 0, "True"), pods.toArray(Replica[]::new)))
                .get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.CRASH_LOOPING,
                "Deployment p-epp: container epp does not stay up; see its log with kubectl logs b -c epp --namespace ns; 1 of 4 pods are ready, and requests are served"));
  }

  /** They run for a while in turn, and each name would be a write. */
  @ParameterizedTest
  @CsvSource({"2026-01-01T00:51:00Z,b", "2026-01-01T00:49:00Z,c"})
  void aPodThatIsReadyBetweenTwoCrashesStaysTheOneThatIsNamed(String ended, String named) {
    Pod runs = crashed("running", true);
    runs.getMetadata().setName("b");
    runs.getStatus().getConditions().getFirst().setStatus("True");
    ended(runs, ended);
    Pod waits = crashed("waiting", false);
    waits.getMetadata().setName("c");
    ended(waits, "2026-01-01T01:00:00Z");
    assertThat(
            PoolStatus.of(
                    facts(
                        ended(2, 1),
                        new Replica(runs, runs("new"), null),
                        new Replica(waits, null, null)))
                .get(ConditionType.READY))
        .extracting(Verdict::message, InstanceOfAssertFactories.STRING)
        .contains("kubectl logs " + named + " -c epp");
  }

  private static void ended(Pod pod, String time) {
    pod.getStatus()
        .getContainerStatuses()
        .getFirst()
        .getLastState()
        .getTerminated()
        .setFinishedAt(time);
  }

  /**
   * A pod that never was ready stays until one of the next template is, and its fault is mended.
   */
  @ParameterizedTest
  @CsvSource({
    "CrashLoopBackOff,False/CrashLooping",
    "ContainerCreating,False/RolloutInProgress",
  })
  void whatAilsPodsOfATemplateBeforeIsToldNoMore(String next, String ready) {
    List<Replica> pods =
        List.of(
            ofTemplate("a", "2026-01-01T00:00:00Z", waiting("ImagePullBackOff")),
            ofTemplate("b", "2026-01-01T00:00:00Z", unschedulable()),
            ofTemplate("c", "2026-01-01T00:00:09Z", waiting(next)));
    assertThat(
            brief(
                PoolStatus.of(facts(deployment(1, 1, 0, "True"), pods.toArray(Replica[]::new))),
                ConditionType.READY))
        .isEqualTo(ready);
  }

  @Test
  void whatAilsAnOlderPodOfTheSameTemplateIsTold() {
    assertThat(
            brief(
                PoolStatus.of(
                    facts(
                        deployment(1, 1, 0, "True"),
                        ofTemplate("a", "2026-01-01T00:00:00Z", waiting("ImagePullBackOff")),
                        ofTemplate("a", "2026-01-01T00:00:09Z", ready(runs("new"))))),
                ConditionType.READY))
        .isEqualTo("False/ImagePullFailed");
  }

  /** As where a node of a rollout that is stuck is drained: the old pods are made anew. */
  @ParameterizedTest
  @ValueSource(strings = {"image", "argument", "variable", "memory"})
  void whatAilsPodsOfTheNewestTemplateIsToldThoughOneOfATemplateBeforeIsYounger(String edited) {
    Deployment deployment = deployment(1, 1, 0, "True");
    deployment.getSpec().setTemplate(running(edited));
    Replica stuck = ofTemplate("b", "2026-01-01T00:00:00Z", waiting("ImagePullBackOff"));
    stuck.pod().setSpec(running(edited).getSpec());
    Replica old = ofTemplate("a", "2026-01-01T00:00:09Z", ready(runs("new")));
    old.pod().setSpec(running("").getSpec());
    assertThat(brief(PoolStatus.of(facts(deployment, stuck, old)), ConditionType.READY))
        .isEqualTo("False/ImagePullFailed");
    Replica mutated = ofTemplate("c", "2026-01-01T00:00:19Z", waiting("CrashLoopBackOff"));
    assertThat(brief(PoolStatus.of(facts(deployment, mutated, old)), ConditionType.READY))
        .as("none is as wanted, since admission changes them: the youngest counts")
        .isEqualTo("False/CrashLooping");
  }

  private static PodTemplateSpec running(String edited) {
    return new PodTemplateSpecBuilder()
        .withNewSpec()
        .addNewContainer()
        .withName("epp")
        .withImage(edited.equals("image") ? "new" : "old")
        .withArgs(edited.equals("argument") ? "--new" : "--old")
        .addNewEnv()
        .withName("A")
        .withValue(edited.equals("variable") ? "new" : "old")
        .endEnv()
        .withNewResources()
        .addToRequests("memory", new Quantity(edited.equals("memory") ? "2Gi" : "1Gi"))
        .endResources()
        .endContainer()
        .endSpec()
        .build();
  }

  private static Replica ofTemplate(String hash, String time, Replica replica) {
    Replica made = made(replica.name() + hash + time.length(), time, replica);
    made.pod().getMetadata().setLabels(Map.of("pod-template-hash", hash));
    return made;
  }

  /** As one whose command the image lacks: it has no log, and what the node says has new ids. */
  @ParameterizedTest
  @CsvSource({"waiting,RunContainerError", "waiting,CrashLoopBackOff", "terminated,"})
  void ofAContainerThatCannotBeStartedThePodIsToSayWhy(String state, @Nullable String waiting) {
    Pod pod = crashed(state, false);
    ContainerStatus status = pod.getStatus().getContainerStatuses().getFirst();
    if (waiting != null) {
      status.getState().getWaiting().setReason(waiting);
    }
    Stream.of(status.getState(), status.getLastState())
        .map(ContainerState::getTerminated)
        .filter(Objects::nonNull)
        .forEach(end -> end.setReason("StartError"));
    assertThat(
            PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null)))
                .get(ConditionType.READY))
        .isEqualTo(NOT_STARTED);
  }

  /** As one whose image says no command, and the pod neither: nothing has ended yet. */
  @Test
  void aContainerThatHasNothingToRunIsToldOf() {
    assertThat(
            PoolStatus.of(facts(deployment(1, 1, 0, "True"), waiting("CreateContainerError")))
                .get(ConditionType.READY))
        .isEqualTo(NOT_STARTED);
  }

  /** No Secret and no variable is the reason, and none mends it. */
  @Test
  void aContainerThatWouldRunAsRootNeedsAnotherImage() {
    assertThat(
            PoolStatus.of(
                    facts(
                        deployment(1, 1, 0, "True"),
                        notMade("container has runAsNonRoot and image will run as root")))
                .get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.CREATE_CONTAINER_CONFIG_ERROR,
                "Deployment p-epp: container epp cannot be made: container has runAsNonRoot and image will run as root; give it an image whose user is a number, and not 0"));
  }

  /** Of a Deployment kubectl tells that it waits for its pods, and not what these wait for. */
  @Test
  void ofARolloutThatDoesNotEndThePodsAreToSayWhy() {
    assertThat(
            PoolStatus.of(facts(deployment(1, 1, 0, "False"), waiting("")))
                .get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.PROGRESS_DEADLINE_EXCEEDED,
                "Deployment p-epp makes no progress: a pod does not become ready; kubectl describe pods -l fairlead.io/picker=p-epp --namespace ns says which and why"));
  }

  private static final String NOT_READY =
      "container epp of pod pod runs and is not ready; see by its log, kubectl logs pod -c epp --namespace ns, whether it reaches the API server, and whether ClusterRole fairlead-epp is there";

  /** As where a policy keeps it from the API server, or its role is gone: it never ends. */
  @Test
  void aPickerThatRunsForLongAndIsNotReadyIsToldWithWhereToLook() {
    PickerFacts facts = facts(deployment(1, 1, 0, "True"), startedPod());
    assertThat(PoolStatus.of(facts).get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.ROLLOUT_IN_PROGRESS, "Deployment p-epp is being rolled out; wait for it"));

    Map<ConditionType, Verdict> verdicts = PoolStatus.of(slow(facts));
    assertThat(verdicts.get(ConditionType.READY))
        .isEqualTo(Verdict.no(Reason.CONTAINERS_NOT_READY, "Deployment p-epp: " + NOT_READY));
    assertThat(verdicts.get(ConditionType.PROGRAMMED))
        .as("it may come to it still, and to a model this is all that is said")
        .isEqualTo(Verdict.pending("Deployment p-epp: " + NOT_READY));
    SeenReasons.add(Reason.CONTAINERS_NOT_READY.wireName());
  }

  @Test
  void aPickerThatRunsForLongAndIsNotReadyIsToldBesideThoseThatServe() {
    Map<ConditionType, Verdict> verdicts =
        PoolStatus.of(slow(facts(deployment(2, 1, 0, "True"), startedPod(), ready(runs("new")))));
    assertThat(verdicts.get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.CONTAINERS_NOT_READY,
                "Deployment p-epp: "
                    + NOT_READY
                    + "; 1 of 2 pods are ready, and requests are served"));
    assertThat(brief(verdicts, ConditionType.PROGRAMMED)).isEqualTo("True/Programmed");
  }

  /**
   * It stays so for longest: all models say what is said of it, and are written anew for another.
   */
  @Test
  void ofSeveralThatAreNotReadyTheOldestIsNamed() {
    Replica older = made("older", "2026-01-01T00:00:00Z", startedPod());
    Replica newer = made("newer", "2026-01-01T00:00:09Z", startedPod());
    PickerFacts facts = facts(deployment(2, 2, 0, "True"), newer, older);
    assertThat(PoolStatus.of(slow(facts)))
        .extractingByKey(ConditionType.READY)
        .extracting(Verdict::message)
        .asString()
        .contains("pod older runs");
  }

  /** Of a template before: it goes as soon as one of the newest is ready. */
  @Test
  void aPickerOfATemplateBeforeThatIsNotReadyIsToldNoMore() {
    Replica old = ofTemplate("a", "2026-01-01T00:00:00Z", startedPod());
    Replica next = ofTemplate("b", "2026-01-01T00:00:09Z", waiting("ContainerCreating"));
    PickerFacts facts = facts(deployment(1, 1, 0, "True"), old, next);
    assertThat(brief(PoolStatus.of(slow(facts)), ConditionType.READY))
        .isEqualTo("False/RolloutInProgress");
  }

  /** The kubelet's events say that its probe fails, and not what the picker lacks. */
  @Test
  void whereWaitingHasAnEndItsLogIsNamedToo() {
    assertThat(
            PoolStatus.of(slow(facts(deployment(1, 1, 0, "False"), startedPod())))
                .get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.PROGRESS_DEADLINE_EXCEEDED,
                "Deployment p-epp makes no progress: " + NOT_READY));
    assertThat(PoolStatus.of(slow(facts(ended(1, 0), startedPod()))).get(ConditionType.READY))
        .isEqualTo(
            Verdict.no(
                Reason.NO_READY_REPLICAS, "Deployment p-epp has no ready pod: " + NOT_READY));
  }

  private static Replica startedPod() {
    Replica replica = waiting("");
    ContainerStatus status = replica.pod().getStatus().getContainerStatuses().getFirst();
    status.setReady(false);
    status.setState(
        new ContainerStateBuilder()
            .withNewRunning()
            .withStartedAt("2026-01-01T00:00:00Z")
            .endRunning()
            .build());
    return replica;
  }

  /** The same when all that start have had as long as that takes. */
  private static PickerFacts slow(PickerFacts facts) {
    return new PickerFacts(
        facts.where(),
        facts.accepted(),
        facts.resolvedRefs(),
        facts.hash(),
        facts.deployment(),
        facts.replicas(),
        facts.applyFailure(),
        facts.models(),
        facts.beside(),
        facts.overdue(),
        facts.replicas().stream()
            .filter(replica -> replica.startingSince().isPresent())
            .map(Replica::name)
            .collect(Collectors.toSet()));
  }

  @Test
  void aContainerThatIsReadyAgainDoesNotCrashAnyMore() {
    Pod pod = crashed("running", true);
    pod.getStatus().getConditions().getFirst().setStatus("True");
    assertThat(
            brief(
                PoolStatus.of(facts(ended(1, 1), new Replica(pod, runs("new"), null))),
                ConditionType.READY))
        .isEqualTo("True/Ready");
  }

  /** It is restarted at once, and may well stay up then. */
  @Test
  void aContainerThatEndedOnceIsNoCrashLoop() {
    Pod pod = crashed("terminated", false);
    ContainerStatus status = pod.getStatus().getContainerStatuses().getFirst();
    status.setRestartCount(0);
    status.setLastState(new ContainerState());
    assertThat(
            brief(
                PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null))),
                ConditionType.READY))
        .isEqualTo("False/RolloutInProgress");
  }

  /** As after a node was rebooted, or a probe failed once: it warms up, and may well stay up. */
  @Test
  void aContainerThatWasRestartedOnceIsNoCrashLoop() {
    Pod pod = crashed("running", false);
    pod.getStatus().getContainerStatuses().getFirst().setRestartCount(1);
    assertThat(
            brief(
                PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null))),
                ConditionType.READY))
        .isEqualTo("False/RolloutInProgress");
  }

  /** Such as a sidecar whose command prints its help: it never fails, and never stays up. */
  @ParameterizedTest
  @ValueSource(strings = {"waiting", "running", "terminated"})
  void aContainerThatEndsWellForEverDoesNotStayUpEither(String state) {
    Pod pod = crashed(state, false);
    ContainerStatus status = pod.getStatus().getContainerStatuses().getFirst();
    // Of one that has ended both states are this object.
    status.getLastState().getTerminated().setExitCode(0);
    assertThat(
            brief(
                PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null))),
                ConditionType.READY))
        .isEqualTo("False/CrashLooping");
  }

  /** What keeps it from being made now says more than that it once ended. */
  @Test
  void aContainerThatCannotBeMadeAgainDoesNotCrash() {
    Pod pod = crashed("waiting", false);
    pod.getStatus()
        .getContainerStatuses()
        .getFirst()
        .getState()
        .getWaiting()
        .setReason("CreateContainerConfigError");
    assertThat(
            brief(
                PoolStatus.of(facts(deployment(1, 1, 0, "True"), new Replica(pod, null, null))),
                ConditionType.READY))
        .isEqualTo("False/CreateContainerConfigError");
  }

  private static Pod crashed(String state, boolean ready) {
    Pod pod = waiting("CrashLoopBackOff").pod();
    ContainerStatus status = pod.getStatus().getContainerStatuses().getFirst();
    ContainerStateTerminated failed = new ContainerStateTerminatedBuilder().withExitCode(1).build();
    status.setReady(ready);
    status.setRestartCount(3);
    status.setLastState(new ContainerStateBuilder().withTerminated(failed).build());
    switch (state) {
      case "running" ->
          status.setState(new ContainerStateBuilder().withNewRunning().endRunning().build());
      case "terminated" ->
          status.setState(new ContainerStateBuilder().withTerminated(failed).build());
      default -> {}
    }
    return pod;
  }

  @Test
  void aPodThatNoNodeTakesIsTold() {
    Verdict ready =
        PoolStatus.of(facts(deployment(1, 1, 0, "True"), ready(runs("new")), unschedulable()))
            .get(ConditionType.READY);
    assertThat(ready).extracting(Verdict::reason).isEqualTo(Reason.UNSCHEDULABLE);
    assertThat(ready)
        .extracting(Verdict::message, InstanceOfAssertFactories.STRING)
        .contains("kubectl describe pods -l fairlead.io/picker=p-epp")
        .contains("1 of 2 pods are ready, and requests are served")
        .as("numbers of nodes change, and each change would be a write")
        .doesNotContain("0/3");
    Replica leaving = unschedulable();
    leaving.pod().getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z");
    assertThat(
            PoolStatus.of(facts(rolledOut(), ready(runs("new")), leaving)).get(ConditionType.READY))
        .as("nobody waits for it")
        .extracting(Verdict::isTrue)
        .isEqualTo(true);
  }

  /** Nodes and what the pod asks of them have nothing to do with it. */
  @Test
  void aClaimThatIsNotThereIsNamed() {
    Verdict ready =
        PoolStatus.of(
                facts(
                    deployment(1, 1, 0, "True"),
                    unschedulable("persistentvolumeclaim \"captures\" not found")))
            .get(ConditionType.READY);
    assertThat(ready).extracting(Verdict::reason).isEqualTo(Reason.UNSCHEDULABLE);
    assertThat(ready)
        .extracting(Verdict::message)
        .isEqualTo(
            "Deployment p-epp: PersistentVolumeClaim captures does not exist; create it, or correct spec.capture.volumeClaimName of the EndpointPicker");
  }

  private static Replica unschedulable() {
    return unschedulable("0/3 nodes are available");
  }

  private static Replica unschedulable(String message) {
    return new Replica(
        new PodBuilder()
            .withNewMetadata()
            .withName("next")
            .endMetadata()
            .withNewStatus()
            .addNewCondition()
            .withType("PodScheduled")
            .withStatus("False")
            .withReason("Unschedulable")
            .withMessage(message)
            .endCondition()
            .endStatus()
            .build(),
        null,
        null);
  }

  /** The operator leaves alone what it doesn't apply. */
  @Test
  void whatSomebodyElseSetIsNamedBesideWhatAilsThePods() {
    Deployment edited =
        new DeploymentBuilder(deployment(1, 1, 0, "True"))
            .editSpec()
            .withNewTemplate()
            .withNewSpec()
            .addNewContainer()
            .withName("epp")
            .withCommand("sleep")
            .endContainer()
            .addNewTopologySpreadConstraint()
            .withTopologyKey("zone")
            .withWhenUnsatisfiable("DoNotSchedule")
            .endTopologySpreadConstraint()
            .addNewTopologySpreadConstraint()
            .withTopologyKey("kubernetes.io/hostname")
            .withWhenUnsatisfiable("ScheduleAnyway")
            .endTopologySpreadConstraint()
            .endSpec()
            .endTemplate()
            .endSpec()
            .build();
    for (Replica ailing : List.of(waiting("CrashLoopBackOff"), unschedulable("no node"))) {
      assertThat(PoolStatus.of(facts(edited, ailing)).get(ConditionType.READY))
          .extracting(Verdict::message)
          .asString()
          .endsWith(
              "; somebody else set command of container epp and the topologySpreadConstraint over zone in Deployment p-epp, take that out if it is why: kubectl edit deployment/p-epp --namespace ns");
      assertThat(PoolStatus.of(facts(deployment(1, 1, 0, "True"), ailing)).get(ConditionType.READY))
          .extracting(Verdict::message)
          .asString()
          .doesNotContain("somebody else");
    }
  }

  /** A Deployment's controller counts them seconds later, and one line would say 3/2. */
  @Test
  void noMorePodsAreReadyThanThereAre() {
    Replica leaving = waiting("");
    leaving.pod().getMetadata().setDeletionTimestamp("2026-01-01T00:00:00Z");
    PickerFacts facts = facts(deployment(1, 0, 0, "True"), ready(null), ready(null), leaving);
    assertThat(facts.readyReplicas()).hasSize(2);
    assertThat(facts.staying()).hasSize(2);
  }

  @Test
  void aPodThatIsBeingDeletedRefusesNothing() {
    Replica leaving =
        new Replica(
            new PodBuilder(ready(null).pod())
                .editMetadata()
                .withDeletionTimestamp("2026-01-01T00:00:00Z")
                .endMetadata()
                .build(),
            refuses("new"),
            null);
    assertThat(
            PoolStatus.of(facts(rolledOut(), ready(runs("new")), leaving))
                .get(ConditionType.PROGRAMMED))
        .isNotNull()
        .satisfies(programmed -> assertThat(programmed.isTrue()).isTrue());
  }

  static Stream<Arguments> table() {
    Deployment cold = deployment(0, 0, 0, "True");
    return Stream.of(
        row("nothing there yet", facts(null), "Unknown/Pending", "False/RolloutInProgress"),
        row("cold", facts(cold), "Unknown/Pending", "False/RolloutInProgress"),
        row("runs", facts(rolledOut(), ready(runs("new"))), "True/Programmed", "True/Ready"),
        row("behind", facts(rolledOut(), ready(runs("old"))), "Unknown/Pending", "Unknown/Pending"),
        row("silent", facts(rolledOut(), ready(null)), "Unknown/Pending", "Unknown/Pending"),
        row(
            "one of two behind",
            facts(rolledOut(), ready(runs("new")), ready(runs("old"))),
            "Unknown/Pending",
            "Unknown/Pending"),
        row(
            "refused",
            facts(rolledOut(), ready(refuses("new"))),
            "False/ConfigRejected",
            "False/ConfigRejected"),
        row(
            "an older one was refused",
            facts(rolledOut(), ready(refuses("other"))),
            "Unknown/Pending",
            "Unknown/Pending"),
        row("all gone", facts(rolledOut()), "False/EPPUnavailable", "False/NoReadyReplicas"),
        row(
            "pod gone after the rollout",
            facts(ended(1, 0)),
            "False/EPPUnavailable",
            "False/NoReadyReplicas"),
        row(
            "pod gone after the rollout, not yet replaced",
            facts(ended(0, 0)),
            "False/EPPUnavailable",
            "False/NoReadyReplicas"),
        row(
            "pod not ready after the rollout",
            facts(ended(1, 0), replica("False", null, runs("new"))),
            "False/EPPUnavailable",
            "False/NoReadyReplicas"),
        row(
            "one of two pods is left",
            facts(ended(2, 1), ready(runs("new")), replica("False", null, runs("new"))),
            "True/Programmed",
            "True/Ready"),
        row(
            "bad image beside a good replica",
            facts(deployment(1, 1, 0, "True"), ready(runs("new")), waiting("ImagePullBackOff")),
            "True/Programmed",
            "False/ImagePullFailed"),
        row(
            "bad image at first",
            facts(deployment(1, 1, 0, "True"), waiting("ErrImagePull")),
            "False/EPPUnavailable",
            "False/ImagePullFailed"),
        row(
            "a Secret of a variable is not there",
            facts(deployment(1, 1, 0, "True"), waiting("CreateContainerConfigError")),
            "False/EPPUnavailable",
            "False/CreateContainerConfigError"),
        row(
            "no node takes the new pod",
            facts(deployment(1, 1, 0, "True"), ready(runs("new")), unschedulable()),
            "True/Programmed",
            "False/Unschedulable"),
        row(
            "crash loop",
            facts(deployment(1, 1, 0, "True"), waiting("CrashLoopBackOff")),
            "False/EPPUnavailable",
            "False/CrashLooping"),
        row(
            "never ready",
            facts(deployment(1, 1, 0, "False"), waiting("")),
            "False/EPPUnavailable",
            "False/ProgressDeadlineExceeded"),
        row(
            "paused by hand beside a good replica",
            facts(paused(deployment(1, 0, 1, "Unknown")), ready(runs("new"))),
            "True/Programmed",
            "False/RolloutPaused"),
        row(
            "paused by hand at first",
            facts(paused(deployment(1, 0, 0, "Unknown"))),
            "False/EPPUnavailable",
            "False/RolloutPaused"),
        row(
            "paused by hand with nothing to do",
            facts(paused(ended(1, 1)), ready(runs("new"))),
            "True/Programmed",
            "True/Ready"),
        row(
            "scaled a moment ago, and nothing else",
            facts(edited(2, ""), pod("a"), pod("b")),
            "True/Programmed",
            "True/Ready"),
        row(
            "edited a moment ago",
            facts(edited(1, ""), pod("a")),
            "True/Programmed",
            "False/RolloutInProgress"),
        row(
            "scaled and edited a moment ago",
            facts(edited(2, "image"), pod("a")),
            "True/Programmed",
            "False/RolloutInProgress"),
        row(
            "rolling",
            facts(deployment(1, 1, 0, "True"), ready(runs("new"))),
            "True/Programmed",
            "False/RolloutInProgress"));
  }

  /** The Deployment controller has not seen it yet. */
  private static Deployment edited(int replicas, String what) {
    return new DeploymentBuilder(ended(1, 1))
        .editMetadata()
        .withGeneration(2L)
        .endMetadata()
        .editSpec()
        .withReplicas(replicas)
        .withTemplate(running(what))
        .endSpec()
        .build();
  }

  private static Replica pod(String name) {
    Replica pod = made(name, "2026-01-01T00:00:00Z", ready(runs("new")));
    pod.pod().setSpec(running("").getSpec());
    return pod;
  }

  @Test
  void aReportThatIsOverdueIsNotWaitedFor() {
    for (PickerFacts facts :
        List.of(
            facts(rolledOut(), ready(runs("old"))),
            facts(rolledOut(), ready(null)),
            facts(rolledOut(), ready(runs("new")), ready(null)))) {
      assertThat(PoolStatus.awaitsReports(facts)).isTrue();
      assertThat(brief(PoolStatus.of(facts.withReportsOverdue()), ConditionType.READY))
          .isEqualTo("False/ConfigNotReported");
      assertThat(PoolStatus.of(facts.withReportsOverdue()).get(ConditionType.PROGRAMMED))
          .extracting(Verdict::message)
          .asString()
          .contains("where the log says 401", "kubectl rollout restart deployment/");
    }
    for (PickerFacts facts :
        List.of(
            facts(rolledOut(), ready(runs("new"))),
            facts(rolledOut(), ready(refuses("new"))),
            facts(rolledOut()))) {
      assertThat(PoolStatus.awaitsReports(facts)).isFalse();
      assertThat(PoolStatus.of(facts.withReportsOverdue())).isEqualTo(PoolStatus.of(facts));
    }
  }

  /** Such as the pod of a node that is lost, which stays for days. */
  @Test
  void aPodThatIsOverdueMakesNoOtherOverdue() {
    Replica begun = ready(null);
    PickerFacts facts = facts(rolledOut(), begun);
    assertThat(
            brief(
                PoolStatus.of(facts.withReportsOverdue(Set.of("of-a-lost-node"))),
                ConditionType.PROGRAMMED))
        .isEqualTo("Unknown/Pending");
    assertThat(
            PoolStatus.of(facts.withReportsOverdue(Set.of(begun.name())))
                .get(ConditionType.PROGRAMMED))
        .extracting(Verdict::message)
        .asString()
        .startsWith("Pod " + begun.name() + " is ready");
  }

  private static Arguments row(String name, PickerFacts facts, String programmed, String ready) {
    return Arguments.of(name, facts, programmed, ready);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("table")
  void programmedAndReady(String name, PickerFacts facts, String programmed, String ready) {
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts);
    assertThat(brief(verdicts, ConditionType.PROGRAMMED)).as(name).isEqualTo(programmed);
    assertThat(brief(verdicts, ConditionType.READY)).as(name).isEqualTo(ready);
  }

  @Test
  void endpointsAreWhatThePickerReports() {
    assertThat(brief(PoolStatus.of(facts(rolledOut())), ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo("Unknown/Pending");
    assertThat(
            brief(
                PoolStatus.of(facts(rolledOut(), ready(runs("x")))),
                ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo("True/EndpointsReady");
    assertThat(
            brief(
                PoolStatus.of(facts(rolledOut(), ready(endpoints(null)))),
                ConditionType.ENDPOINTS_AVAILABLE))
        .as("a picker that has not looked yet")
        .isEqualTo("Unknown/Pending");
    for (String reason :
        List.of("NoMatchingPods", "NoReadyPods", "PortNotServed", "NoEndpointAnswers")) {
      assertThat(
              brief(
                  PoolStatus.of(facts(rolledOut(), ready(endpoints(reason)))),
                  ConditionType.ENDPOINTS_AVAILABLE))
          .isEqualTo("False/" + reason);
    }
  }

  /** As where one is cut off from the model servers: requests that others get are answered. */
  @Test
  void aPickerWithoutEndpointsIsNamedBesideThoseThatHaveSome() {
    Replica cut = made("cut", "2026-01-01T00:00:09Z", ready(endpoints("NoReadyPods")));
    Map<ConditionType, Verdict> verdicts =
        PoolStatus.of(facts(rolledOut(), ready(runs("new")), cut));
    assertThat(brief(verdicts, ConditionType.ENDPOINTS_AVAILABLE)).isEqualTo("True/EndpointsReady");
    assertThat(verdicts.get(ConditionType.ENDPOINTS_AVAILABLE))
        .extracting(Verdict::message)
        .asString()
        .isEqualTo(
            "The pool has ready endpoints; but pod cut has none to send to: Pods match spec.selector, but none is ready; see kubectl describe pods -l app=vllm --namespace ns");
    assertThat(
            brief(
                PoolStatus.of(facts(rolledOut(), ready(endpoints("NoReadyPods")), cut)),
                ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo("False/NoReadyPods");
  }

  /** Also where it is the name of a reason that stands for something else with us. */
  @ParameterizedTest
  @ValueSource(strings = {"AllAsleep", "Ready"})
  void aReasonThatOnlyANewerPickerKnowsIsTold(String reason) {
    PickerReport report =
        PickerReport.fromJson(
                "{\"configHash\":\"%s\",\"endpoints\":{\"matching\":2,\"ready\":0,\"reason\":\"%s\"}}"
                    .formatted(hash("new"), reason))
            .orElseThrow();
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts(rolledOut(), ready(report)));
    assertThat(verdicts.get(ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo(Verdict.no(Reason.NO_ENDPOINT_ANSWERS, "No endpoint answers: " + reason));
    assertThat(brief(verdicts, ConditionType.PROGRAMMED)).isEqualTo("True/Programmed");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1 | bad refuses connections since 2026-01-01T12:03:07Z
          3 | bad refuses connections since 2026-01-01T12:03:07Z; e2 is slow since T; e3 is slow since T
          5 | bad refuses connections since 2026-01-01T12:03:07Z; e2 is slow since T; e3 is slow since T; and 2 more
          """)
  void endpointsThatDoNotAnswerAreNamed(int count, String told) {
    List<Out> out = new ArrayList<>();
    out.add(new Out("bad", "refuses connections", "2026-01-01T12:03:07Z"));
    for (int i = 2; i <= count; i++) {
      out.add(new Out("e" + i, "is slow", "T"));
    }
    PickerReport some =
        new PickerReport("ns/p", hash("new"), 1, null, new Endpoints(9, 4, null, count, out));
    // Another replica may see it otherwise.
    Verdict verdict =
        PoolStatus.of(facts(rolledOut(), ready(runs("new")), ready(some)))
            .get(ConditionType.ENDPOINTS_AVAILABLE);
    assertThat(verdict)
        .isEqualTo(
            Verdict.yes(
                Reason.ENDPOINTS_READY, "4 of " + (4 + count) + " endpoints answer; " + told));

    PickerReport none =
        new PickerReport(
            "ns/p", hash("new"), 1, null, new Endpoints(9, 0, "NoEndpointAnswers", count, out));
    assertThat(
            PoolStatus.of(facts(rolledOut(), ready(none))).get(ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo(Verdict.no(Reason.NO_ENDPOINT_ANSWERS, "No endpoint answers: " + told));

    PickerReport unserved =
        new PickerReport(
            "ns/p", hash("new"), 1, null, new Endpoints(9, 0, "PortNotServed", count, out));
    assertThat(
            PoolStatus.of(facts(rolledOut(), ready(unserved)))
                .get(ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo(
            Verdict.no(
                Reason.PORT_NOT_SERVED,
                "No matching pod serves spec.targetPorts: "
                    + told
                    + "; correct the ports of the pool or the pods"));
  }

  /** Very many models say what their pool does, and their statuses are not written each time. */
  @ParameterizedTest
  @ValueSource(strings = {"NoEndpointAnswers", "PortNotServed"})
  void modelsDoNotSayWhichEndpointsAreSilent(String reason) {
    List<Verdict> ready =
        Stream.of("one", "other")
            .map(
                name ->
                    new PickerReport(
                        "ns/p",
                        hash("new"),
                        1,
                        null,
                        new Endpoints(1, 0, reason, 1, List.of(new Out(name, "is slow", "T")))))
            .map(report -> PoolStatus.of(facts(rolledOut(), ready(report))))
            .map(pool -> ModelStatus.of(ACCEPTED, RESOLVED, true, pool, ACCEPTED))
            .map(verdicts -> Objects.requireNonNull(verdicts.get(ConditionType.READY)))
            .toList();
    assertThat(ready.getFirst()).isEqualTo(ready.getLast());
    assertThat(ready.getFirst().reason().wireName()).isEqualTo(reason);
    assertThat(ready.getFirst().message()).contains("condition EndpointsAvailable of the pool");
  }

  @Test
  void readyGivesTheFirstFailingReason() {
    PickerFacts facts =
        new PickerFacts(
            WHERE,
            Verdict.no(Reason.INVALID_SPEC, "spec.selector"),
            Verdict.no(Reason.INVALID_EXTENSION_REF, "x"),
            null,
            null,
            List.of(),
            null,
            new PickerFacts.ModelCount(0, 0, List.of("b")));
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts);
    assertThat(brief(verdicts, ConditionType.READY)).isEqualTo("False/InvalidSpec");
    assertThat(brief(verdicts, ConditionType.MODELS_ACCEPTED)).isEqualTo("False/ModelConflicts");
  }

  @Test
  void aTimeMovesOnlyWithItsStatus() {
    Map<ConditionType, Verdict> yes = Map.of(ConditionType.READY, Verdict.yes(Reason.READY, "m"));
    List<Condition> first = ConditionList.merge(List.of(), yes, 1, NOW);
    List<Condition> second =
        ConditionList.merge(
            first,
            Map.of(ConditionType.READY, Verdict.yes(Reason.AVAILABLE, "n")),
            2,
            NOW.plusSeconds(5));
    List<Condition> third =
        ConditionList.merge(
            second,
            Map.of(ConditionType.READY, Verdict.no(Reason.INVALID_SPEC, "n")),
            2,
            NOW.plusSeconds(9));
    assertThat(second.getFirst().getLastTransitionTime()).isEqualTo("2026-01-01T00:00:00Z");
    assertThat(third.getFirst().getLastTransitionTime()).isEqualTo("2026-01-01T00:00:09Z");
    assertThat(ConditionList.same(first, second)).isFalse();
    assertThat(ConditionList.same(first, ConditionList.merge(first, yes, 1, NOW.plusSeconds(1))))
        .isTrue();
  }

  @Test
  void conditionsOfOthersAreNoDifference() {
    Map<ConditionType, Verdict> yes = Map.of(ConditionType.READY, Verdict.yes(Reason.READY, "m"));
    List<Condition> ours = ConditionList.merge(List.of(), yes, 1, NOW);
    Condition foreign =
        new ConditionBuilder().withType("example.test/Noted").withStatus("True").build();
    List<Condition> both = List.of(ours.getFirst(), foreign);
    assertThat(ConditionList.same(both, ConditionList.merge(both, yes, 1, NOW))).isTrue();
    assertThat(ConditionList.same(both, List.of(foreign))).isFalse();
  }

  @Test
  void modelsAreCounted() {
    assertThat(brief(PoolStatus.of(facts(rolledOut())), ConditionType.MODELS_ACCEPTED))
        .isEqualTo("True/AllAccepted");
    PickerFacts none =
        new PickerFacts(
            WHERE,
            ACCEPTED,
            RESOLVED,
            hash("new"),
            rolledOut(),
            List.of(),
            null,
            new PickerFacts.ModelCount(0, 0, List.of()));
    assertThat(brief(PoolStatus.of(none), ConditionType.MODELS_ACCEPTED))
        .isEqualTo("True/NoModels");
    PickerFacts some =
        new PickerFacts(
            WHERE,
            Verdict.no(Reason.INVALID_SPEC, "spec.selector"),
            RESOLVED,
            hash("new"),
            rolledOut(),
            List.of(),
            null,
            new PickerFacts.ModelCount(1, 1, List.of()));
    assertThat(brief(PoolStatus.of(some), ConditionType.MODELS_ACCEPTED))
        .as("what came since stays out")
        .isEqualTo("Unknown/Pending");
  }

  @Test
  void modelsAreInTheConfigThatStaysWhenTheNextOneIsRefused() {
    assertThat(brief(PoolStatus.of(refused(hash("old"))), ConditionType.MODELS_ACCEPTED))
        .isEqualTo("True/AllAccepted");
    assertThat(brief(PoolStatus.of(refused(null)), ConditionType.MODELS_ACCEPTED))
        .isEqualTo("Unknown/Pending");
  }

  private static PickerFacts refused(@Nullable ConfigHash inForce) {
    return new PickerFacts(
        WHERE,
        Verdict.no(Reason.INVALID_SPEC, "spec.scheduling"),
        RESOLVED,
        inForce,
        rolledOut(),
        List.of(),
        null,
        new PickerFacts.ModelCount(1, 0, List.of()));
  }

  @Test
  void whereThereIsNoEndpointNobodySaysThatThereIsRoom() {
    assertThat(
            brief(PoolStatus.of(facts(rolledOut(), ready(empty(null)))), ConditionType.SATURATED))
        .isEqualTo("Unknown/Pending");
    assertThat(
            brief(
                PoolStatus.of(facts(rolledOut(), ready(empty("2026-01-01T00:00:09Z")))),
                ConditionType.SATURATED))
        .as("requests wait for a server to come")
        .isEqualTo("True/EveryEndpointFull");
  }

  /** What they said before they went is of a time that is over. */
  @Test
  void whereNoPickerIsReadyNobodyTellsWhetherThereIsRoom() {
    for (PickerReport last : List.of(saturated(null), saturated("2026-01-01T00:00:09Z"))) {
      assertThat(
              PoolStatus.of(facts(ended(1, 0), replica("False", null, last)))
                  .get(ConditionType.SATURATED))
          .isEqualTo(
              Verdict.pending(
                  "No pod of p-epp is ready to tell whether there is room; condition Ready says why"));
    }
  }

  @Test
  void whereNoPickerIsReadyNobodyTellsOfWhatItSendsTo() {
    Map<ConditionType, Verdict> told =
        PoolStatus.of(facts(ended(1, 0), replica("False", null, without(null, false, "refused"))));
    assertThat(told.get(ConditionType.ENDPOINTS_AVAILABLE))
        .isEqualTo(
            Verdict.pending(
                "No pod of p-epp is ready to tell of endpoints; condition Ready says why"));
    assertThat(told).doesNotContainKey(ConditionType.EXTERNAL_SCHEDULERS_ASKED);
  }

  private static PickerReport empty(@Nullable String saturatedSince) {
    return new PickerReport(
        "ns/p", hash("new"), 1, null, new Endpoints(0, 0, "NoMatchingPods"), saturatedSince);
  }

  @Test
  void thatNoEndpointHasRoomIsToldAsTheFirstToSeeItDoes() {
    assertThat(brief(PoolStatus.of(facts(rolledOut())), ConditionType.SATURATED))
        .isEqualTo("Unknown/Pending");
    assertThat(
            brief(
                PoolStatus.of(facts(rolledOut(), ready(saturated(null)))), ConditionType.SATURATED))
        .isEqualTo("False/RoomForRequests");
    Map<ConditionType, Verdict> full =
        PoolStatus.of(
            facts(
                rolledOut(),
                ready(saturated(null)),
                ready(saturated("2026-01-01T00:00:09Z")),
                ready(saturated("2026-01-01T00:00:05Z"))));
    assertThat(brief(full, ConditionType.SATURATED)).isEqualTo("True/EveryEndpointFull");
    assertThat(full.get(ConditionType.SATURATED))
        .isEqualTo(
            Verdict.yes(
                Reason.EVERY_ENDPOINT_FULL,
                "No endpoint has room for more requests since 2026-01-01T00:00:05Z; start more"
                    + " model servers, or see who waits by the metrics fairlead_queue_*"));
  }

  @Test
  void aShadowThatIsSwitchedOffIsToldAndNothingElseSuffers() {
    assertThat(PoolStatus.of(facts(rolledOut(), ready(saturated(null)))))
        .doesNotContainKey(ConditionType.SHADOWS_RUNNING);
    PickerReport off =
        new PickerReport(
            "ns/p",
            hash("new"),
            1,
            null,
            SOME,
            null,
            List.of(new PickerReport.ShadowOff("tried", "a plugin of it failed: why")));
    Map<ConditionType, Verdict> told = PoolStatus.of(facts(rolledOut(), ready(off)));
    assertThat(brief(told, ConditionType.SHADOWS_RUNNING)).isEqualTo("False/ShadowSwitchedOff");
    assertThat(String.valueOf(told.get(ConditionType.SHADOWS_RUNNING)))
        .contains("Shadow tried of pod", "a plugin of it failed: why");
    assertThat(brief(told, ConditionType.READY)).startsWith("True/");
  }

  @Test
  void anEntryHasNoMoreConditionsThanItsSchemaTakes() {
    PickerReport both =
        new PickerReport(
            "ns/p",
            hash("new"),
            1,
            null,
            SOME,
            null,
            List.of(new PickerReport.ShadowOff("tried", "why")),
            List.of(new PickerReport.SchedulerOff(null, false, "why")),
            null);
    Map<ConditionType, Verdict> all = PoolStatus.of(facts(rolledOut(), ready(both)));
    assertThat(all)
        .hasSize(9)
        .containsKeys(ConditionType.SHADOWS_RUNNING, ConditionType.EXTERNAL_SCHEDULERS_ASKED);
    assertThat(PoolStatus.inEntry(all))
        .hasSize(8)
        .containsKey(ConditionType.EXTERNAL_SCHEDULERS_ASKED);
    Map<ConditionType, Verdict> usual = PoolStatus.of(facts(rolledOut(), ready(saturated(null))));
    assertThat(PoolStatus.inEntry(usual)).isEqualTo(usual);
  }

  @Test
  void anExternalSchedulerThatIsNotAskedIsToldAndNothingElseSuffers() {
    assertThat(PoolStatus.of(facts(rolledOut(), ready(saturated(null)))))
        .doesNotContainKey(ConditionType.EXTERNAL_SCHEDULERS_ASKED);
    Map<ConditionType, Verdict> gone =
        PoolStatus.of(facts(rolledOut(), ready(without(null, false, "UNAVAILABLE, refused"))));
    assertThat(brief(gone, ConditionType.EXTERNAL_SCHEDULERS_ASKED))
        .isEqualTo("False/ExternalSchedulerUnavailable");
    assertThat(String.valueOf(gone.get(ConditionType.EXTERNAL_SCHEDULERS_ASKED)))
        .contains("The external scheduler gives pod", "no answer of use: UNAVAILABLE, refused");
    assertThat(brief(gone, ConditionType.READY)).startsWith("True/");
    Map<ConditionType, Verdict> late =
        PoolStatus.of(facts(rolledOut(), ready(without("tried", true, "late 16 times"))));
    assertThat(brief(late, ConditionType.EXTERNAL_SCHEDULERS_ASKED))
        .isEqualTo("False/ExternalSchedulerLate");
    assertThat(String.valueOf(late.get(ConditionType.EXTERNAL_SCHEDULERS_ASKED)))
        .contains("The one of shadow tried is not waited for by pod", "late 16 times");
  }

  /** The older one is replaced by it, and each of its words would be a write more. */
  @Test
  void ofSeveralPodsThatAskNoExternalSchedulerTheNewestIsNamed() {
    Replica old = made("a", "2026-01-01T00:00:00Z", ready(without(null, false, "old")));
    Replica next = made("b", "2026-01-01T00:05:00Z", ready(without(null, false, "next")));
    for (PickerFacts facts :
        List.of(facts(rolledOut(), old, next), facts(rolledOut(), next, old))) {
      assertThat(String.valueOf(PoolStatus.of(facts).get(ConditionType.EXTERNAL_SCHEDULERS_ASKED)))
          .contains("pod b no answer of use: next");
    }
  }

  private static Replica made(String name, String time, Replica replica) {
    replica.pod().getMetadata().setName(name);
    replica.pod().getMetadata().setCreationTimestamp(time);
    return replica;
  }

  private static PickerReport without(@Nullable String shadow, boolean late, String reason) {
    return new PickerReport(
        "ns/p",
        hash("new"),
        1,
        null,
        SOME,
        null,
        List.of(),
        List.of(new PickerReport.SchedulerOff(shadow, late, reason)),
        null);
  }

  private static PickerReport saturated(@Nullable String since) {
    return new PickerReport("ns/p", hash("new"), 1, null, SOME, since);
  }

  @Test
  void podsThatCannotBeMadeAreTold() {
    Deployment refused =
        new DeploymentBuilder(deployment(1, 0, 0, "True"))
            .editStatus()
            .addNewCondition()
            .withType("ReplicaFailure")
            .withStatus("True")
            .withMessage("exceeded quota")
            .endCondition()
            .endStatus()
            .build();
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts(refused));
    assertThat(brief(verdicts, ConditionType.READY)).isEqualTo("False/ReplicaFailure");
    assertThat(verdicts)
        .hasEntrySatisfying(
            ConditionType.READY,
            ready ->
                assertThat(ready.message())
                    .contains("exceeded quota", "correct spec.resources", "ResourceQuota"));
  }

  private static String brief(Map<ConditionType, Verdict> verdicts, ConditionType type) {
    Verdict verdict = verdicts.get(type);
    if (verdict == null) {
      return "absent";
    }
    SeenReasons.add(verdict.reason().wireName());
    return verdict.state().wireName() + "/" + verdict.reason();
  }
}
