package io.fairlead.operator.status;

import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.report.PickerReport;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Computes the conditions of a pool that we serve. */
public final class PoolStatus {
  /** What an entry goes without first. */
  private static final List<ConditionType> GIVE_WAY =
      List.of(
          ConditionType.UP_TO_DATE,
          ConditionType.MONITORED,
          ConditionType.AVAILABILITY_GUARDED,
          ConditionType.SHADOWS_RUNNING,
          ConditionType.EXTERNAL_SCHEDULERS_ASKED);

  /** Endpoints that a message names. */
  private static final int MOST_TOLD = 3;

  /** What a picker says where it has none to send to. */
  private static final Set<Reason> WITHOUT_ENDPOINTS =
      Set.of(
          Reason.NO_MATCHING_PODS,
          Reason.NO_READY_PODS,
          Reason.PORT_NOT_SERVED,
          Reason.NO_ENDPOINT_ANSWERS);

  private PoolStatus() {}

  /** Verdicts by condition type, in the order of the published list. */
  public static Map<ConditionType, Verdict> of(PickerFacts facts) {
    Verdict programmed = programmed(facts);
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.ACCEPTED, facts.accepted());
    verdicts.put(ConditionType.RESOLVED_REFS, facts.resolvedRefs());
    verdicts.put(ConditionType.PROGRAMMED, programmed);
    verdicts.put(ConditionType.ENDPOINTS_AVAILABLE, endpoints(facts));
    verdicts.put(ConditionType.MODELS_ACCEPTED, models(facts));
    verdicts.put(ConditionType.SATURATED, saturated(facts));
    shadows(facts).ifPresent(off -> verdicts.put(ConditionType.SHADOWS_RUNNING, off));
    schedulers(facts).ifPresent(off -> verdicts.put(ConditionType.EXTERNAL_SCHEDULERS_ASKED, off));
    verdicts.putAll(facts.beside());
    verdicts.put(ConditionType.READY, ready(facts, programmed));
    return verdicts;
  }

  /**
   * What of it an entry of the pool's {@code status.parents} holds: eight conditions and no more,
   * or the API server refuses the whole. Of those that no request suffers from, the ones that
   * matter less give way; the EndpointPicker tells of all.
   */
  public static Map<ConditionType, Verdict> inEntry(Map<ConditionType, Verdict> verdicts) {
    Map<ConditionType, Verdict> fewer = new LinkedHashMap<>(verdicts);
    for (ConditionType type : GIVE_WAY) {
      if (fewer.size() > ConditionList.MOST_IN_ENTRY) {
        fewer.remove(type);
      }
    }
    return fewer;
  }

  /** No request suffers from it, so it is said beside what is. */
  private static Optional<Verdict> shadows(PickerFacts facts) {
    return facts.readyReplicas().stream()
        .flatMap(
            replica ->
                replica.report() == null
                    ? Stream.empty()
                    : replica.report().shadowsOff().stream()
                        .map(
                            off ->
                                Verdict.no(
                                    Reason.SHADOW_SWITCHED_OFF,
                                    "Shadow %s of pod %s is switched off: %s; correct spec.shadows of the EndpointPicker, an edit of its scheduling tries it again"
                                        .formatted(off.name(), replica.name(), off.reason()))))
        .findFirst();
  }

  /** Requests go where the plugins say meanwhile, so it is said beside what is wrong, too. */
  private static Optional<Verdict> schedulers(PickerFacts facts) {
    return facts.readyReplicas().stream()
        .flatMap(
            replica ->
                replica.report() == null
                    ? Stream.empty()
                    : replica.report().schedulersOff().stream()
                        .map(off -> off(replica.name(), off)))
        .findFirst();
  }

  private static Verdict off(String pod, PickerReport.SchedulerOff off) {
    String whose =
        off.shadow() == null ? "The external scheduler" : "The one of shadow " + off.shadow();
    return off.late()
        ? Verdict.no(
            Reason.EXTERNAL_SCHEDULER_LATE,
            "%s is not waited for by pod %s: %s; the plugins beside it decide. Give it more CPU or raise its timeout"
                .formatted(whose, pod, off.reason()))
        : Verdict.no(
            Reason.EXTERNAL_SCHEDULER_UNAVAILABLE,
            "%s gives pod %s no answer of use: %s; the plugins beside it decide. See the scheduler's log, and hold it against fairlead conformance scheduler"
                .formatted(whose, pod, off.reason()));
  }

  private static Verdict programmed(PickerFacts facts) {
    Verdict failure = facts.applyFailure();
    if (failure != null) {
      return failure;
    }
    ConfigHash hash = facts.hash();
    if (hash == null) {
      return Verdict.pending("There is no config to run until the pool is accepted and resolved");
    }
    List<Replica> ready = facts.readyReplicas();
    Optional<Verdict> refused =
        facts.replicas().stream().flatMap(replica -> refusal(facts, replica, hash)).findFirst();
    if (refused.isPresent()) {
      return refused.get();
    }
    if (ready.isEmpty()) {
      Rollout rollout = new Rollout(facts);
      return rollout.broken().isEmpty() && rollout.scaledDown().isPresent()
          ? Verdict.no(Reason.EPP_UNAVAILABLE, rollout.scaledDown().get().message())
          : rollout.broken().isEmpty() && rollout.progressing()
              ? Verdict.pending(
                  rollout
                      .slow()
                      .map(Verdict::message)
                      .orElseGet(
                          () ->
                              "Deployment %s has no ready pod yet; wait for it"
                                  .formatted(facts.picker())))
              : Verdict.no(
                  Reason.EPP_UNAVAILABLE,
                  "Deployment %s has no ready pod; condition Ready says why"
                      .formatted(facts.picker()));
    }
    Optional<Verdict> unreadable = unreadable(ready);
    if (unreadable.isPresent()) {
      return unreadable.get();
    }
    List<String> silent =
        ready.stream()
            .filter(replica -> !runs(replica.report(), hash))
            .map(Replica::name)
            .sorted()
            .toList();
    return silent.isEmpty()
        ? Verdict.yes(
            Reason.PROGRAMMED, "Every ready pod of %s runs the config".formatted(facts.picker()))
        : silent.stream()
            .filter(facts.overdue()::contains)
            .findFirst()
            .map(pod -> overdue(facts, pod))
            .orElseGet(
                () ->
                    Verdict.pending(
                        "Not every ready pod of %s has reported the config yet; wait for it"
                            .formatted(facts.picker())));
  }

  private static Verdict overdue(PickerFacts facts, String pod) {
    return Verdict.no(
        Reason.CONFIG_NOT_REPORTED,
        "Pod %s is ready, and has not reported for long that it runs the config; see by its log, kubectl logs %s --namespace %s, whether it reaches the API server, and whether ServiceAccount %s may do what ClusterRole fairlead-epp says; where the log says 401, the account was made anew, and a new pod gets a token of it: kubectl rollout restart deployment/%s --namespace %s"
            .formatted(
                pod,
                pod,
                facts.where().namespace(),
                facts.picker(),
                facts.picker(),
                facts.where().namespace()));
  }

  /** Whether all that is missing is that ready pods say that they run the config. */
  public static boolean awaitsReports(PickerFacts facts) {
    ConfigHash hash = facts.hash();
    List<Replica> ready = facts.readyReplicas();
    return hash != null
        && programmed(facts).state() != Verdict.State.TRUE
        && facts.applyFailure() == null
        && !ready.isEmpty()
        && unreadable(ready).isEmpty()
        && facts.replicas().stream().allMatch(one -> refusal(facts, one, hash).findAny().isEmpty());
  }

  private static Optional<Verdict> unreadable(List<Replica> replicas) {
    return replicas.stream()
        .filter(replica -> replica.unreadable() != null)
        .findFirst()
        .map(
            replica ->
                Verdict.pending(
                    "The report of pod %s cannot be read: %s; run picker and operator of one release"
                        .formatted(replica.name(), replica.unreadable())));
  }

  private static boolean runs(@Nullable PickerReport report, ConfigHash hash) {
    return report != null && hash.equals(report.configHash());
  }

  private static Stream<Verdict> refusal(PickerFacts facts, Replica replica, ConfigHash hash) {
    PickerReport report = replica.report();
    // A pod that is on its way out may be of an image that knows less than the others.
    if (replica.pod().isMarkedForDeletion()
        || report == null
        || report.refused() == null
        || runs(report, hash)) {
      return Stream.empty();
    }
    PickerReport.Refused refused = report.refused();
    return hash.equals(refused.hash())
        ? Stream.of(
            Verdict.no(
                Reason.CONFIG_REJECTED,
                "Picker %s refuses the config and goes on with the last good scheduling: %s"
                    .formatted(facts.picker(), refused.message())))
        : Stream.empty();
  }

  private static Verdict endpoints(PickerFacts facts) {
    List<Replica> ready = facts.readyReplicas();
    if (ready.isEmpty()) {
      return Verdict.pending(
          "No pod of %s is ready to tell of endpoints; condition Ready says why"
              .formatted(facts.picker()));
    }
    List<Looked> reported = ready.stream().flatMap(Looked::of).toList();
    if (reported.isEmpty()) {
      return unreadable(ready)
          .orElseGet(
              () ->
                  Verdict.pending(
                      "No pod of %s has reported its endpoints yet".formatted(facts.picker())));
    }
    Optional<Looked> without = reported.stream().filter(Looked::isWithout).findFirst();
    List<PickerReport.Endpoints> some =
        reported.stream().filter(looked -> !looked.isWithout()).map(Looked::endpoints).toList();
    if (some.isEmpty()) {
      return missing(facts.where(), reported.getFirst().endpoints());
    }
    // Requests that others get are answered.
    return without
        .map(
            none ->
                available(some)
                    .worded(
                        said ->
                            "%s; but pod %s has none to send to: %s"
                                .formatted(
                                    said,
                                    none.pod(),
                                    missing(facts.where(), none.endpoints()).message())))
        .orElseGet(() -> available(some));
  }

  /** What a picker reports that has looked for endpoints. */
  private record Looked(String pod, PickerReport.Endpoints endpoints) {
    static Stream<Looked> of(Replica replica) {
      return Stream.ofNullable(replica.report())
          .filter(report -> report.configHash() != null)
          .map(report -> new Looked(replica.name(), report.endpoints()))
          // Neither an endpoint nor a reason: that picker has not looked yet.
          .filter(looked -> looked.endpoints().ready() > 0 || looked.isWithout());
    }

    boolean isWithout() {
      return endpoints.reason() != null;
    }
  }

  /** As the picker sees it that knows of most that don't answer. */
  private static Verdict available(List<PickerReport.Endpoints> reported) {
    PickerReport.Endpoints most =
        Collections.max(reported, Comparator.comparingInt(PickerReport.Endpoints::outCount));
    return Verdict.yes(
        Reason.ENDPOINTS_READY,
        most.outCount() == 0
            ? "The pool has ready endpoints"
            : "%d of %d endpoints answer; %s"
                .formatted(most.ready(), most.ready() + most.outCount(), out(most)));
  }

  private static String out(PickerReport.Endpoints endpoints) {
    List<PickerReport.Out> named = endpoints.out();
    int told = Math.min(named.size(), MOST_TOLD);
    String some =
        named.subList(0, told).stream()
            .map(one -> "%s %s since %s".formatted(one.name(), one.reason(), one.since()))
            .collect(Collectors.joining("; "));
    int more = endpoints.outCount() - told;
    return more == 0 ? some : some + "; and " + more + " more";
  }

  private static Verdict missing(PickerFacts.Where where, PickerReport.Endpoints endpoints) {
    String said = String.valueOf(endpoints.reason());
    // A picker may know more reasons than we do.
    Reason reason =
        Reason.find(said).filter(WITHOUT_ENDPOINTS::contains).orElse(Reason.NO_ENDPOINT_ANSWERS);
    return Verdict.no(
        reason,
        switch (reason) {
          case NO_MATCHING_PODS ->
              "No pod of the namespace matches spec.selector; start model servers with these labels";
          case NO_READY_PODS ->
              "Pods match spec.selector, but none is ready; see kubectl describe pods -l %s --namespace %s"
                  .formatted(where.modelServers(), where.namespace());
          case PORT_NOT_SERVED ->
              "No matching pod serves spec.targetPorts%s; correct the ports of the pool or the pods"
                  .formatted(endpoints.outCount() == 0 ? "" : ": " + out(endpoints));
          default -> "No endpoint answers: " + (endpoints.outCount() == 0 ? said : out(endpoints));
        });
  }

  /** As the picker sees it that has been without room for longest: each sees what it sends. */
  private static Verdict saturated(PickerFacts facts) {
    List<Replica> ready = facts.readyReplicas();
    if (ready.isEmpty()) {
      return Verdict.pending(
          "No pod of %s is ready to tell whether there is room; condition Ready says why"
              .formatted(facts.picker()));
    }
    List<PickerReport> reported =
        ready.stream()
            .map(Replica::report)
            .flatMap(Stream::ofNullable)
            .filter(report -> report.configHash() != null)
            .toList();
    if (reported.isEmpty()) {
      return Verdict.pending(
          "No pod of %s has reported its endpoints yet".formatted(facts.picker()));
    }
    return reported.stream()
        .map(PickerReport::saturatedSince)
        .flatMap(Stream::ofNullable)
        .min(Comparator.naturalOrder())
        .map(
            since ->
                Verdict.yes(
                    Reason.EVERY_ENDPOINT_FULL,
                    "No endpoint has room for more requests since %s; start more model servers, or see who waits by the metrics fairlead_queue_*"
                        .formatted(since)))
        .orElseGet(
            () ->
                reported.stream().anyMatch(report -> report.endpoints().ready() > 0)
                    ? Verdict.no(Reason.ROOM_FOR_REQUESTS, "There is room for more requests")
                    : Verdict.pending(
                        "There is no endpoint that could have room; condition EndpointsAvailable"
                            + " says why"));
  }

  private static Verdict models(PickerFacts facts) {
    List<String> rejected = facts.models().rejected();
    if (!rejected.isEmpty()) {
      return Verdict.no(
          Reason.MODEL_CONFLICTS,
          "Left out, each says why in its own status: InferenceModel "
              + String.join(", ", rejected));
    }
    // What an EndpointPicker got wrong leaves the config before it, and models go on in that.
    if (!facts.accepted().isTrue() && facts.hash() == null) {
      return Verdict.pending("There is no config for models until the pool is accepted");
    }
    // Then none that is there is judged, and there may be some.
    if (facts.hash() == null && facts.models().accepted() == 0 && facts.applyFailure() != null) {
      return Verdict.pending("There is no config for models; condition Programmed says why");
    }
    if (facts.hash() != null && facts.models().waiting() > 0) {
      return Verdict.pending(
          "The config stays as it is, and lacks an InferenceModel, or the last edit of one; condition Accepted says why");
    }
    return facts.models().accepted() == 0
        ? Verdict.yes(
            Reason.NO_MODELS,
            "No InferenceModel names the pool; every request counts as spec.requests of its"
                + " EndpointPicker says of unconfigured models, Standard by default")
        : Verdict.yes(Reason.ALL_ACCEPTED, "Every InferenceModel of the pool is in the config");
  }

  private static Verdict ready(PickerFacts facts, Verdict programmed) {
    List<Verdict> wrong = new ArrayList<>();
    wrong.add(facts.accepted());
    wrong.add(facts.resolvedRefs());
    // Without a pod, what ails the Deployment says more than that there is none.
    if (facts.applyFailure() != null || programmed.reason() != Reason.EPP_UNAVAILABLE) {
      wrong.add(programmed);
    }
    wrong.removeIf(verdict -> !verdict.isFalse());
    if (!wrong.isEmpty()) {
      // Else it would be found only after all of these are mended.
      new Rollout(facts).stuck().ifPresent(wrong::add);
      return Verdict.all(wrong);
    }
    if (programmed.state() == Verdict.State.UNKNOWN && facts.applyFailure() != null) {
      return programmed;
    }
    if (facts.hash() == null) {
      return programmed;
    }
    Optional<Verdict> problem = new Rollout(facts).problem();
    if (problem.isPresent()) {
      return problem.get();
    }
    return programmed.isTrue()
        ? Verdict.yes(
            Reason.READY,
            endpoints(facts).isFalse()
                ? "Picker %s runs, but has no endpoint to send requests to; condition EndpointsAvailable says why"
                    .formatted(facts.picker())
                : "Picker %s serves the pool".formatted(facts.picker()))
        : programmed;
  }
}
