package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.document.ConfigDocument.Written;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.ChildApplier.Outlook;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.LostEntries;
import io.fairlead.operator.apply.NotLeadingException;
import io.fairlead.operator.apply.PoolEntryWriter;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.apply.StatusSteps;
import io.fairlead.operator.apply.WriteLanes;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.children.PickerDesign;
import io.fairlead.operator.children.PickerDesign.ServicePlace;
import io.fairlead.operator.children.PickerMonitor;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.desire.HeldConfig;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.desire.UpstreamJudge;
import io.fairlead.operator.observe.ClusterView;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Orphaned;
import io.fairlead.operator.observe.Ownership;
import io.fairlead.operator.observe.Pools;
import io.fairlead.operator.observe.ServedPools;
import io.fairlead.operator.observe.ServiceRef;
import io.fairlead.operator.observe.Serving;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.ModelStatus;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.PickerFacts;
import io.fairlead.operator.status.PoolStatus;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Replica;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Serves a pool: observe, validate, desire, apply, tell. */
@ControllerConfiguration(
    name = PoolReconciler.NAME,
    generationAwareEventProcessing = false,
    triggerReconcilerOnAllEvents = true)
public final class PoolReconciler implements Reconciler<InferencePool> {
  /** By which the framework calls it. */
  static final String NAME = "pool";

  /** When to look again at an object while what it takes to decide is not known. */
  static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

  /** How soon what the API server refused is tried again, when nothing changes before. */
  private static final Duration RETRY_REFUSED = Duration.ofSeconds(15);

  /** How soon at first where it failed: that passes by itself. */
  private static final Duration RETRY_FAILED = Duration.ofSeconds(1);

  /** How long a conflict or too many requests may last before they are told. */
  private static final Duration PASSING = Duration.ofSeconds(1);

  private static final Duration RETRY_CONTENDED = Duration.ofMillis(300);
  private static final Duration RETRY_PRUNE = Duration.ofSeconds(1);

  /** How long models are told of one look while another is due. */
  private static final Duration LONGEST_TELLING = Duration.ofSeconds(1);

  /** Models that a message names. */
  private static final int MOST_TOLD = 5;

  private final Settings settings;
  private final Events events;
  private final ChildApplier children;
  private final Pruner pruner;
  private final PoolEntryWriter entries;
  private final StatusApplier statuses;
  private final SettledLooks looks;
  private final FailedLooks failedLooks = new FailedLooks(System::nanoTime);

  /**
   * By UID of the pool, what the operator may not delete. The next look tells of it: deleting comes
   * after telling, as it may take long where webhooks hang.
   */
  private final Map<String, List<ChildApplier.Failure>> stuck = new ConcurrentHashMap<>();

  private final Denied denied = new Denied(System::nanoTime);
  private final KindLooks kinds = new KindLooks(System::nanoTime);
  private final LostPickers lostPickers = new LostPickers(System::nanoTime, kinds);
  private final LostModels lostModels = new LostModels(System::nanoTime, kinds);
  private final HotReloads reloads = new HotReloads(System::nanoTime);
  private final Waits undecided = new Waits(System::nanoTime);
  private final Waits failing = new Waits(System::nanoTime);

  /** What is told when it is over must not begin anew while nothing has changed. */
  private final Waits unreported = new Waits(System::nanoTime, Duration.ofDays(10_000));

  private final LastingSaturation saturation;
  private final Waits terminating = new Waits(System::nanoTime);
  private final KeptObjects kept;
  private final Certificates certificates;
  private final SharedSecrets sharedSecrets = new SharedSecrets(System::nanoTime);
  private final RolloutTurns turns;

  /** UIDs of pools that are served no longer and have children still: it is said once. */
  private final Set<String> released = ConcurrentHashMap.newKeySet();

  private final KnownPools known = new KnownPools();
  private final ServedPools own = new ServedPools();
  private final Pools others;
  private @Nullable ClusterView view;

  /**
   * @param turns shared with whoever else rolls pickers out
   * @param others pools of the older group
   * @param events where transitions are told
   * @param lostEntries where removed entries are counted, shared like {@code turns}
   */
  public PoolReconciler(
      Settings settings,
      RolloutTurns turns,
      Pools others,
      KubernetesClient client,
      InstantSource clock,
      Events events,
      LostEntries lostEntries) {
    this.settings = settings;
    this.others = others;
    this.events = events;
    WriteLanes lanes = new WriteLanes();
    StatusSteps steps = new StatusSteps();
    this.looks = new SettledLooks(System::nanoTime, steps);
    this.children =
        new ChildApplier(
            client,
            lanes,
            settings.pace().writes(),
            settings.pace().repairs(),
            (pool, message) -> events.warn(pool, Notice.REPAIRED, message));
    this.pruner = new Pruner(children);
    this.entries = new PoolEntryWriter(client, clock, events, lostEntries, lanes, steps);
    this.statuses = new StatusApplier(client, clock, events, lanes, steps);
    this.kept = new KeptObjects(statuses, System::nanoTime);
    this.certificates = new Certificates(clock, System::nanoTime);
    this.saturation = new LastingSaturation(settings.pace().saturation(), System::nanoTime);
    this.turns = turns;
  }

  @Override
  public List<EventSource<?, InferencePool>> prepareEventSources(
      EventSourceContext<InferencePool> context) {
    return sources(context, new OrphanTelling(statuses, settings.adoption()));
  }

  /**
   * The same.
   *
   * @param orphaned null where others tell of what names no pool that is there
   */
  List<EventSource<?, InferencePool>> sources(
      EventSourceContext<InferencePool> context, @Nullable Orphaned orphaned) {
    own.heldBy(context.getPrimaryCache());
    ClusterView prepared = new ClusterView(context, Pools.both(own, others), orphaned);
    view = prepared;
    return prepared.sources();
  }

  /** The pools that are looked at here, served or not. */
  public Pools pools() {
    return own;
  }

  /**
   * To be told of deletions that the framework is done with: it says so to metrics alone, and only
   * from then on can it be told of a pool that was made anew meanwhile.
   */
  public Metrics deletions() {
    return deletions(NAME);
  }

  /**
   * The same.
   *
   * @param controller by which the framework calls whoever hands the pools on
   */
  Metrics deletions(String controller) {
    return new Metrics() {
      @Override
      public void cleanupDoneFor(ResourceID id, Map<String, Object> metadata) {
        ClusterView informers = view;
        if (informers != null && controller.equals(metadata.get(Constants.CONTROLLER_NAME))) {
          informers.wakeIfMadeAnew(id);
        }
      }
    };
  }

  @Override
  public UpdateControl<InferencePool> reconcile(
      InferencePool pool, Context<InferencePool> context) {
    ClusterView informers = view;
    if (informers != null && context.isPrimaryResourceDeleted()) {
      var _ = informers.scheduling(pool, null);
      known.gone(pool);
      own.tell(pool);
      forget(pool.getMetadata().getUid());
      orphan(informers.orphans(pool), pool.getMetadata().getName());
    }
    if (informers == null || context.isPrimaryResourceDeleted()) {
      return UpdateControl.noUpdate();
    }
    KnownPools.Seen name = known.seen(pool);
    if (name.isNew()) {
      own.tell(pool);
    }
    name.another().ifPresent(this::forget);
    if (informers.isAwaited(pool.getMetadata().getNamespace())) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(LOOK_AGAIN);
    }
    if (pool.isMarkedForDeletion()) {
      // Most are gone in a moment, and nobody need be told of it.
      Duration left =
          LOOK_AGAIN.minus(terminating.since(pool.getMetadata().getUid(), pool.getKind()));
      if (left.isPositive()) {
        return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(left);
      }
    }
    Observation seen = informers.observe(pool);
    List<Class<? extends HasMetadata>> unseen = informers.unseen(pool.getMetadata().getNamespace());
    if (!unseen.isEmpty()) {
      return waitFor(unseen, seen, context.getClient());
    }
    Optional<Doubt> doubt =
        pool.isMarkedForDeletion()
            ? Optional.empty()
            : lostPickers.doubt(seen, entries.parent(pool).orElse(null), context.getClient());
    if (doubt.isPresent()) {
      return waitForKind(pool, doubt.get());
    }
    return switch (decide(seen)) {
      case Serving.NotOurs _ -> {
        var _ = informers.scheduling(pool, null);
        leave(pool.getMetadata().getUid());
        yield release(seen, context);
      }
      case Serving.Undecided wait ->
          UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait.left());
      case Serving.Served served when pool.isMarkedForDeletion() -> tellTerminating(seen, served);
      case Serving.Served served ->
          informers
              .scheduling(pool, served.picker())
              .map(scheduling -> serveUnlessSettled(seen, served, scheduling, context))
              .orElseGet(() -> UpdateControl.<InferencePool>noUpdate().rescheduleAfter(LOOK_AGAIN));
    };
  }

  /**
   * Of a pool that is served no longer, or never was, since another has its name: what it had stays
   * as it is, for that one to take over. Where nobody would expect it to be served, it is not told.
   */
  UpdateControl<InferencePool> supersede(InferencePool pool, Verdict why) {
    ClusterView informers = view;
    if (informers == null || !informers.unseen(pool.getMetadata().getNamespace()).isEmpty()) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(LOOK_AGAIN);
    }
    var _ = informers.scheduling(pool, null);
    leave(pool.getMetadata().getUid());
    switch (decide(informers.observe(pool))) {
      case Serving.Served _ ->
          entries.write(
              pool,
              Names.child(pool.getMetadata().getName()),
              Map.of(ConditionType.ACCEPTED, why, ConditionType.READY, why));
      case Serving.Undecided wait -> {
        return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait.left());
      }
      case Serving.NotOurs _ -> entries.remove(pool);
    }
    return UpdateControl.noUpdate();
  }

  private Serving decide(Observation seen) {
    String pool = seen.pool().getMetadata().getUid();
    Serving decided =
        Serving.decide(
            seen,
            settings.adoption(),
            settings.grace(),
            undecided.since(pool, Serving.Undecided.class));
    if (!(decided instanceof Serving.Undecided)) {
      undecided.end(pool);
    }
    return decided;
  }

  /** Of a pool that is gone, or served no more, nothing is to be made. */
  private void leave(String pool) {
    children.forget(pool);
    looks.unsettled(pool);
    failedLooks.end(pool);
    stuck.remove(pool);
    lostModels.forget(pool);
  }

  private void forget(String pool) {
    leave(pool);
    entries.forget(pool);
    released.remove(pool);
    terminating.end(pool);
    kept.forget(pool);
    lostPickers.forget(pool);
    saturation.forget(pool);
    unreported.endOthers(pool, Set.of());
  }

  /**
   * A finalizer of somebody else's may keep a pool for long. What it has serves all the while, but
   * nothing that is made or mended for it would last, and what is edited meanwhile has no effect.
   */
  private UpdateControl<InferencePool> tellTerminating(Observation seen, Serving.Served served) {
    InferencePool pool = seen.pool();
    String name = pool.getMetadata().getName();
    Verdict kept =
        Verdict.no(
            Reason.POOL_TERMINATING,
            "InferencePool %s is being deleted, and metadata.finalizers keep it: %s. It serves as it is until it is gone, and nothing is made, repaired or changed for it; see to whoever set them, or take them out where nobody will"
                .formatted(name, String.join(", ", pool.getMetadata().getFinalizers())));
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.PROGRAMMED, kept);
    verdicts.put(ConditionType.READY, kept);
    Verdict unchanged =
        Verdict.pending(
            "The config stays as it is while InferencePool %s is being deleted".formatted(name));
    Map<ConditionType, Verdict> ofModels = ModelStatus.of(unchanged, kept, kept);
    ofModels.put(ConditionType.PROGRAMMED, unchanged);
    EndpointPicker picker = served.picker();
    Attempts writes = new Attempts();
    writes.attempt(() -> tellLeft(pool, picker, verdicts));
    for (InferenceModel model : seen.models()) {
      writes.attempt(() -> statuses.write(model, ofModels));
    }
    Stream.concat(seen.upstream().all(), seen.superseded().stream())
        .map(object -> new JudgedObject(object, unchanged, kept))
        .forEach(
            judged -> writes.attempt(() -> statuses.write(judged.object(), judged.verdicts())));
    if (picker != null) {
      writes.attempt(() -> PickerTelling.left(statuses, picker, verdicts));
      for (EndpointPicker loser : served.losers()) {
        writes.attempt(() -> PickerTelling.loser(statuses, loser, picker));
      }
    }
    Optional<Duration> again = this.kept.tellPickers(seen, writes);
    writes.rethrow();
    return lookAgain(again);
  }

  /** Of a pool that is not judged anew: what was said of what it says and refers to stays. */
  private void tellLeft(
      InferencePool pool, @Nullable EndpointPicker picker, Map<ConditionType, Verdict> verdicts) {
    Map<ConditionType, Verdict> all = new LinkedHashMap<>(entries.judged(pool));
    all.putAll(verdicts);
    entries.write(pool, parent(pool, picker), all);
  }

  /** Under which name the entry of a pool is ours: its picker's. */
  private static String parent(InferencePool pool, @Nullable EndpointPicker picker) {
    return picker == null
        ? Names.child(pool.getMetadata().getName())
        : picker.getMetadata().getName();
  }

  /** What was said of objects that name the pool is no longer true. */
  private void orphan(List<GenericKubernetesResource> objects, String pool) {
    Attempts writes = new Attempts();
    for (GenericKubernetesResource object : objects) {
      if (StatusApplier.told(object)) {
        writes.attempt(
            () ->
                statuses.writeUnlessOthers(object, UpstreamJudge.orphan(object, pool).verdicts()));
      }
    }
    writes.rethrow();
  }

  /** Of a pool that is surely ours it is told what the operator can't look at. */
  private UpdateControl<InferencePool> waitFor(
      List<Class<? extends HasMetadata>> unseen, Observation seen, KubernetesClient client) {
    InferencePool pool = seen.pool();
    String asked = askedIn(pool);
    boolean pickersKnown =
        !unseen.contains(EndpointPicker.class)
            || denied.isMissing(EndpointPicker.class, asked, client);
    if (pickersKnown && !unseen.contains(Service.class)) {
      Serving serving = decide(seen);
      EndpointPicker picker = serving instanceof Serving.Served served ? served.picker() : null;
      boolean ours =
          serving instanceof Serving.Served || entries.isThere(pool) || !seen.own().isEmpty();
      if (ours) {
        denied
            .verdicts(unseen, asked, client)
            .ifPresent(verdicts -> tellUnseen(seen, picker, verdicts));
      }
    }
    return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(LOOK_AGAIN);
  }

  /**
   * Of a pool that can't be served before it is known which ones there are of a kind, it is told
   * why that is not known.
   */
  UpdateControl<InferencePool> await(
      Class<? extends HasMetadata> kind, InferencePool pool, KubernetesClient client) {
    ClusterView informers = view;
    String namespace = pool.getMetadata().getNamespace();
    if (informers == null || informers.isAwaited(namespace)) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(LOOK_AGAIN);
    }
    List<Class<? extends HasMetadata>> unseen = new ArrayList<>(informers.unseen(namespace));
    unseen.add(kind);
    return waitFor(unseen, informers.observe(pool), client);
  }

  private void tellUnseen(
      Observation seen, @Nullable EndpointPicker picker, Map<ConditionType, Verdict> verdicts) {
    InferencePool pool = seen.pool();
    Verdict notJudged = verdicts.getOrDefault(ConditionType.ACCEPTED, Verdict.pending(""));
    Verdict why = verdicts.getOrDefault(ConditionType.READY, notJudged);
    Map<ConditionType, Verdict> ofModels = ModelStatus.of(notJudged, notJudged, why);
    ofModels.put(ConditionType.PROGRAMMED, notJudged);
    ofModels.put(ConditionType.READY, why);
    Attempts writes = new Attempts();
    writes.attempt(() -> entries.write(pool, parent(pool, picker), verdicts));
    if (picker != null) {
      writes.attempt(() -> PickerTelling.left(statuses, picker, verdicts));
    }
    for (InferenceModel model : seen.models()) {
      writes.attempt(() -> statuses.write(model, ofModels));
    }
    writes.rethrow();
  }

  /** What the pool's EndpointPicker asked for stays. */
  private UpdateControl<InferencePool> waitForKind(InferencePool pool, Doubt doubt) {
    Verdict why = doubt.why();
    if (why != null) {
      entries.write(
          pool, entries.parent(pool).orElseGet(() -> parent(pool, null)), Denied.verdicts(why));
    }
    return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(doubt.left());
  }

  private UpdateControl<InferencePool> release(Observation seen, Context<InferencePool> context) {
    Attempts writes = new Attempts();
    String uid = seen.pool().getMetadata().getUid();
    if (seen.own().isEmpty()) {
      released.remove(uid);
    } else if (seen.own().stream().anyMatch(child -> !child.isMarkedForDeletion())
        && released.add(uid)) {
      events.warn(
          seen.pool(),
          Notice.NO_LONGER_SERVED,
          "No EndpointPicker names the pool, and it is not to be served without one, or others provide its Service; the picker and all that belongs to it are deleted");
    }
    pruner.all(seen, context.getClient(), writes);
    writes.attempt(() -> entries.remove(seen.pool()));
    String name = seen.pool().getMetadata().getName();
    Verdict unmanaged =
        Verdict.no(
            Reason.POOL_NOT_MANAGED,
            "InferencePool %s is not served by Fairlead; create an EndpointPicker that names it"
                .formatted(name));
    Verdict accepted = Verdict.pending("InferencePool %s is not served".formatted(name));
    for (InferenceModel model : seen.models()) {
      writes.attempt(
          () -> statuses.writeUnlessOthers(model, ModelStatus.of(accepted, unmanaged, unmanaged)));
    }
    Stream.concat(seen.upstream().all(), seen.superseded().stream())
        .filter(StatusApplier::told)
        .forEach(
            object ->
                writes.attempt(
                    () ->
                        statuses.writeUnlessOthers(
                            object, UpstreamJudge.unmanaged(object, name).verdicts())));
    Optional<Duration> again = kept.tellPickers(seen, writes);
    writes.rethrow();
    return lookAgain(again);
  }

  private UpdateControl<InferencePool> serveUnlessSettled(
      Observation seen,
      Serving.Served served,
      SchedulingText scheduling,
      Context<InferencePool> context) {
    InferencePool pool = seen.pool();
    String uid = pool.getMetadata().getUid();
    SettledLooks.Seen now = SettledLooks.Seen.of(seen, scheduling, cutOff(pool), monitors(pool));
    if (looks.isSettled(uid, now)) {
      entries.shown(pool);
      Stream.of(
              seen.models(),
              seen.pickers(),
              seen.leaving(),
              seen.upstream().all().toList(),
              seen.superseded())
          .flatMap(List::stream)
          .forEach(statuses::shown);
      return UpdateControl.noUpdate();
    }
    looks.unsettled(uid);
    Optional<Duration> pause = failedLooks.left(seen, scheduling);
    if (pause.isPresent()) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(pause.get());
    }
    long begun = System.nanoTime();
    UpdateControl<InferencePool> then;
    try {
      then = serveOrTell(seen, served, scheduling, context);
    } catch (UnexpectedException e) {
      failedLooks.failed(seen, scheduling);
      throw e;
    }
    failedLooks.end(uid);
    // Who took long may have left models to the next look.
    if (then.getScheduleDelay().isEmpty()
        && System.nanoTime() - begun < LONGEST_TELLING.toNanos()) {
      looks.settled(uid, now);
    }
    return then;
  }

  /** What decides whether PodMonitors are made. */
  private List<Object> monitors(InferencePool pool) {
    ClusterView informers = view;
    String namespace = pool.getMetadata().getNamespace();
    return informers == null
        ? List.of()
        : List.of(
            informers.monitorable(namespace),
            informers.monitorsUnknown(namespace),
            Optional.ofNullable(informers.monitorProblem(namespace)));
  }

  /** What nobody thought of must not leave a pool with a status that is no longer true. */
  private UpdateControl<InferencePool> serveOrTell(
      Observation seen,
      Serving.Served served,
      SchedulingText scheduling,
      Context<InferencePool> context) {
    released.remove(seen.pool().getMetadata().getUid());
    try {
      return serve(seen, served, scheduling, context);
    } catch (KubernetesClientException | NotLeadingException e) {
      // The API server is in trouble, or this process leads no more: trying again will do.
      throw e;
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      // Of an error the framework never hears that the look has ended, so there would be no other.
      UnexpectedException told = new UnexpectedException(e);
      try {
        tellOf(e, seen.pool(), served.picker());
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

  private void tellOf(Throwable e, InferencePool pool, @Nullable EndpointPicker picker) {
    Verdict failed =
        Verdict.no(
            Reason.OPERATOR_ERROR,
            "The operator fails at InferencePool %s, its EndpointPicker or its models (%s), and changes nothing of it; see its log, and undo the last edit of these"
                .formatted(pool.getMetadata().getName(), e.getClass().getSimpleName()));
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.PROGRAMMED, failed);
    verdicts.put(ConditionType.READY, failed);
    Attempts writes = new Attempts();
    writes.attempt(() -> tellLeft(pool, picker, verdicts));
    if (picker != null) {
      writes.attempt(() -> PickerTelling.left(statuses, picker, verdicts));
    }
  }

  private UpdateControl<InferencePool> serve(
      Observation observed,
      Serving.Served served,
      SchedulingText scheduling,
      Context<InferencePool> context) {
    Optional<Doubt> lost = lostModels.doubt(observed, seesModels(observed), context.getClient());
    Observation seen =
        lost.isEmpty() ? observed : observed.withUnread(HasMetadata.getKind(InferenceModel.class));
    EndpointPicker picker = served.picker();
    CompiledPool compiled = PoolDesire.compile(seen, picker, scheduling);
    ServiceRef ref = ServiceRef.of(seen);
    Frontend frontend = frontend(seen, picker);
    Optional<PickerDesign> asked = design(seen, picker, compiled, ref, frontend);
    boolean paused = PickerTelling.isPaused(picker);
    Optional<ChildApplier.Failure> unshared =
        paused
            ? Optional.empty()
            : asked
                .flatMap(Children::handOverSecret)
                .flatMap(secret -> children.make(secret, seen));
    // Pods wait for a Secret that is not there. Those that share one already go on.
    boolean shared = unshared.isEmpty() || isMounted(unshared.get().child(), seen);
    Optional<PickerDesign> design = shared ? asked : asked.map(PickerDesign::withoutHandOver);
    List<HasMetadata> desired = paused ? List.of() : design.map(this::desired).orElse(List.of());
    boolean waits = !desired.isEmpty() && waits(design.orElseThrow(), desired, seen, context);
    List<HasMetadata> due =
        waits ? desired.stream().filter(child -> !(child instanceof Deployment)).toList() : desired;
    List<ChildApplier.Failure> all =
        Stream.concat(unshared.stream(), children.apply(due, seen, context).stream()).toList();
    boolean comes = all.stream().anyMatch(failure -> failure.outlook() == Outlook.COMES);
    if (comes || mayPass(seen, all)) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(RETRY_CONTENDED);
    }
    List<ChildApplier.Failure> failures = hindering(all);
    String uid = seen.pool().getMetadata().getUid();
    List<ChildApplier.Failure> stuckBefore = stuck.getOrDefault(uid, List.of());
    List<ChildApplier.Failure> told = Stream.concat(all.stream(), stuckBefore.stream()).toList();
    ConfigHash wanted = design.isEmpty() ? null : design.get().documentHash();
    ConfigHash hash =
        paused ? HeldConfig.of(seen).newest().map(ConfigDocument::hash).orElse(null) : wanted;
    List<Class<? extends HasMetadata>> cutOff = cutOff(seen.pool());
    NamedSecret.Judged certificate = certificates.judge(uid, picker, context.getClient());
    NamedSecret.Judged handOver = sharedSecrets.judge(uid, picker, context.getClient());
    PickerFacts facts =
        facts(
            seen,
            compiled,
            resolved(
                seen,
                picker,
                ref,
                frontend,
                design.isPresent(),
                failures,
                Stream.of(certificate, handOver)
                    .map(NamedSecret.Judged::wrong)
                    .flatMap(Stream::ofNullable)
                    .toList()),
            ref,
            hash,
            Stream.concat(
                    Stream.concat(
                        Stream.ofNullable(
                            Objects.equals(hash, wanted)
                                ? null
                                : PickerTelling.waitsForEndOfPause(picker)),
                        lost
                            .flatMap(doubt -> without(doubt.why(), compiled.unseen()))
                            .or(() -> cutOff(cutOff, seen.pool(), context.getClient()))
                            .stream()),
                    obstacles(compiled, hindering(told)))
                .toList(),
            beside(seen, picker, compiled, waits, told));
    Optional<Duration> silence = untilOverdue(seen.pool().getMetadata().getUid(), facts);
    if (silence.filter(Duration::isZero).isPresent()) {
      facts = facts.withReportsOverdue();
      silence = Optional.empty();
    }
    Attempts writes = new Attempts();
    Optional<Duration> again =
        failures.isEmpty()
            ? reloads.left(seen.pool().getMetadata().getUid(), facts)
            : Optional.empty();
    if (again.isEmpty()) {
      again = tell(seen, served, compiled, facts, writes, context);
    }
    again = earliest(again, kept.tell(seen, writes));
    again = earliest(again, lost.map(Doubt::left));
    again = earliest(again, Optional.ofNullable(certificate.again()));
    again = earliest(again, Optional.ofNullable(handOver.again()));
    again = earliest(again, silence);
    if (denied.isInDoubt(cutOff, askedIn(seen.pool()))) {
      again = earliest(again, Optional.of(LOOK_AGAIN));
    }
    Optional<Duration> retry = retry(seen, told);
    List<ChildApplier.Failure> stuckNow = new ArrayList<>();
    // Requests are served without a monitor or a guard: what is left over is not wanted for that.
    // Without a document, a ConfigMap that can't be read is not left over.
    // Nor is the Service that gateways ask still, where that which the pool names can't be made.
    boolean complete = failures.isEmpty() && ref instanceof ServiceRef.Resolved;
    if (complete
        && !desired.isEmpty()
        && compiled.document() != null
        && !pruner.leftovers(desired, seen, context.getClient(), writes, stuckNow)) {
      again = earliest(again, Optional.of(RETRY_PRUNE));
    }
    if (!complete && !desired.isEmpty()) {
      pruner.autoscalers(desired, seen, context.getClient(), writes, stuckNow);
    }
    if (stuckNow.isEmpty()) {
      stuck.remove(uid);
    } else {
      stuck.put(uid, stuckNow);
    }
    writes.rethrow();
    if (!verdicts(stuckNow).equals(verdicts(stuckBefore))) {
      again = earliest(again, Optional.of(RETRY_CONTENDED)); // what has changed is told then
    }
    again = earliest(again, retry);
    if (waits) {
      again = earliest(again, Optional.of(settings.pace().turns()));
    }
    return lookAgain(again);
  }

  private static UpdateControl<InferencePool> lookAgain(Optional<Duration> after) {
    return after
        .map(wait -> UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait))
        .orElseGet(UpdateControl::noUpdate);
  }

  private boolean seesModels(Observation seen) {
    ClusterView informers = view;
    return informers == null || informers.seesModels(seen.pool().getMetadata().getNamespace());
  }

  /** Why it is not known which models there are, and what becomes of those that are not seen. */
  private static Optional<Verdict> without(@Nullable Verdict lost, Set<String> models) {
    return Optional.ofNullable(lost)
        .map(
            why ->
                models.isEmpty()
                    ? why
                    : why.worded(
                        words ->
                            "%s. Until then the config keeps the models that were served: %s"
                                .formatted(words, named(models))));
  }

  /**
   * How long ready pods may go on without a report of the config; zero when they have had their
   * time, empty where no report is missing.
   */
  private Optional<Duration> untilOverdue(String pool, PickerFacts facts) {
    ConfigHash hash = facts.hash();
    if (hash == null || !PoolStatus.awaitsReports(facts)) {
      unreported.endOthers(pool, Set.of());
      return Optional.empty();
    }
    // By what each says it runs, not by what it should: that may change more often than it is late.
    Map<String, Object> behind = new LinkedHashMap<>();
    for (Replica replica : facts.readyReplicas()) {
      Optional<ConfigHash> runs =
          Optional.ofNullable(replica.report()).map(PickerReport::configHash);
      if (!runs.equals(Optional.of(hash))) {
        behind.put(pool + "/" + replica.name(), runs);
      }
    }
    unreported.endOthers(pool, behind.keySet());
    Duration longest =
        behind.entrySet().stream()
            .map(one -> unreported.since(one.getKey(), one.getValue()))
            .max(Comparator.naturalOrder())
            .orElse(Duration.ZERO);
    Duration left = settings.pace().reports().minus(longest);
    return Optional.of(left.isPositive() ? left : Duration.ZERO);
  }

  private static List<Verdict> verdicts(List<ChildApplier.Failure> failures) {
    return failures.stream().map(ChildApplier.Failure::why).toList();
  }

  /** Whether something was refused that has not lasted yet: it is not told before. */
  private boolean mayPass(Observation seen, List<ChildApplier.Failure> failures) {
    return failures.stream().anyMatch(failure -> failure.outlook() == Outlook.MAY_PASS)
        && failing
                .since(seen.pool().getMetadata().getUid(), Reason.API_SERVER_ERROR)
                .compareTo(PASSING)
            < 0;
  }

  /** When to try again what could not be applied; empty when all could. */
  private Optional<Duration> retry(Observation seen, List<ChildApplier.Failure> failures) {
    String pool = seen.pool().getMetadata().getUid();
    if (failures.stream().noneMatch(f -> f.why().reason() == Reason.API_SERVER_ERROR)) {
      failing.end(pool);
      return failures.isEmpty() ? Optional.empty() : Optional.of(RETRY_REFUSED);
    }
    Duration half = failing.since(pool, Reason.API_SERVER_ERROR).dividedBy(2);
    return earliest(
        Optional.of(half.compareTo(RETRY_FAILED) < 0 ? RETRY_FAILED : half),
        Optional.of(RETRY_REFUSED));
  }

  static Optional<Duration> earliest(Optional<Duration> one, Optional<Duration> other) {
    return Stream.of(one, other).flatMap(Optional::stream).min(Comparator.naturalOrder());
  }

  /**
   * Whether new pods have to wait for their turn. What the pool's own author changes does not: that
   * is one pool, and may be what mends it.
   */
  private boolean waits(
      PickerDesign design,
      List<HasMetadata> desired,
      Observation seen,
      Context<InferencePool> context) {
    ClusterView informers = view;
    Deployment there = seen.child(Deployment.class, design.picker()).orElse(null);
    if (informers == null) {
      return false;
    }
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

  /** All children, less those of kinds that the cluster lacks. */
  private List<HasMetadata> desired(PickerDesign design) {
    List<HasMetadata> all = new ArrayList<>(Children.of(design));
    if (view != null && view.monitorable(design.namespace())) {
      PickerMonitor.of(design).ifPresent(all::add);
    }
    return List.copyOf(all);
  }

  /** Requests are served without the others. */
  private static List<ChildApplier.Failure> hindering(List<ChildApplier.Failure> failures) {
    return failures.stream().filter(failure -> !isMonitor(failure) && !isGuard(failure)).toList();
  }

  private static boolean isMonitor(ChildApplier.Failure failure) {
    return failure.child().getKind().equals(PickerMonitor.KIND);
  }

  /**
   * Without it pods are as many as they are, and may be drained all at once, or begin with nothing.
   */
  private static boolean isGuard(ChildApplier.Failure failure) {
    return failure.child() instanceof HorizontalPodAutoscaler
        || failure.child() instanceof PodDisruptionBudget
        || failure.child() instanceof Secret;
  }

  private static boolean isMounted(HasMetadata child, Observation seen) {
    return child instanceof Secret secret
        && seen.child(Deployment.class, Names.child(seen.pool().getMetadata().getName()))
            .filter(there -> Children.mounts(there, secret))
            .isPresent();
  }

  /** Of what requests are served without. */
  private static Verdict notMade(ChildApplier.Failure failure) {
    Verdict why = failure.why();
    return Verdict.no(
        why.reason() == Reason.EPP_UNAVAILABLE || !why.isFalse()
            ? Reason.OBJECT_NOT_APPLIED
            : why.reason(),
        why.message());
  }

  private Map<ConditionType, Verdict> beside(
      Observation seen,
      @Nullable EndpointPicker picker,
      CompiledPool compiled,
      boolean waits,
      List<ChildApplier.Failure> failures) {
    Map<ConditionType, Verdict> beside = new LinkedHashMap<>();
    if (waits) {
      beside.put(ConditionType.UP_TO_DATE, turnIsAwaited(seen));
    }
    failures.stream()
        .filter(PoolReconciler::isMonitor)
        .findFirst()
        .ifPresent(failure -> beside.put(ConditionType.MONITORED, notMade(failure)));
    List<Verdict> unguarded =
        failures.stream().filter(PoolReconciler::isGuard).map(PoolReconciler::notMade).toList();
    if (!unguarded.isEmpty()) {
      beside.put(ConditionType.AVAILABILITY_GUARDED, Verdict.all(unguarded));
    }
    unmonitored(seen, picker).ifPresent(why -> beside.put(ConditionType.MONITORED, why));
    if (!seen.unread().problems().isEmpty()) {
      List<Verdict> problems = new ArrayList<>(seen.unread().problems());
      if (!compiled.unseen().isEmpty()) {
        problems.add(stayMeanwhile(compiled.unseen()));
      }
      beside.put(ConditionType.UPSTREAM_KINDS_READ, Verdict.all(problems));
    }
    return beside;
  }

  private static String named(Set<String> models) {
    String some = models.stream().limit(MOST_TOLD).collect(Collectors.joining(", "));
    return models.size() <= MOST_TOLD
        ? some
        : "%s and %d more".formatted(some, models.size() - MOST_TOLD);
  }

  private static Verdict stayMeanwhile(Set<String> models) {
    return Verdict.no(
        Reason.API_SERVER_ERROR,
        "Each of these models stays in the config until it is known whether an InferenceModelRewrite has it, also if it was an InferenceModel's that is deleted: %s"
            .formatted(named(models)));
  }

  /** Why the PodMonitor that the picker asks for is not even tried. */
  private Optional<Verdict> unmonitored(Observation seen, @Nullable EndpointPicker picker) {
    var monitoring =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().monitoring();
    String namespace = seen.pool().getMetadata().getNamespace();
    if (picker == null
        || monitoring == null
        || monitoring.podMonitor() == null
        || view == null
        || view.monitorable(namespace)) {
      return Optional.empty();
    }
    Verdict problem = view.monitorProblem(namespace);
    if (problem != null) {
      return Optional.of(problem);
    }
    // What was said before this process began may still be so.
    return view.monitorsUnknown(namespace)
        ? PickerTelling.saidLast(picker, ConditionType.MONITORED)
        : Optional.of(
            Verdict.no(
                Reason.NO_POD_MONITORS,
                "The cluster has no PodMonitor of %s/%s, or the operator may not read it; install the Prometheus operator, or take spec.monitoring.podMonitor out of EndpointPicker %s"
                    .formatted(
                        PickerMonitor.GROUP,
                        PickerMonitor.VERSION,
                        picker.getMetadata().getName())));
  }

  private Verdict turnIsAwaited(Observation seen) {
    return Verdict.no(
        Reason.WAITING_FOR_TURN,
        "The pods of Deployment %s serve as they are until it is their turn to be replaced: the operator replaces those of %s at a time, see --max-rollouts"
            .formatted(
                Names.child(seen.pool().getMetadata().getName()),
                settings.maxRollouts() == 1 ? "one pool" : settings.maxRollouts() + " pools"));
  }

  private Optional<PickerDesign> design(
      Observation seen,
      @Nullable EndpointPicker picker,
      CompiledPool compiled,
      ServiceRef ref,
      Frontend frontend) {
    Written document = compiled.document();
    ServicePlace place =
        ref instanceof ServiceRef.Resolved service
            ? new ServicePlace(service.name(), service.port())
            : null;
    // Of a pool that nobody claims, and whose Service is another's, pods are not begun with.
    boolean wanted = place != null || picker != null || !seen.own().isEmpty();
    if (!wanted || (document == null && compiled.unknown() == null)) {
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
            image == null || image.isBlank()
                ? settings.eppImage()
                : settings.eppImage().named(image),
            spec == null ? EndpointPickerSpec.DEFAULT : spec,
            compiled.schedulers()));
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

  private static PickerFacts facts(
      Observation seen,
      CompiledPool compiled,
      Verdict resolved,
      ServiceRef ref,
      @Nullable ConfigHash hash,
      List<Verdict> obstacles,
      Map<ConditionType, Verdict> beside) {
    String picker = Names.child(seen.pool().getMetadata().getName());
    Verdict accepted = compiled.accepted();
    if (ref instanceof ServiceRef.Unresolved broken && accepted.isTrue()) {
      accepted = broken.accepted();
    }
    List<String> rejected =
        compiled.models().stream()
            .filter(judged -> judged.accepted().isFalse() || judged.resolvedRefs().isFalse())
            .map(judged -> judged.model().getMetadata().getName())
            .sorted()
            .toList();
    long inConfig =
        compiled.models().stream()
            .filter(judged -> judged.accepted().isTrue() && judged.resolvedRefs().isTrue())
            .count();
    return new PickerFacts(
        picker,
        accepted,
        resolved,
        hash,
        seen.child(Deployment.class, picker).orElse(null),
        seen.pods().stream().map(pod -> Replica.of(pod, seen.report(pod))).toList(),
        obstacles.isEmpty() ? null : Verdict.all(obstacles),
        new PickerFacts.ModelCount((int) inConfig, rejected),
        beside,
        false);
  }

  /** Why changes of what concerns the pool are seen no more; what was seen last counts. */
  private Optional<Verdict> cutOff(
      List<Class<? extends HasMetadata>> kinds, InferencePool pool, KubernetesClient client) {
    return denied
        .verdicts(kinds, askedIn(pool), client)
        .map(verdicts -> verdicts.get(ConditionType.READY));
  }

  private List<Class<? extends HasMetadata>> cutOff(InferencePool pool) {
    ClusterView informers = view;
    return informers == null ? List.of() : informers.cutOff(pool.getMetadata().getNamespace());
  }

  private @Nullable String askedIn(InferencePool pool) {
    String namespace = pool.getMetadata().getNamespace();
    ClusterView informers = view;
    return informers == null ? namespace : informers.askedIn(namespace);
  }

  private static Stream<Verdict> obstacles(
      CompiledPool compiled, List<ChildApplier.Failure> failures) {
    return Stream.concat(
        Stream.of(Optional.ofNullable(compiled.tooLarge()), Optional.ofNullable(compiled.unknown()))
            .flatMap(Optional::stream),
        failures.stream().map(ChildApplier.Failure::why));
  }

  /**
   * Of all that the pool and its picker refer to.
   *
   * @param made whether what is not there is made
   * @param secrets what is wrong with Secrets that the picker names
   */
  private static Verdict resolved(
      Observation seen,
      @Nullable EndpointPicker picker,
      ServiceRef ref,
      Frontend frontend,
      boolean made,
      List<ChildApplier.Failure> failures,
      List<Verdict> secrets) {
    Verdict service =
        switch (ref) {
          case ServiceRef.Resolved resolved when PickerTelling.isPaused(picker) ->
              whilePaused(seen, Objects.requireNonNull(picker), resolved, frontend);
          case ServiceRef.Resolved resolved when !made && seen.service() == null ->
              Verdict.pending(
                  "Service %s is free, and is made when the pool is accepted; condition Accepted says what to do"
                      .formatted(resolved.name()));
          case ServiceRef.Resolved resolved -> provided(resolved, picker, frontend, failures);
          case ServiceRef.Unresolved broken -> broken.resolvedRefs();
        };
    if (secrets.isEmpty()) {
      return service;
    }
    return Verdict.all(
        service.isTrue() ? secrets : Stream.concat(Stream.of(service), secrets.stream()).toList());
  }

  /** Nothing was applied, so what is there is looked at. */
  private static Verdict whilePaused(
      Observation seen, EndpointPicker picker, ServiceRef.Resolved ref, Frontend frontend) {
    Service service = seen.service();
    String name = picker.getMetadata().getName();
    if (service == null || !Ownership.by(seen.pool(), service)) {
      return Verdict.pending(
          "Service %s is not there, and EndpointPicker %s is paused; set spec.paused to false to have it made"
              .formatted(ref.name(), name));
    }
    return service.getSpec().getPorts().stream().noneMatch(port -> port.getPort() == ref.port())
        ? Verdict.pending(
            "Service %s has no port %d, and EndpointPicker %s is paused; set spec.paused to false to have it so"
                .formatted(ref.name(), ref.port(), name))
        : provided(ref, picker, frontend, List.of());
  }

  private static Verdict provided(
      ServiceRef.Resolved service,
      @Nullable EndpointPicker picker,
      Frontend frontend,
      List<ChildApplier.Failure> failures) {
    return failures.stream()
        .filter(failure -> failure.child() instanceof Service)
        .map(ChildApplier.Failure::why)
        .findFirst()
        .orElseGet(
            () ->
                Verdict.yes(
                    Reason.RESOLVED_REFS,
                    switch (frontend) {
                      case EXT_PROC -> "Service %s is provided".formatted(service.name());
                      case GATEWAY ->
                          "Service %s is provided: clients send their requests to its port %d over %s"
                              .formatted(
                                  service.name(), service.port(), isTls(picker) ? "HTTPS" : "HTTP");
                    }));
  }

  private static boolean isTls(@Nullable EndpointPicker picker) {
    return picker != null && picker.getSpec() != null && picker.getSpec().tls() != null;
  }

  /** When to tell again what could not be told now; empty when all could. */
  private Optional<Duration> tell(
      Observation seen,
      Serving.Served served,
      CompiledPool compiled,
      PickerFacts facts,
      Attempts writes,
      Context<InferencePool> context) {
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts);
    if (seen.pool() instanceof OldInferencePool) {
      verdicts.replaceAll((type, verdict) -> verdict.worded(OldInferencePool::inItsWords));
    }
    EndpointPicker picker = served.picker();
    String parent = parent(seen.pool(), picker);
    AtomicReference<Optional<Duration>> again = new AtomicReference<>(Optional.empty());
    writes.attempt(
        () -> again.set(entries.write(seen.pool(), parent, PoolStatus.inEntry(verdicts))));
    Optional<Duration> lasting = tellModels(seen.pool(), compiled, verdicts, writes, context);
    for (JudgedObject judged : compiled.upstream()) {
      writes.attempt(() -> statuses.write(judged.object(), judged.verdicts()));
    }
    if (picker != null) {
      writes.attempt(() -> PickerTelling.winner(statuses, picker, facts, verdicts));
      for (EndpointPicker loser : served.losers()) {
        writes.attempt(() -> PickerTelling.loser(statuses, loser, picker));
      }
    }
    return earliest(again.get(), lasting);
  }

  /** When to tell what has not lasted long enough to be told; empty when all is told. */
  private Optional<Duration> tellModels(
      InferencePool pool,
      CompiledPool compiled,
      Map<ConditionType, Verdict> ofPool,
      Attempts writes,
      Context<InferencePool> context) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>(ofPool);
    Optional<Duration> left = Optional.empty();
    Verdict full = verdicts.get(ConditionType.SATURATED);
    if (full != null) {
      LastingSaturation.Told told = saturation.of(pool.getMetadata().getUid(), full);
      verdicts.put(ConditionType.SATURATED, told.verdict());
      left = Optional.ofNullable(told.left());
    }
    long begun = System.nanoTime();
    for (JudgedModel judged : editedFirst(compiled.models())) {
      // The next look tells the others, and whoever edits one of very many need not wait for all.
      if (System.nanoTime() - begun >= LONGEST_TELLING.toNanos()
          && context.isNextReconciliationImminent()) {
        break;
      }
      writes.attempt(
          () ->
              statuses.write(
                  judged.model(),
                  ModelStatus.of(
                      judged.accepted(), judged.resolvedRefs(), judged.runs(), verdicts)));
    }
    return left;
  }

  private static List<JudgedModel> editedFirst(List<JudgedModel> models) {
    List<JudgedModel> edited = new ArrayList<>();
    List<JudgedModel> told = new ArrayList<>();
    for (JudgedModel judged : models) {
      (StatusApplier.isOfThisGeneration(judged.model()) ? told : edited).add(judged);
    }
    edited.addAll(told);
    return edited;
  }
}
