package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.ChildFailure;
import io.fairlead.operator.apply.Contradictions;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.LostEntries;
import io.fairlead.operator.apply.PoolEntryWriter;
import io.fairlead.operator.apply.RefusedStatuses;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.apply.StatusSteps;
import io.fairlead.operator.apply.WriteLanes;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.observe.ClusterView;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.Orphaned;
import io.fairlead.operator.observe.Pools;
import io.fairlead.operator.observe.ServedPools;
import io.fairlead.operator.observe.Serving;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Notice;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides what is to be done of a pool: whether enough is known of it, whether it is ours to serve,
 * whether it is going. {@link PoolUpkeep} does what is to be done of one that is served.
 */
@ControllerConfiguration(
    name = PoolReconciler.NAME,
    generationAwareEventProcessing = false,
    triggerReconcilerOnAllEvents = true)
public final class PoolReconciler implements Reconciler<InferencePool> {
  private static final Logger LOG = LoggerFactory.getLogger(PoolReconciler.class);

  /** By which the framework calls it. */
  static final String NAME = "pool";

  /** When to look again at an object while what it takes to decide is not known. */
  static final Duration LOOK_AGAIN = Duration.ofSeconds(5);

  /** The same of what names a pool that is not seen, while nobody can say why. */
  private static final Duration UNSURE = Duration.ofSeconds(1);

  /** Less than is waited before it is told that a pool is gone. */
  private static final Duration POOL_KIND_FRESH = Duration.ofMillis(500);

  private static final List<Class<? extends HasMetadata>> POOLS = List.of(InferencePool.class);

  private final Settings settings;
  private final Events events;
  private final Pruner pruner;
  private final StatusApplier statuses;
  private final PoolTelling telling;
  private final PoolUpkeep upkeep;
  private final Denied denied;
  private final KindLooks kinds;
  private final LostPickers lostPickers;
  private final Waits undecided;
  private final Waits terminating;

  /** UIDs of pools that are served no longer and have children still: it is said once. */
  private final Set<String> released = ConcurrentHashMap.newKeySet();

  private final Leftovers leftovers;
  private final Returns returns = new Returns();

  /** UIDs of pools that are left to another operator: it is said once. */
  private final Set<String> leftToAnother = ConcurrentHashMap.newKeySet();

  private final KnownPools known = new KnownPools();
  private final ServedPools own = new ServedPools();

  /** With those of the older group. */
  private final Pools all;

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
    this.all = Pools.both(own, others);
    this.events = events;
    LongSupplier nanos = System::nanoTime;
    WriteLanes lanes = new WriteLanes();
    StatusSteps steps = new StatusSteps();
    Contradictions contradictions =
        new Contradictions(
            settings.pace().repairs(),
            nanos,
            (object, message) -> events.warn(object, Notice.STATUS_CONTENDED, message));
    RefusedStatuses refused = new RefusedStatuses(events, nanos);
    ChildApplier children =
        new ChildApplier(
            client,
            lanes,
            settings.pace().writes(),
            settings.pace().repairs(),
            settings.pace().answers(),
            (pool, message) -> events.warn(pool, Notice.REPAIRED, message));
    this.kinds = new KindLooks(nanos);
    this.pruner = new Pruner(children);
    this.leftovers = new Leftovers(events, nanos);
    this.statuses = new StatusApplier(client, clock, events, lanes, steps, contradictions, refused);
    this.telling =
        new PoolTelling(
            new PoolEntryWriter(
                client, clock, events, lostEntries, lanes, steps, contradictions, refused),
            statuses,
            settings.pace().saturation(),
            nanos);
    this.denied = new Denied(nanos);
    this.lostPickers = new LostPickers(nanos, kinds);
    this.undecided = Waits.ofUpTo(settings.grace(), nanos);
    this.terminating = new Waits(nanos);
    this.upkeep =
        new PoolUpkeep(
            settings,
            children,
            pruner,
            telling,
            new SettledLooks(nanos, steps),
            denied,
            kinds,
            turns,
            clock,
            nanos);
  }

  @Override
  public List<EventSource<?, InferencePool>> prepareEventSources(
      EventSourceContext<InferencePool> context) {
    boolean everywhere =
        InformerConfiguration.allNamespacesWatched(
            context.getControllerConfiguration().getEffectiveNamespaces());
    return sources(
        context,
        new OrphanTelling(
            statuses,
            settings.adoption(),
            namespace ->
                poolsDoubt(namespace, everywhere ? null : namespace, context.getClient())));
  }

  /**
   * Whether a pool that is not seen in a namespace may be there all the same: where its whole kind
   * goes, the same is seen.
   *
   * @param askedIn where to ask why; null for all namespaces at once
   */
  private Optional<Doubt> poolsDoubt(
      @Nullable String namespace, @Nullable String askedIn, KubernetesClient client) {
    KindLooks.Found kind = kinds.find(InferencePool.class, POOL_KIND_FRESH, client);
    boolean goes = kind == KindLooks.Found.TERMINATING || kind == KindLooks.Found.MISSING;
    if (!goes && all.known(namespace) && own.isWatching(namespace)) {
      return Optional.empty();
    }
    Verdict why =
        kind == KindLooks.Found.TERMINATING
            ? Denied.terminating(InferencePool.class)
            : denied
                .verdicts(POOLS, askedIn, client)
                .map(verdicts -> verdicts.get(ConditionType.READY))
                .orElse(null);
    if (why != null) {
      return Optional.of(new Doubt(LOOK_AGAIN, why));
    }
    return Optional.of(new Doubt(denied.doubt(POOLS, askedIn).orElse(UNSURE), null));
  }

  /**
   * The same.
   *
   * @param orphaned null where others tell of what names no pool that is there
   */
  List<EventSource<?, InferencePool>> sources(
      EventSourceContext<InferencePool> context, @Nullable Orphaned orphaned) {
    own.heldBy(context.getPrimaryCache());
    ClusterView prepared = new ClusterView(context, all, orphaned);
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
    if (informers == null) {
      return UpdateControl.noUpdate();
    }
    if (context.isPrimaryResourceDeleted()) {
      gone(pool, informers);
      return UpdateControl.noUpdate();
    }
    String uid = pool.getMetadata().getUid();
    String namespace = pool.getMetadata().getNamespace();
    KnownPools.Seen name = known.seen(pool);
    if (name.isNew()) {
      own.tell(pool);
    }
    name.another().ifPresent(this::forget);
    informers.selects(pool);
    if (informers.isAwaited(namespace)) {
      return NextLook.in(LOOK_AGAIN).control();
    }
    if (pool.isMarkedForDeletion()) {
      // Most are gone in a moment, and nobody need be told of it.
      Duration left = LOOK_AGAIN.minus(terminating.since(uid, pool.getKind()));
      if (left.isPositive()) {
        return NextLook.in(left).control();
      }
    }
    // Asked before: what comes to be known between the two is part of what is observed.
    List<Class<? extends HasMetadata>> unseen = informers.unseen(namespace);
    Observation seen = informers.observe(pool);
    if (!unseen.isEmpty()) {
      return waitFor(unseen, seen, informers, context.getClient());
    }
    Optional<Doubt> doubt =
        pool.isMarkedForDeletion()
            ? Optional.empty()
            : lostPickers.doubt(
                seen,
                telling.parent(pool).orElse(null),
                informers.seesPickers(namespace),
                () -> denied(EndpointPicker.class, informers, namespace, context.getClient()),
                context.getClient());
    if (doubt.isPresent()) {
      return waitForKind(pool, doubt.get());
    }
    return switch (decide(seen)) {
      case Serving.NotOurs _ -> release(seen, informers, context.getClient());
      case Serving.Undecided wait -> leaveToOthers(seen, wait.left(), informers);
      case Serving.Served served when pool.isMarkedForDeletion() ->
          telling.terminating(seen, served).control();
      case Serving.Served served -> serve(seen, served, informers, context);
    };
  }

  /** What is wrong with a model is so whoever will serve its pool, and is told at once. */
  private UpdateControl<InferencePool> leaveToOthers(
      Observation seen, Duration left, ClusterView informers) {
    NextLook next = NextLook.in(left);
    informers
        .scheduling(seen.pool(), null)
        .flatMap(scheduling -> compiled(seen, scheduling))
        .ifPresent(compiled -> telling.undecided(seen.pool(), compiled, next));
    return next.control();
  }

  /** Empty where it fails, which whoever serves the pool will tell: the look must end well. */
  private static Optional<CompiledPool> compiled(Observation seen, SchedulingText scheduling) {
    try {
      return Optional.of(PoolDesire.compile(seen, null, scheduling));
    } catch (RuntimeException | StackOverflowError | LinkageError e) {
      LOG.error("models of {} can't be judged yet", seen.pool().getMetadata().getName(), e);
      return Optional.empty();
    }
  }

  private UpdateControl<InferencePool> serve(
      Observation seen,
      Serving.Served served,
      ClusterView informers,
      Context<InferencePool> context) {
    forgetReleases(seen.pool().getMetadata().getUid());
    return informers
        .scheduling(seen.pool(), served.picker())
        .map(scheduling -> upkeep.look(seen, served, scheduling, informers, context))
        .orElseGet(() -> NextLook.in(LOOK_AGAIN).control());
  }

  /**
   * Of a pool that is served no longer, or never was, since another has its name: what it had stays
   * as it is, for that one to take over. Where nobody would expect it to be served, it is not told.
   */
  UpdateControl<InferencePool> supersede(InferencePool pool, Verdict why) {
    ClusterView informers = view;
    if (informers == null || !informers.unseen(pool.getMetadata().getNamespace()).isEmpty()) {
      return NextLook.in(LOOK_AGAIN).control();
    }
    leave(pool, informers);
    NextLook next = new NextLook();
    switch (decide(informers.observe(pool))) {
      case Serving.Served _ -> next.within(telling.superseded(pool, why));
      case Serving.Undecided wait -> next.within(wait.left());
      case Serving.NotOurs _ -> telling.withdraw(pool);
    }
    return next.control();
  }

  private Serving decide(Observation seen) {
    String pool = seen.pool().getMetadata().getUid();
    Serving decided =
        Serving.decide(
            seen,
            settings.adoption(),
            settings.grace(),
            () -> undecided.since(pool, Serving.Undecided.class));
    if (!(decided instanceof Serving.Undecided)) {
      undecided.end(pool);
    }
    return decided;
  }

  private void gone(InferencePool pool, ClusterView informers) {
    known.gone(pool);
    own.tell(pool);
    informers.selectsNoMore(pool);
    leave(pool, informers);
    forget(pool.getMetadata().getUid());
  }

  /** Of a pool that is gone, or served no more, nothing is to be made. */
  private void leave(InferencePool pool, ClusterView informers) {
    var _ = informers.scheduling(pool, null);
    upkeep.leave(pool.getMetadata().getUid());
  }

  private void forget(String pool) {
    upkeep.forget(pool);
    telling.forget(pool);
    forgetReleases(pool);
    terminating.end(pool);
    lostPickers.forget(pool);
  }

  /** What was said while a pool was not served is to be said anew when it is not. */
  private void forgetReleases(String pool) {
    released.remove(pool);
    leftovers.forget(pool);
    returns.forget(pool);
    leftToAnother.remove(pool);
  }

  /**
   * Of a pool that is surely ours it is told what the operator can't look at: of one that an
   * EndpointPicker names, whatever its Service is, and of one that would be served without.
   */
  private UpdateControl<InferencePool> waitFor(
      List<Class<? extends HasMetadata>> unseen,
      Observation seen,
      ClusterView informers,
      KubernetesClient client) {
    InferencePool pool = seen.pool();
    String asked = informers.askedIn(pool.getMetadata().getNamespace());
    boolean isNamed = !seen.pickers().isEmpty();
    Serving serving =
        isNamed || !unseen.contains(Service.class) ? decide(seen) : new Serving.NotOurs();
    boolean ours =
        serving instanceof Serving.Served || telling.isTold(pool) || !seen.own().isEmpty();
    NextLook next = NextLook.in(LOOK_AGAIN);
    if (ours) {
      EndpointPicker picker = serving instanceof Serving.Served served ? served.picker() : null;
      denied
          .verdicts(unseen, asked, client)
          .ifPresent(verdicts -> telling.unseen(seen, picker, verdicts));
      next.within(denied.doubt(unseen, asked));
    }
    return next.control();
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
      return NextLook.in(LOOK_AGAIN).control();
    }
    List<Class<? extends HasMetadata>> unseen = new ArrayList<>(informers.unseen(namespace));
    unseen.add(kind);
    return waitFor(unseen, informers.observe(pool), informers, client);
  }

  private Optional<Verdict> denied(
      Class<? extends HasMetadata> kind,
      ClusterView informers,
      String namespace,
      KubernetesClient client) {
    return denied
        .verdicts(List.of(kind), informers.askedIn(namespace), client)
        .map(verdicts -> verdicts.get(ConditionType.READY));
  }

  /** What the pool's EndpointPicker asked for stays. */
  private UpdateControl<InferencePool> waitForKind(InferencePool pool, Doubt doubt) {
    if (doubt.why() != null) {
      telling.doubtful(pool, doubt.why());
    }
    return NextLook.in(doubt.left()).control();
  }

  /** Of a pool that is not ours to serve, and may have been. */
  private UpdateControl<InferencePool> release(
      Observation seen, ClusterView informers, KubernetesClient client) {
    leave(seen.pool(), informers);
    String uid = seen.pool().getMetadata().getUid();
    if (!seen.own().isEmpty() && returns.tooOften(uid, seen.own())) {
      if (leftToAnother.add(uid)) {
        events.warn(
            seen.pool(),
            Notice.SERVED_BY_ANOTHER,
            "What belongs to the pool's picker is made again as often as it is deleted, so it is left as it is: have one operator serve namespace %s, or give both the same --adopt, and restart this one when the other is gone"
                .formatted(seen.pool().getMetadata().getNamespace()));
      }
      return UpdateControl.noUpdate();
    }
    if (seen.own().isEmpty()) {
      released.remove(uid);
      leftovers.forget(uid);
    } else if (seen.own().stream().anyMatch(child -> !child.isMarkedForDeletion())
        && released.add(uid)) {
      events.warn(
          seen.pool(),
          Notice.NO_LONGER_SERVED,
          "No EndpointPicker names the pool, and it is not to be served without one, or others provide its Service; the picker and all that belongs to it are deleted, but for the Secret of its hand-over, if it has one, which goes with the pool");
    }
    Attempts writes = new Attempts();
    NextLook next = new NextLook();
    List<ChildFailure> stuck = new ArrayList<>();
    pruner.all(seen, client, writes, stuck);
    if (!stuck.isEmpty()) {
      leftovers.tell(seen.pool(), new ChildFailures(stuck));
      next.within(Retries.REFUSED);
    }
    telling.notOurs(seen, writes, next);
    writes.rethrow();
    next.within(writes.putOff());
    return next.control();
  }
}
