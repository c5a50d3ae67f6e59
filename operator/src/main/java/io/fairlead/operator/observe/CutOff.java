package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.javaoperatorsdk.operator.api.config.informer.InformerConfiguration;
import io.javaoperatorsdk.operator.health.InformerHealthIndicator;
import io.javaoperatorsdk.operator.health.InformerWrappingEventSourceHealthIndicator;
import io.javaoperatorsdk.operator.processing.event.Event;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * In which namespaces a kind is watched no more: an informer whose watch is refused tries again for
 * ever, and says so to nobody. That is logged when it begins and ends.
 */
final class CutOff {
  private static final Logger LOG = LoggerFactory.getLogger(CutOff.class);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(
          5, TimeUnit.SECONDS, task -> Thread.ofVirtual().name("watches").start(task));

  private final Class<? extends HasMetadata> kind;
  private final InformerWrappingEventSourceHealthIndicator<?> informers;
  private final Consumer<String> turned;

  /** Namespaces whose watch was not there at the last look, and at the last two. */
  private final Set<String> missed = ConcurrentHashMap.newKeySet();

  private final Set<String> unwatched = ConcurrentHashMap.newKeySet();

  /** Those of the latter of which all objects were known once. */
  private final Set<String> cutOff = ConcurrentHashMap.newKeySet();

  private volatile boolean stopped;

  /**
   * @param turned told of the key of an informer that is cut off, or is no longer; see {@link
   *     #events}
   */
  CutOff(
      Class<? extends HasMetadata> kind,
      InformerWrappingEventSourceHealthIndicator<?> informers,
      Consumer<String> turned) {
    this.kind = kind;
    this.informers = informers;
    this.turned = turned;
  }

  /** Looks every 5 s from now on. */
  void start() {
    LATER.execute(
        () -> {
          if (!stopped) {
            informers.informerHealthIndicators().forEach(this::look);
            start();
          }
        });
  }

  void stop() {
    stopped = true;
  }

  private void look(String namespace, InformerHealthIndicator informer) {
    boolean lasts = !informer.isWatching() && !missed.add(namespace);
    if (informer.isWatching()) {
      missed.remove(namespace);
      if (unwatched.remove(namespace)) {
        LOG.info("{} is watched again ({})", HasMetadata.getKind(kind), namespace);
      }
    } else if (lasts && unwatched.add(namespace)) {
      LOG.warn(
          "{} of {} is not watched ({}), and changes of it are not seen: the API server is away, lacks the kind, or refuses to let the operator list and watch it",
          HasMetadata.getKind(kind),
          HasMetadata.getApiVersion(kind),
          namespace);
    }
    boolean isCutOff = lasts && informer.hasSynced();
    if (isCutOff ? cutOff.add(namespace) : endsAt(informer) && cutOff.remove(namespace)) {
      turned.accept(namespace);
    }
  }

  private static boolean endsAt(InformerHealthIndicator informer) {
    return informer.isWatching() || !informer.hasSynced();
  }

  /**
   * Whether all objects of a namespace were known once, and for some 10 s nobody has told of
   * changes.
   */
  boolean in(@Nullable String namespace) {
    return cutOff.stream().anyMatch(key -> isOf(key, namespace));
  }

  /** Wakes those of the objects that an informer of this key is of. */
  static Stream<Event> events(String key, Stream<? extends HasMetadata> objects) {
    return objects
        .filter(object -> isOf(key, object.getMetadata().getNamespace()))
        .map(object -> new Event(ResourceID.fromResource(object)));
  }

  private static boolean isOf(String key, @Nullable String namespace) {
    return key.equals(namespace) || InformerConfiguration.allNamespacesWatched(Set.of(key));
  }
}
