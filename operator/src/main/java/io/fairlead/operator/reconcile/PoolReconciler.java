package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.apply.Attempts;
import io.fairlead.operator.apply.ChildApplier;
import io.fairlead.operator.apply.Events;
import io.fairlead.operator.apply.PoolEntryWriter;
import io.fairlead.operator.apply.RolloutTurns;
import io.fairlead.operator.apply.StatusApplier;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.children.PickerDesign;
import io.fairlead.operator.desire.CompiledPool;
import io.fairlead.operator.desire.CompiledPool.JudgedModel;
import io.fairlead.operator.desire.CompiledPool.JudgedObject;
import io.fairlead.operator.desire.HeldConfig;
import io.fairlead.operator.desire.PoolDesire;
import io.fairlead.operator.desire.UpstreamJudge;
import io.fairlead.operator.observe.ClusterView;
import io.fairlead.operator.observe.Observation;
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
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Serves a pool: observe, validate, desire, apply, tell. */
@ControllerConfiguration(
    name = "pool",
    generationAwareEventProcessing = false,
    triggerReconcilerOnAllEvents = true)
public final class PoolReconciler implements Reconciler<InferencePool> {
  /** How soon what the API server refused is tried again, when nothing changes before. */
  private static final Duration RETRY_REFUSED = Duration.ofSeconds(15);

  private static final Duration RETRY_PRUNE = Duration.ofSeconds(1);

  /** How soon a pool whose turn it is not looks again. */
  private static final Duration NEXT_TURN = Duration.ofSeconds(5);

  private final Settings settings;
  private final Events events;
  private final ChildApplier children = new ChildApplier();
  private final Pruner pruner = new Pruner(children);
  private final PoolEntryWriter entries;
  private final StatusApplier statuses;
  private final HotReloads reloads = new HotReloads(System::nanoTime);
  private final Waits undecided = new Waits(System::nanoTime);
  private final RolloutTurns turns;
  private @Nullable ClusterView view;

  /**
   * @param events where transitions are told
   * @param meters where what happens to pools is counted
   */
  public PoolReconciler(
      Settings settings,
      KubernetesClient client,
      InstantSource clock,
      Events events,
      MeterRegistry meters) {
    this.settings = settings;
    this.events = events;
    this.entries =
        new PoolEntryWriter(
            client,
            clock,
            events,
            Counter.builder("fairlead.operator.status.entry.removals")
                .description("Entries of ours that others removed from pools' status.parents.")
                .register(meters));
    this.statuses = new StatusApplier(client, clock, events);
    this.turns = new RolloutTurns(settings.maxRollouts());
  }

  @Override
  public List<EventSource<?, InferencePool>> prepareEventSources(
      EventSourceContext<InferencePool> context) {
    ClusterView prepared = new ClusterView(context);
    view = prepared;
    return prepared.sources();
  }

  @Override
  public UpdateControl<InferencePool> reconcile(
      InferencePool pool, Context<InferencePool> context) {
    ClusterView informers = view;
    if (informers != null && context.isPrimaryResourceDeleted()) {
      orphan(informers.orphans(pool), pool.getMetadata().getName());
    }
    if (informers == null || pool.isMarkedForDeletion() || context.isPrimaryResourceDeleted()) {
      return UpdateControl.noUpdate();
    }
    if (!informers.upstreamKnown()) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(NamedPools.LOOK_AGAIN);
    }
    Observation seen = informers.observe(pool);
    List<Class<? extends HasMetadata>> unseen = informers.unseen(pool.getMetadata().getNamespace());
    if (!unseen.isEmpty()) {
      return waitFor(unseen, seen, context.getClient());
    }
    return switch (decide(seen)) {
      case Serving.NotOurs _ -> release(seen, context);
      case Serving.Undecided wait ->
          UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait.left());
      case Serving.Served served -> serve(seen, served, context);
    };
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

  /** What was said of objects that name the pool is no longer true. */
  private void orphan(List<GenericKubernetesResource> objects, String pool) {
    Attempts writes = new Attempts();
    for (GenericKubernetesResource object : objects) {
      if (StatusApplier.told(object)) {
        writes.attempt(() -> tell(UpstreamJudge.orphan(object, pool)));
      }
    }
    writes.rethrow();
  }

  private void tell(JudgedObject judged) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.ACCEPTED, judged.accepted());
    verdicts.put(ConditionType.RESOLVED_REFS, judged.resolvedRefs());
    statuses.write(judged.object(), verdicts);
  }

  /** Of a pool that is surely ours it is told what the operator may not look at. */
  private UpdateControl<InferencePool> waitFor(
      List<Class<? extends HasMetadata>> unseen, Observation seen, KubernetesClient client) {
    boolean decided = !unseen.contains(EndpointPicker.class) && !unseen.contains(Service.class);
    if (decided && decide(seen) instanceof Serving.Served served) {
      EndpointPicker picker = served.picker();
      String parent =
          picker == null
              ? Names.child(seen.pool().getMetadata().getName())
              : picker.getMetadata().getName();
      Denied.verdicts(unseen, seen.pool().getMetadata().getNamespace(), client)
          .ifPresent(verdicts -> entries.write(seen.pool(), parent, verdicts));
    }
    return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(NamedPools.LOOK_AGAIN);
  }

  private UpdateControl<InferencePool> release(Observation seen, Context<InferencePool> context) {
    Attempts writes = new Attempts();
    if (seen.children().stream().anyMatch(child -> !child.isMarkedForDeletion())) {
      events.warn(
          seen.pool(),
          Notice.NO_LONGER_SERVED,
          "No EndpointPicker names the pool, and it is not to be served without one, or others provide its Service; the picker and all that belongs to it are deleted");
    }
    writes.attempt(() -> pruner.all(seen, context.getClient()));
    writes.attempt(() -> entries.remove(seen.pool()));
    String name = seen.pool().getMetadata().getName();
    Verdict unmanaged =
        Verdict.no(
            Reason.POOL_NOT_MANAGED,
            "InferencePool %s is not served by Fairlead; create an EndpointPicker that names it"
                .formatted(name));
    Verdict accepted = Verdict.pending("InferencePool %s is not served".formatted(name));
    for (InferenceModel model : seen.models()) {
      writes.attempt(() -> statuses.write(model, ModelStatus.of(accepted, unmanaged, unmanaged)));
    }
    seen.upstream()
        .all()
        .filter(StatusApplier::told)
        .forEach(object -> writes.attempt(() -> tell(UpstreamJudge.unmanaged(object, name))));
    writes.rethrow();
    return UpdateControl.noUpdate();
  }

  private UpdateControl<InferencePool> serve(
      Observation seen, Serving.Served served, Context<InferencePool> context) {
    EndpointPicker picker = served.picker();
    CompiledPool compiled = PoolDesire.compile(seen, picker);
    ServiceRef ref = ServiceRef.of(seen);
    Frontend frontend = frontend(seen, picker);
    Optional<PickerDesign> design = design(seen, picker, compiled, ref, frontend);
    boolean paused = PickerTelling.isPaused(picker);
    List<HasMetadata> desired = paused ? List.of() : design.map(Children::of).orElse(List.of());
    boolean waits = !desired.isEmpty() && waits(design.orElseThrow(), desired, seen, context);
    List<HasMetadata> due =
        waits ? desired.stream().filter(child -> !(child instanceof Deployment)).toList() : desired;
    List<ChildApplier.Failure> failures = children.apply(due, seen, context);
    ConfigHash wanted = design.map(PickerDesign::documentHash).orElse(null);
    ConfigHash hash =
        paused ? HeldConfig.of(seen).newest().map(ConfigDocument::hash).orElse(null) : wanted;
    PickerFacts facts =
        facts(
            seen,
            compiled,
            ref,
            frontend,
            hash,
            Stream.concat(
                    Stream.ofNullable(
                        Objects.equals(hash, wanted)
                            ? null
                            : PickerTelling.waitsForEndOfPause(picker)),
                    obstacles(compiled, failures))
                .toList(),
            failures);
    Attempts writes = new Attempts();
    Optional<Duration> again =
        failures.isEmpty()
            ? reloads.left(seen.pool().getMetadata().getUid(), facts)
            : Optional.empty();
    if (again.isEmpty()) {
      again = tell(seen, served, compiled, facts, writes);
    }
    if (!failures.isEmpty()) {
      writes.rethrow();
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(RETRY_REFUSED);
    }
    boolean pruned = desired.isEmpty() || pruner.leftovers(desired, seen, context.getClient());
    writes.rethrow();
    if (waits) {
      return UpdateControl.<InferencePool>noUpdate().rescheduleAfter(NEXT_TURN);
    }
    return pruned
        ? again
            .map(wait -> UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait))
            .orElseGet(UpdateControl::noUpdate)
        : UpdateControl.<InferencePool>noUpdate().rescheduleAfter(RETRY_PRUNE);
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
    if (informers == null || there == null) {
      return false;
    }
    Deployment wanted =
        desired.stream()
            .filter(Deployment.class::isInstance)
            .map(Deployment.class::cast)
            .findFirst()
            .orElseThrow();
    return !Children.askedFor(design, there)
        && children.replacesPods(wanted, there, context)
        && !turns.take(there, informers.deployments());
  }

  private Optional<PickerDesign> design(
      Observation seen,
      @Nullable EndpointPicker picker,
      CompiledPool compiled,
      ServiceRef ref,
      Frontend frontend) {
    if (compiled.config() == null
        || compiled.document() == null
        || !(ref instanceof ServiceRef.Resolved service)) {
      return Optional.empty();
    }
    var spec = picker == null ? null : picker.getSpec();
    String image = spec == null ? null : spec.image();
    return Optional.of(
        new PickerDesign(
            seen.pool().getMetadata().getNamespace(),
            seen.pool().getMetadata().getName(),
            seen.pool().getMetadata().getUid(),
            service.name(),
            service.port(),
            compiled.document(),
            ConfigDocument.hash(compiled.config()),
            compiled.lastGood(),
            frontend,
            image == null || image.isBlank() ? settings.eppImage() : image,
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
      ServiceRef ref,
      Frontend frontend,
      @Nullable ConfigHash hash,
      List<Verdict> obstacles,
      List<ChildApplier.Failure> failures) {
    String picker = Names.child(seen.pool().getMetadata().getName());
    Verdict accepted = compiled.accepted();
    Verdict resolved =
        switch (ref) {
          case ServiceRef.Resolved service when hash == null && seen.service() == null ->
              Verdict.pending(
                  "Service %s is free, and is made when the pool is accepted; condition Accepted says what to do"
                      .formatted(service.name()));
          case ServiceRef.Resolved service -> provided(service, frontend, failures);
          case ServiceRef.Unresolved broken -> broken.resolvedRefs();
        };
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
        new PickerFacts.ModelCount((int) inConfig, rejected));
  }

  private static Stream<Verdict> obstacles(
      CompiledPool compiled, List<ChildApplier.Failure> failures) {
    return Stream.concat(
        Stream.ofNullable(compiled.tooLarge()), failures.stream().map(ChildApplier.Failure::why));
  }

  private static Verdict provided(
      ServiceRef.Resolved service, Frontend frontend, List<ChildApplier.Failure> failures) {
    return failures.stream()
        .filter(failure -> failure.child() instanceof Service)
        .map(ChildApplier.Failure::why)
        .findFirst()
        .map(why -> why.isFalse() ? Verdict.no(Reason.INVALID_EXTENSION_REF, why.message()) : why)
        .orElseGet(
            () ->
                Verdict.yes(
                    Reason.RESOLVED_REFS,
                    switch (frontend) {
                      case EXT_PROC -> "Service %s is provided".formatted(service.name());
                      case GATEWAY ->
                          "Service %s is provided: clients send their requests to its port %d over HTTP"
                              .formatted(service.name(), service.port());
                    }));
  }

  /** When to tell again what could not be told now; empty when all could. */
  private Optional<Duration> tell(
      Observation seen,
      Serving.Served served,
      CompiledPool compiled,
      PickerFacts facts,
      Attempts writes) {
    Map<ConditionType, Verdict> verdicts = PoolStatus.of(facts);
    EndpointPicker picker = served.picker();
    String parent = picker == null ? facts.picker() : picker.getMetadata().getName();
    AtomicReference<Optional<Duration>> again = new AtomicReference<>(Optional.empty());
    writes.attempt(
        () -> again.set(entries.write(seen.pool(), parent, PoolStatus.inEntry(verdicts))));
    for (JudgedModel judged : compiled.models()) {
      writes.attempt(
          () ->
              statuses.write(
                  judged.model(),
                  ModelStatus.of(
                      judged.accepted(), judged.resolvedRefs(), judged.runs(), verdicts)));
    }
    for (JudgedObject judged : compiled.upstream()) {
      writes.attempt(() -> tell(judged));
    }
    if (picker != null) {
      writes.attempt(() -> PickerTelling.winner(statuses, picker, facts, verdicts));
      for (EndpointPicker loser : served.losers()) {
        writes.attempt(() -> PickerTelling.loser(statuses, loser, picker));
      }
    }
    return again.get();
  }
}
