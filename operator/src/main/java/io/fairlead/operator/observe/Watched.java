package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.api.config.informer.InformerEventSourceConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.EventSourceContext;
import io.javaoperatorsdk.operator.health.InformerHealthIndicator;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.javaoperatorsdk.operator.processing.event.source.IndexerResourceCache;
import io.javaoperatorsdk.operator.processing.event.source.informer.InformerEventSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * An informer whose objects concern primaries by a key. It also wakes the primary that an object
 * has turned away from: the framework wakes only the one that it turned to.
 *
 * @param <R> kind that is watched
 * @param <P> kind that is reconciled
 */
public final class Watched<R extends HasMetadata, P extends HasMetadata>
    extends InformerEventSource<R, P> {
  private final Function<R, @Nullable String> key;
  private final Function<R, Set<ResourceID>> primaries;
  private final List<Consumer<R>> listeners = new CopyOnWriteArrayList<>();

  private final IndexerResourceCache<P> wakened;

  private final CutOff cutOff;

  /** Null where informers of single namespaces, which can't share one, have stores of their own. */
  private final @Nullable LeanStore<R> store;

  /**
   * Watches the namespaces of the controller.
   *
   * @param selector of labels; null for every object of the kind
   * @param key under which an object is found again; null to leave it out
   * @param primaries whom a change of the object concerns
   */
  public Watched(
      Class<R> kind,
      @Nullable String selector,
      Function<R, @Nullable String> key,
      Function<R, Set<ResourceID>> primaries,
      EventSourceContext<P> context) {
    LeanStore<R> shared =
        InformerConfiguration.allNamespacesWatched(
                context.getControllerConfiguration().getEffectiveNamespaces())
            ? new LeanStore<>(key)
            : null;
    super(config(kind, selector, primaries, shared, context), context);
    this.key = key;
    this.primaries = primaries;
    this.store = shared;
    this.wakened = context.getPrimaryCache();
    this.cutOff = new CutOff(kind, this, this::wake);
  }

  private static <R extends HasMetadata, P extends HasMetadata>
      InformerEventSourceConfiguration<R> config(
          Class<R> kind,
          @Nullable String selector,
          Function<R, Set<ResourceID>> primaries,
          @Nullable LeanStore<R> store,
          EventSourceContext<P> context) {
    InformerEventSourceConfiguration.Builder<R> builder =
        InformerEventSourceConfiguration.from(kind, context.getPrimaryResourceClass())
            .withName(kind.getSimpleName())
            .withSecondaryToPrimaryMapper(primaries::apply)
            .withNamespacesInheritedFromController();
    if (store != null) {
      builder = builder.withItemStore(store);
    }
    return (selector == null ? builder : builder.withLabelSelector(selector)).build();
  }

  @Override
  public synchronized void start() {
    super.start();
    cutOff.start();
  }

  @Override
  public synchronized void stop() {
    cutOff.stop();
    super.stop();
  }

  private void wake(String informer) {
    CutOff.events(informer, wakened.list()).forEach(getEventHandler()::handleEvent);
  }

  /**
   * Whether all objects of a namespace were known once, and for some 10 s nobody has told of
   * changes. Primaries are woken when that begins and ends.
   */
  boolean isCutOff(@Nullable String namespace) {
    return cutOff.in(namespace);
  }

  /** Whether changes in a namespace are seen at this moment. */
  boolean isWatching(@Nullable String namespace) {
    return isWatching(this, namespace);
  }

  static boolean isWatching(
      InformerWrappingEventSourceHealthIndicator<?> watch, @Nullable String namespace) {
    Map<String, InformerHealthIndicator> informers = watch.informerHealthIndicators();
    InformerHealthIndicator one = informers.get(namespace);
    return one == null
        ? informers.values().stream().allMatch(InformerHealthIndicator::isWatching)
        : one.isWatching();
  }

  /** To be told of each object that comes, changes or goes; must not block. */
  public void listen(Consumer<R> listener) {
    listeners.add(listener);
  }

  @Override
  public void onAdd(R object) {
    super.onAdd(object);
    listeners.forEach(listener -> listener.accept(object));
  }

  @Override
  public void onUpdate(R before, R after) {
    super.onUpdate(before, after);
    listeners.forEach(listener -> listener.accept(after));
    Set<ResourceID> now = primaries.apply(after);
    primaries.apply(before).stream()
        .filter(id -> !now.contains(id))
        .forEach(id -> getEventHandler().handleEvent(new Event(id)));
  }

  @Override
  public void onDelete(R object, boolean unknown) {
    super.onDelete(object, unknown);
    listeners.forEach(listener -> listener.accept(object));
  }

  /**
   * Whether all objects of a namespace are known. Where they are not, because the API server is
   * slow or refuses, nothing may be decided on what is missing.
   */
  public boolean synced(@Nullable String namespace) {
    return synced(this, namespace);
  }

  static boolean synced(
      InformerWrappingEventSourceHealthIndicator<?> watch, @Nullable String namespace) {
    Map<String, InformerHealthIndicator> informers = watch.informerHealthIndicators();
    InformerHealthIndicator one = informers.get(namespace);
    return one == null
        ? informers.values().stream().allMatch(InformerHealthIndicator::hasSynced)
        : one.hasSynced();
  }

  /**
   * Objects under {@code name} in {@code namespace}. Without a store of ours every object of the
   * namespace is looked at: in the informer's index one is missing for a moment whenever it
   * changes. There is none before the framework starts this.
   */
  public List<R> find(@Nullable String namespace, String name) {
    String wanted = key(namespace, name);
    if (store != null) {
      return store.find(wanted).toList();
    }
    if (manager() == null) {
      return List.of();
    }
    return list(namespace, object -> wanted.equals(key.apply(object))).toList();
  }

  /** The form of a key. */
  public static String key(@Nullable String namespace, String name) {
    return namespace + "/" + name;
  }

  /** Identities of these objects. */
  public static Set<ResourceID> ids(List<? extends HasMetadata> primaries) {
    return primaries.stream().map(ResourceID::fromResource).collect(Collectors.toUnmodifiableSet());
  }
}
