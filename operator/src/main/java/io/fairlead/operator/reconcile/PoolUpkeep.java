package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.ChildFailure;
import io.fairlead.operator.apply.NotLeadingException;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.children.PickerDesign;
import io.fairlead.operator.children.PickerMonitor;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.GivenConfigs;
import io.fairlead.operator.desire.HeldConfig;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.observe.ClusterView;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Selectors;
import io.fairlead.operator.observe.ServiceRef;
import io.fairlead.operator.observe.Serving;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a pool that is served as it should be: compiles its config, applies its children, tells
 * what came of it, and deletes what is left over.
 *
 * <p>Safe to use from any thread, for one pool from one at a time.
 */
final class PoolUpkeep {
  /** How soon it is seen whether a Service that was replaced may go. */
  private static final Duration RETRY_PRUNE = Duration.ofSeconds(1);

  private final Settings settings;
  private final ChildApplier children;
  private final Pruner pruner;
  private final PoolTelling telling;
  private final SettledLooks looks;
  private final Denied denied;
  private final LostModels lostModels;
  private final GivenConfigs given = new GivenConfigs();
  private final RolloutTurns turns;
  private final FailedLooks failedLooks;
  private final HotReloads reloads;
  private final OverdueReports overdue;
  private final SilentReports silence;
  private final Retries retries;
  private final SideConditions sideConditions;
  private final Certificates certificates;
  private final SharedSecrets sharedSecrets;
  private final ConsoleTokens consoleTokens;
  private final EndpointAuthorities authorities;
  private final InstantSource clock;

  /**
   * By UID of the pool, what the operator is not let delete. The next look tells of it: deleting
   * comes after telling, as it may take long where webhooks hang.
   */
  private final Map<String, ChildFailures> stuck = new ConcurrentHashMap<>();

  /**
   * @param denied shared with whoever else asks why kinds can't be seen
   * @param kinds shared with whoever else asks for kinds
   * @param clock by which certificates end, and autoscalers have failed for long
   * @param nanos a clock that never jumps
   */
  PoolUpkeep(
      Settings settings,
      ChildApplier children,
      Pruner pruner,
      PoolTelling telling,
      SettledLooks looks,
      Denied denied,
      KindLooks kinds,
      RolloutTurns turns,
      InstantSource clock,
      LongSupplier nanos) {
    this.settings = settings;
    this.children = children;
    this.pruner = pruner;
    this.telling = telling;
    this.looks = looks;
    this.denied = denied;
    this.turns = turns;
    this.clock = clock;
    lostModels = new LostModels(nanos, kinds);
    failedLooks = new FailedLooks(nanos);
    reloads = new HotReloads(settings.pace().reloads(), nanos);
    overdue = new OverdueReports(settings.pace().reports(), nanos);
    silence = new SilentReports(settings.pace().silence(), nanos);
    retries = new Retries(nanos);
    sideConditions = new SideConditions(settings.maxRollouts());
    certificates = new Certificates(clock, nanos);
    sharedSecrets = new SharedSecrets(nanos);
    consoleTokens = new ConsoleTokens(nanos);
    authorities = new EndpointAuthorities(nanos);
  }

  /** What became of a pool's children. */
  private record Applied(List<HasMetadata> desired, boolean waits, ChildFailures failures) {}

  /** Nothing more is to be made of a pool that is gone, or served no more. */
  void leave(String pool) {
    children.forget(pool);
    looks.unsettled(pool);
    failedLooks.end(pool);
    stuck.remove(pool);
    lostModels.forget(pool);
    given.forget(pool);
  }

  /** The pool is gone. */
  void forget(String pool) {
    leave(pool);
    overdue.forget(pool);
    silence.forget(pool);
  }

  /** Looks at the pool, unless it was as it should be a moment ago and nothing has changed. */
  UpdateControl<InferencePool> look(
      Observation seen,
      Serving.Served served,
      SchedulingText scheduling,
      ClusterView informers,
      Context<InferencePool> context) {
    String uid = seen.pool().getMetadata().getUid();
    String namespace = seen.pool().getMetadata().getNamespace();
    SilentReports.Heard heard = heard(seen, informers);
    SettledLooks.Seen now =
        SettledLooks.Seen.of(
            seen,
            scheduling,
            informers.cutOff(namespace),
            monitors(informers, namespace),
            heard.silent());
    NextLook next = new NextLook();
    next.within(heard.left());
    if (looks.isSettled(uid, now)) {
      telling.shown(seen);
      return next.control();
    }
    looks.unsettled(uid);
    Optional<Duration> pause = failedLooks.left(seen, scheduling);
    if (pause.isPresent()) {
      return NextLook.in(pause.get()).control();
    }
    NextLook done;
    try {
      done = serveOrTell(seen, served, scheduling, heard.silent(), informers, context);
    } catch (UnexpectedException e) {
      failedLooks.failed(seen, scheduling);
      throw e;
    }
    failedLooks.end(uid);
    if (done.isNone()) {
      looks.settled(uid, now);
      return next.control();
    }
    done.within(heard.left());
    return done.control();
  }

  private SilentReports.Heard heard(Observation seen, ClusterView informers) {
    String namespace = seen.pool().getMetadata().getNamespace();
    return silence.of(seen, informers.cutOff(namespace).contains(Lease.class));
  }

  /** What decides whether PodMonitors are made. */
  private static List<Object> monitors(ClusterView informers, String namespace) {
    return List.of(
        informers.monitorable(namespace),
        informers.monitorsUnknown(namespace),
        Optional.ofNullable(informers.monitorProblem(namespace)));
  }

  /** What nobody thought of must not leave a pool with a status that is no longer true. */
  private NextLook serveOrTell(
      Observation seen,
      Serving.Served served,
      SchedulingText scheduling,
      Set<String> silent,
      ClusterView informers,
      Context<InferencePool> context) {
    Attempts writes = new Attempts();
    try {
      return serve(seen, served, scheduling, silent, writes, informers, context);
    } catch (KubernetesClientException | NotLeadingException e) {
      // The API server is in trouble, or this process leads no more: trying again will do.
      throw e;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      // Of an error the framework never hears that the look has ended, so there would be no other.
      UnexpectedException told = new UnexpectedException(e);
      try {
        telling.failed(e, seen, served.picker(), writes.areBegun());
      } catch (RuntimeException untold) {
        told.addSuppressed(untold);
      }
      throw told;
    }
  }

  /** What nobody thought of, and what is told. */
  private static final class UnexpectedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnexpectedException(Throwable cause) {
      super(cause);
    }
  }

  private NextLook serve(
      Observation seen,
      Serving.Served served,
      SchedulingText scheduling,
      Set<String> silent,
      Attempts writes,
      ClusterView informers,
      Context<InferencePool> context) {
    KubernetesClient client = context.getClient();
    Optional<Doubt> lost =
        lostModels.doubt(
            seen, informers.seesModels(seen.pool().getMetadata().getNamespace()), client);
    List<Replica> replicas = replicas(seen, silent);
    Wanted wanted = wanted(seen, served.picker(), scheduling, replicas, lost);
    String uid = wanted.uid();
    Applied applied = apply(wanted, informers, context);
    if (retries.beforeTelling(uid, applied.failures())) {
      return NextLook.in(Retries.CONTENDED);
    }
    ChildFailures stuckBefore = stuck.getOrDefault(uid, ChildFailures.NONE);
    NextLook next = new NextLook();
    PickerFacts facts =
        facts(wanted, applied, stuckBefore, replicas, silent, lost, informers, client, next);
    Optional<Duration> reload =
        applied.failures().hindering().isEmpty() ? reloads.left(uid, facts) : Optional.empty();
    next.within(reload);
    if (reload.isEmpty()) {
      telling.served(wanted, served.losers(), facts, writes, next, context);
    }
    telling.keptObjects(wanted.seen(), writes, next);
    next.within(retries.after(uid, applied.failures().and(stuckBefore)));
    ChildFailures stuckNow = prune(wanted, applied, client, writes, next);
    if (stuckNow.isEmpty()) {
      stuck.remove(uid);
    } else {
      stuck.put(uid, stuckNow);
    }
    writes.rethrow();
    next.within(writes.putOff());
    if (!stuckNow.verdicts().equals(stuckBefore.verdicts())) {
      next.within(Retries.CONTENDED); // what has changed is told then
    }
    if (applied.waits()) {
      next.within(settings.pace().turns());
    }
    return next;
  }

  /**
   * What is wanted of the pool.
   *
   * @param replicas with what each says of itself, as far as that counts still
   * @param lost why those models that are gone count still
   */
  private Wanted wanted(
      Observation observed,
      @Nullable EndpointPicker picker,
      SchedulingText scheduling,
      List<Replica> replicas,
      Optional<Doubt> lost) {
    Observation seen =
        lost.isEmpty() ? observed : observed.withUnread(HasMetadata.getKind(InferenceModel.class));
    return Wanted.of(
        seen,
        picker,
        PoolDesire.compile(seen, picker, scheduling, replicas, given),
        settings.eppImage());
  }

  private static List<Replica> replicas(Observation seen, Set<String> silent) {
    return seen.pods().stream()
        .map(
            pod ->
                Replica.of(
                    pod, silent.contains(pod.getMetadata().getName()) ? null : seen.report(pod)))
        .toList();
  }

  private Applied apply(Wanted wanted, ClusterView informers, Context<InferencePool> context) {
    if (wanted.isPaused() || wanted.design().isEmpty()) {
      return new Applied(List.of(), false, ChildFailures.NONE);
    }
    Observation seen = wanted.seen();
    PickerDesign asked = wanted.design().get();
    Optional<ChildFailure> unshared =
        Children.handOverSecret(asked).flatMap(secret -> children.make(secret, seen));
    // Pods wait for a Secret that is not there. Those that share one already go on.
    boolean shared = unshared.isEmpty() || isMounted(unshared.get().child(), seen);
    PickerDesign design = shared ? asked : asked.withoutHandOver();
    List<HasMetadata> desired = desired(design, informers);
    boolean waits = waits(design, desired, seen, informers, context);
    List<HasMetadata> due =
        waits ? desired.stream().filter(child -> !(child instanceof Deployment)).toList() : desired;
    return new Applied(
        desired,
        waits,
        new ChildFailures(
            Stream.concat(unshared.stream(), children.apply(due, seen, context).stream())
                .toList()));
  }

  private static boolean isMounted(HasMetadata child, Observation seen) {
    return child instanceof Secret secret
        && seen.child(Deployment.class, Names.child(seen.pool().getMetadata().getName()))
            .filter(there -> Children.mounts(there, secret))
            .isPresent();
  }

  /** All children, less those of kinds that the cluster lacks. */
  private static List<HasMetadata> desired(PickerDesign design, ClusterView informers) {
    List<HasMetadata> all = new ArrayList<>(Children.of(design));
    if (informers.monitorable(design.namespace())) {
      PickerMonitor.of(design).ifPresent(all::add);
    }
    return List.copyOf(all);
  }

  /**
   * Whether new pods have to wait for their turn. What the pool's own author changes does not: that
   * is one pool, and may be what mends it.
   */
  private boolean waits(
      PickerDesign design,
      List<HasMetadata> desired,
      Observation seen,
      ClusterView informers,
      Context<InferencePool> context) {
    if (desired.isEmpty()) {
      return false;
    }
    Deployment there = seen.child(Deployment.class, design.picker()).orElse(null);
    if (there == null) {
      // Informers that were stopped know of no Deployment: it is left to the next operator.
      return !informers.seesDeployments();
    }
    Deployment wanted =
        desired.stream()
            .filter(Deployment.class::isInstance)
            .map(Deployment.class::cast)
            .findFirst()
            .orElseThrow();
    return !Children.askedFor(design, there)
        && children.replacesPods(seen.pool(), wanted, there, context)
        && !turns.take(there, informers.deployments());
  }

  /**
   * What the pool's status is computed from.
   *
   * @param stuck what could not be deleted
   * @param replicas with what each says of itself, as far as that counts still
   * @param silent pods whose reports count no more
   * @param next gets when any of it may be different though nothing tells
   */
  private PickerFacts facts(
      Wanted wanted,
      Applied applied,
      ChildFailures stuck,
      List<Replica> replicas,
      Set<String> silent,
      Optional<Doubt> lost,
      ClusterView informers,
      KubernetesClient client,
      NextLook next) {
    Observation seen = wanted.seen();
    String uid = wanted.uid();
    String name = Names.child(seen.pool().getMetadata().getName());
    ConfigHash hash = hash(wanted);
    List<Verdict> obstacles =
        obstacles(wanted, hash, applied.failures(), lost, informers, client, next);
    boolean areReady = replicas.stream().anyMatch(Replica::ready);
    SlowStarts.Judged starts = SlowStarts.judge(replicas, clock.instant());
    next.within(starts.again());
    PickerFacts facts =
        new PickerFacts(
            new PickerFacts.Where(
                seen.pool().getMetadata().getNamespace(),
                name,
                Labels.text(Selectors.of(seen.pool()))),
            accepted(wanted),
            resolvedRefs(wanted, applied, client, next),
            hash,
            deployment(seen, name, applied).orElse(null),
            replicas,
            obstacles.isEmpty() ? null : Verdict.all(obstacles),
            modelCount(wanted),
            sideConditions.of(
                wanted,
                applied.waits(),
                applied.failures(),
                stuck,
                autoscaler(wanted, name, areReady, next),
                informers),
            silent,
            starts.slow());
    Optional<Duration> unreported = overdue.left(uid, facts);
    if (unreported.filter(Duration::isZero).isPresent()) {
      return facts.withReportsOverdue();
    }
    next.within(unreported);
    return facts;
  }

  /** Why the autoscaler that the picker asks for does not scale; null where it does. */
  private @Nullable Verdict autoscaler(
      Wanted wanted, String name, boolean areReady, NextLook next) {
    EndpointPicker picker = wanted.picker();
    if (picker == null || picker.getSpec() == null || picker.getSpec().autoscaling() == null) {
      return null;
    }
    Autoscalers.Judged judged =
        wanted
            .seen()
            .child(HorizontalPodAutoscaler.class, name)
            .map(there -> Autoscalers.judge(there, areReady, clock.instant()))
            .orElse(Autoscalers.Judged.WELL);
    next.within(judged.again());
    return judged.wrong();
  }

  private Optional<Deployment> deployment(Observation seen, String name, Applied applied) {
    Optional<Deployment> there = seen.child(Deployment.class, name);
    return there.isPresent() || applied.failures().has(Deployment.class)
        ? there
        : applied.desired().stream()
            .filter(Deployment.class::isInstance)
            .map(Deployment.class::cast)
            .findFirst()
            .flatMap(wanted -> children.answered(seen.pool(), wanted));
  }

  private static Verdict accepted(Wanted wanted) {
    Verdict accepted = wanted.compiled().accepted();
    return wanted.service() instanceof ServiceRef.Unresolved broken && accepted.isTrue()
        ? broken.accepted()
        : accepted;
  }

  private Verdict resolvedRefs(
      Wanted wanted, Applied applied, KubernetesClient client, NextLook next) {
    List<Verdict> wrong = new ArrayList<>();
    for (NamedObject.Judged named :
        List.of(
            certificates.judge(wanted.uid(), wanted.picker(), client),
            authorities.judge(wanted.uid(), wanted.picker(), client),
            sharedSecrets.judge(wanted.uid(), wanted.picker(), client),
            consoleTokens.judge(wanted.uid(), wanted.picker(), client))) {
      next.within(named.again());
      if (named.wrong() != null) {
        wrong.add(named.wrong());
      }
    }
    return ResolvedRefs.judge(wanted, applied.failures().hindering(), wrong);
  }

  /** Of the config that should run: while the picker is paused, of that which it was left with. */
  private static @Nullable ConfigHash hash(Wanted wanted) {
    return wanted.isPaused()
        ? HeldConfig.of(wanted.seen()).newest().map(ConfigDocument::hash).orElse(null)
        : wanted.hash();
  }

  /**
   * What keeps the pool from being served as its author wants it.
   *
   * @param hash of the config that should run
   */
  private List<Verdict> obstacles(
      Wanted wanted,
      @Nullable ConfigHash hash,
      ChildFailures failures,
      Optional<Doubt> lost,
      ClusterView informers,
      KubernetesClient client,
      NextLook next) {
    CompiledPool compiled = wanted.compiled();
    List<Verdict> obstacles = new ArrayList<>();
    if (wanted.picker() != null && !Objects.equals(hash, wanted.hash())) {
      obstacles.add(PickerTelling.waitsForEndOfPause(wanted.picker()));
    }
    lostWhilePaused(wanted).ifPresent(obstacles::add);
    next.within(lost.map(Doubt::left));
    cutOff(wanted, lost, informers, client, next).ifPresent(obstacles::add);
    Stream.of(compiled.tooLarge(), compiled.unknown())
        .flatMap(Stream::ofNullable)
        .forEach(obstacles::add);
    obstacles.addAll(failures.hindering().verdicts());
    return obstacles;
  }

  /** Nobody makes it again, and to wait for it would help nothing. */
  private static Optional<Verdict> lostWhilePaused(Wanted wanted) {
    String name = Names.child(wanted.seen().pool().getMetadata().getName());
    return wanted.isPaused()
            && wanted.design().isPresent()
            && wanted.seen().child(Deployment.class, name).isEmpty()
        ? Optional.of(PickerTelling.madeAfterPause(Objects.requireNonNull(wanted.picker()), name))
        : Optional.empty();
  }

  /** Why changes of what concerns the pool are seen no more; what was seen last counts. */
  private Optional<Verdict> cutOff(
      Wanted wanted,
      Optional<Doubt> lost,
      ClusterView informers,
      KubernetesClient client,
      NextLook next) {
    String namespace = wanted.seen().pool().getMetadata().getNamespace();
    List<Class<? extends HasMetadata>> kinds = informers.cutOff(namespace);
    String askedIn = informers.askedIn(namespace);
    Optional<Verdict> told =
        lost.map(Doubt::why).map(why -> UnseenModels.told(why, wanted.compiled().unseen()));
    if (told.isPresent()) {
      return told;
    }
    Optional<Verdict> why =
        denied.verdicts(kinds, askedIn, client).map(verdicts -> verdicts.get(ConditionType.READY));
    next.within(denied.doubt(kinds, askedIn));
    // Nobody may tell of what would mend it, since that is what is not seen.
    if (!kinds.isEmpty() && why.isEmpty()) {
      next.within(PoolReconciler.LOOK_AGAIN);
    }
    return why;
  }

  private static PickerFacts.ModelCount modelCount(Wanted wanted) {
    CompiledPool compiled = wanted.compiled();
    List<String> rejected =
        compiled.models().stream()
            .filter(JudgedModel::isWrong)
            .map(judged -> judged.model().getMetadata().getName())
            .sorted()
            .toList();
    int inConfig =
        (int)
            compiled.models().stream()
                .filter(judged -> judged.accepted().isTrue() && judged.resolvedRefs().isTrue())
                .count();
    // Those that can't be seen are served on.
    boolean unseen =
        wanted.seen().unread().kinds().contains(HasMetadata.getKind(InferenceModel.class));
    return new PickerFacts.ModelCount(
        inConfig + (unseen ? compiled.unseen().size() : 0),
        compiled.models().size() - inConfig - rejected.size(),
        rejected);
  }

  /**
   * Deletes what is left over. Requests are served without a monitor or a guard: what is left over
   * is not wanted for that. Without a document, a ConfigMap that can't be read is not left over;
   * nor is the Service that gateways ask still, where that which the pool names can't be made.
   *
   * @return what the API server does not let the operator delete
   */
  private ChildFailures prune(
      Wanted wanted, Applied applied, KubernetesClient client, Attempts writes, NextLook next) {
    List<ChildFailure> stays = new ArrayList<>();
    List<HasMetadata> desired = applied.desired();
    boolean isComplete =
        applied.failures().hindering().isEmpty() && wanted.service() instanceof ServiceRef.Resolved;
    if (!desired.isEmpty() && !isComplete) {
      pruner.autoscalers(desired, wanted.seen(), client, writes, stays);
    } else if (!desired.isEmpty()
        && wanted.compiled().document() != null
        && !pruner.leftovers(desired, wanted.seen(), client, writes, stays)) {
      next.within(RETRY_PRUNE);
    }
    return new ChildFailures(stays);
  }
}
