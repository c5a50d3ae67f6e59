package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.autoscaling.v2.HorizontalPodAutoscaler;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fairlead.crds.compile.SchedulingText;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.EndpointPickerRef;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.children.Names;
import io.fairlead.operator.status.Verdict;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.EventSource;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The informers behind a pool's {@link Observation}; any change in them wakes the right pool. */
public final class ClusterView {
  private static final String BY_SERVICE = "service";
  private static final String BY_PICKER = "picker";

  private final IndexerResourceCache<InferencePool> pools;
  private final Watched<InferenceModel, InferencePool> models;
  private final Watched<EndpointPicker, InferencePool> pickers;
  private final Watched<Service, InferencePool> services;
  private final Watched<Pod, InferencePool> pods;
  private final Watched<Lease, InferencePool> leases;
  private final Watched<Deployment, InferencePool> deployments;
  private final List<Watched<? extends HasMetadata, InferencePool>> children;
  private final UpstreamSource upstream;
  private final SchedulingMaps schedulings;
  private final MonitorSource monitors;
  private final PoolsMadeAnew anew;
  private final PoolsCutOff poolsCutOff;
  private final Selectors selectors;
  private final boolean watchesAll;
  private final List<Orphans<?>> orphans;

  /**
   * Prepares the informers; the framework starts them.
   *
   * @param all pools that there are, of either group
   * @param orphaned null where others tell of what names no pool that is there
   */
  public ClusterView(
      EventSourceContext<InferencePool> context, Pools all, @Nullable Orphaned orphaned) {
    pools = context.getPrimaryCache();
    pools.addIndexers(
        Map.of(
            BY_SERVICE,
            pool -> serviceName(pool).map(name -> key(pool, name)).toList(),
            BY_PICKER,
            pool -> List.of(key(pool, Names.child(pool.getMetadata().getName())))));
    models =
        new Watched<>(
            InferenceModel.class,
            null,
            model -> keyOrNone(model, PoolNames.of(model)),
            model -> id(model, PoolNames.of(model)),
            context);
    pickers =
        new Watched<>(
            EndpointPicker.class,
            null,
            picker -> keyOrNone(picker, PoolNames.of(picker)),
            picker -> id(picker, PoolNames.of(picker)),
            context);
    // Services of others matter too: one may take the name that a pool refers to, or give it free.
    services =
        new Watched<>(
            Service.class,
            null,
            ClusterView::owner,
            service ->
                Stream.concat(
                        id(service, ownerName(service)).stream(),
                        Watched.ids(
                            pools.byIndex(
                                BY_SERVICE, key(service, service.getMetadata().getName())))
                            .stream())
                    .collect(Collectors.toUnmodifiableSet()),
            context);
    pods = byPicker(Pod.class, context);
    leases = byPicker(Lease.class, context);
    deployments = child(Deployment.class, context);
    children =
        List.of(
            child(ServiceAccount.class, context),
            child(RoleBinding.class, context),
            child(ConfigMap.class, context),
            deployments,
            child(PodDisruptionBudget.class, context),
            child(HorizontalPodAutoscaler.class, context),
            child(NetworkPolicy.class, context));
    upstream =
        new UpstreamSource(
            context,
            all,
            orphaned == null ? (object, still) -> Optional.empty() : orphaned::upstream);
    schedulings = new SchedulingMaps(context);
    monitors = new MonitorSource(context);
    anew = new PoolsMadeAnew(pools);
    selectors = new Selectors(pools, pickers);
    poolsCutOff = new PoolsCutOff(pools, context.getPrimaryResourceClass());
    watchesAll =
        InformerConfiguration.allNamespacesWatched(
            context.getControllerConfiguration().getEffectiveNamespaces());
    orphans =
        orphaned == null
            ? List.of()
            : List.of(
                new Orphans<>(models, PoolNames::of, all, orphaned::model),
                new Orphans<>(pickers, PoolNames::of, all, orphaned::picker));
  }

  /** To be handed to the framework. */
  public List<EventSource<?, InferencePool>> sources() {
    List<EventSource<?, InferencePool>> sources =
        new ArrayList<>(List.of(models, pickers, services, pods, leases));
    sources.addAll(children);
    sources.add(upstream);
    sources.add(schedulings);
    sources.add(monitors);
    sources.add(anew);
    sources.add(poolsCutOff);
    sources.add(selectors);
    sources.addAll(orphans);
    return sources;
  }

  /** Whether changes of InferenceModels in the namespace are seen just now. */
  public boolean seesModels(@Nullable String namespace) {
    return models.isWatching(namespace);
  }

  /** Whether changes of EndpointPickers in the namespace are seen just now. */
  public boolean seesPickers(@Nullable String namespace) {
    return pickers.isWatching(namespace);
  }

  /** Kinds of which not every object of the namespace is known. */
  public List<Class<? extends HasMetadata>> unseen(@Nullable String namespace) {
    return watched()
        .filter(kind -> !kind.synced(namespace))
        .<Class<? extends HasMetadata>>map(Watched::resourceType)
        .toList();
  }

  /** Kinds of which every object of the namespace was known once, and changes are seen no more. */
  public List<Class<? extends HasMetadata>> cutOff(@Nullable String namespace) {
    return Stream.<Class<? extends HasMetadata>>concat(
            Stream.of(poolsCutOff.kind()).filter(_ -> poolsCutOff.in(namespace)),
            watched().filter(kind -> kind.isCutOff(namespace)).map(Watched::resourceType))
        .toList();
  }

  /**
   * Where to ask why a kind is not seen in a namespace: as its informer asks.
   *
   * @return null for all namespaces at once
   */
  public @Nullable String askedIn(@Nullable String namespace) {
    return watchesAll ? null : namespace;
  }

  private Stream<Watched<? extends HasMetadata, InferencePool>> watched() {
    return Stream.concat(Stream.of(models, pickers, services, pods, leases), children.stream());
  }

  /** Whether nothing was heard yet of kinds that the cluster need not have, nor could have been. */
  public boolean isAwaited(@Nullable String namespace) {
    return upstream.isAwaited(namespace) || monitors.isAwaited(namespace);
  }

  /** Whether PodMonitors can be made in the namespace. */
  public boolean monitorable(@Nullable String namespace) {
    return monitors.readable(namespace);
  }

  /** Whether it is not known which PodMonitors there are in the namespace, nor has been yet. */
  public boolean monitorsUnknown(@Nullable String namespace) {
    return monitors.isUnknown(namespace);
  }

  /**
   * Why it is not known which PodMonitors there are in the namespace; null when it is, or not yet
   * known why.
   */
  public @Nullable Verdict monitorProblem(@Nullable String namespace) {
    return monitors.problem(namespace);
  }

  /** Whether {@link #deployments} are still watched: not in a shutdown. */
  public boolean seesDeployments() {
    return deployments.isRunning();
  }

  /** The Deployments of all pickers; no copies of them. */
  public List<Deployment> deployments() {
    return deployments.list().filter(Ownership::ours).filter(Ownership::isApplied).toList();
  }

  /**
   * To be called when the framework has forgotten a pool that was deleted: looks at the one that
   * was made anew in its place, if there is one.
   */
  public void wakeIfMadeAnew(ResourceID pool) {
    anew.wake(pool);
  }

  /** To be called when a pool is looked at: its selector may take in other pools' pickers now. */
  public void selects(InferencePool pool) {
    selectors.seen(pool);
  }

  /** To be called when a pool is gone: its selector takes in nothing any more. */
  public void selectsNoMore(InferencePool pool) {
    selectors.gone(pool);
  }

  /**
   * What {@code spec.schedulingFrom} of the pool's picker leads to.
   *
   * @param picker null when the pool has none, or needs none any more
   * @return empty while it is not known; the pool is woken when it is
   */
  public Optional<SchedulingText> scheduling(InferencePool pool, @Nullable EndpointPicker picker) {
    return schedulings.of(ResourceID.fromResource(pool), picker);
  }

  /** Everything that the informers hold about a pool. */
  public Observation observe(InferencePool pool) {
    String namespace = pool.getMetadata().getNamespace();
    String name = pool.getMetadata().getName();
    List<HasMetadata> owned = new ArrayList<>();
    children.forEach(kind -> owned.addAll(kind.find(namespace, name)));
    owned.addAll(services.find(namespace, name));
    owned.addAll(monitors.of(pool));
    owned.removeIf(child -> !Ownership.by(pool, child) && !Ownership.byOlder(pool, child));
    List<EndpointPicker> claims = pickers.find(namespace, name);
    return new Observation(
        pool,
        claims.stream().filter(picker -> !picker.isMarkedForDeletion()).toList(),
        claims.stream().filter(HasMetadata::isMarkedForDeletion).toList(),
        models.find(namespace, name),
        upstream.of(namespace, name),
        upstream.superseded(namespace, name),
        upstream.unread(namespace),
        serviceName(pool)
            .flatMap(service -> services.get(new ResourceID(service, namespace)).stream())
            .findFirst()
            .orElse(null),
        owned,
        pods.find(namespace, Names.child(name)).stream()
            .filter(pod -> !hasEnded(pod) && Ownership.byDeployment(pod, Names.child(name)))
            .toList(),
        leases.find(namespace, Names.child(name)),
        claims.stream().anyMatch(Selectors::givesLabels) ? selectors.ofOthers(pool) : Map.of(),
        selectors.selectsAnotherPicker(pool));
  }

  /** One that was evicted, say, is there for long, with the last that it reported. */
  private static boolean hasEnded(Pod pod) {
    String phase = pod.getStatus() == null ? null : pod.getStatus().getPhase();
    return "Failed".equals(phase) || "Succeeded".equals(phase);
  }

  private static <R extends HasMetadata> Watched<R, InferencePool> child(
      Class<R> kind, EventSourceContext<InferencePool> context) {
    return new Watched<>(
        kind,
        Labels.CHILDREN_SELECTOR,
        ClusterView::owner,
        child -> id(child, ownerName(child)),
        context);
  }

  private <R extends HasMetadata> Watched<R, InferencePool> byPicker(
      Class<R> kind, EventSourceContext<InferencePool> context) {
    return new Watched<>(
        kind,
        Labels.PICKER,
        object -> key(object, picker(object)),
        object -> Watched.ids(pools.byIndex(BY_PICKER, key(object, picker(object)))),
        context);
  }

  private static String picker(HasMetadata object) {
    return String.valueOf(object.getMetadata().getLabels().get(Labels.PICKER));
  }

  private static @Nullable String owner(HasMetadata child) {
    return keyOrNone(child, ownerName(child));
  }

  private static @Nullable String ownerName(HasMetadata child) {
    return Ownership.pool(child).map(owner -> owner.getName()).orElse(null);
  }

  private static Stream<String> serviceName(InferencePool pool) {
    EndpointPickerRef ref = pool.getSpec() == null ? null : pool.getSpec().endpointPickerRef();
    return ref == null || !ServiceRef.isService(ref)
        ? Stream.empty()
        : Stream.ofNullable(ref.name());
  }

  private static Set<ResourceID> id(HasMetadata object, @Nullable String pool) {
    return pool == null
        ? Set.of()
        : Set.of(new ResourceID(pool, object.getMetadata().getNamespace()));
  }

  private static @Nullable String keyOrNone(HasMetadata object, @Nullable String name) {
    return name == null ? null : key(object, name);
  }

  private static String key(HasMetadata object, String name) {
    return Watched.key(object.getMetadata().getNamespace(), name);
  }
}
