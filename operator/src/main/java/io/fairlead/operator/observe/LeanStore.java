package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ManagedFieldsEntry;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.informers.cache.BasicItemStore;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What an informer of all namespaces holds, less which fields of an object are others', and which
 * of its status are ours, and what kubectl notes of it for itself: a good part of all that was
 * held, and nobody here asks. Who the others are stays. What is asked for is kept once where it is
 * the same in many.
 *
 * <p>Objects are found by a key, too. An informer's own index takes an object out before it puts
 * the changed one in, so that who reads it just then takes the object for deleted; here an object
 * is missing at no moment.
 *
 * @param <R> kind that is watched
 */
public final class LeanStore<R extends HasMetadata> extends BasicItemStore<R> {
  private static final String OURS = "fairlead";
  private static final String STATUS = "status";

  /** Where kubectl keeps the whole object once more. */
  private static final String LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

  private final Function<R, @Nullable String> under;
  private final FieldSets sets = new FieldSets();

  /** By what objects are found: the names by which they are held, or were until a moment ago. */
  private final Map<String, Set<String>> index = new ConcurrentHashMap<>();

  /** Holds nothing yet, and finds objects by their names alone. */
  public LeanStore() {
    this(object -> null);
  }

  /**
   * Holds nothing yet.
   *
   * @param under by what an object is found; null for none
   */
  public LeanStore(Function<R, @Nullable String> under) {
    super(Cache::metaNamespaceKeyFunc);
    this.under = under;
  }

  /** Objects that are found by this, in no order. */
  Stream<R> find(String wanted) {
    return index.getOrDefault(wanted, Set.of()).stream()
        .map(this::get)
        .filter(object -> object != null && wanted.equals(under.apply(object)));
  }

  @Override
  public @Nullable R put(String key, R object) {
    slim(object.getMetadata());
    String now = under.apply(object);
    if (now != null) {
      index.compute(now, (any, names) -> with(names, key));
    }
    R before = super.put(key, object);
    if (before != null) {
      forget(key, under.apply(before), now);
    }
    return before;
  }

  private void slim(ObjectMeta metadata) {
    if (metadata.getAnnotations() != null) {
      metadata.getAnnotations().remove(LAST_APPLIED);
    }
    for (ManagedFieldsEntry fields : metadata.getManagedFields()) {
      if (!isAsked(fields)) {
        fields.setFieldsV1(null);
      } else if (fields.getFieldsV1() != null) {
        sets.share(fields.getFieldsV1());
      }
    }
  }

  @Override
  public @Nullable R remove(String key) {
    R before = super.remove(key);
    if (before != null) {
      forget(key, under.apply(before), null);
    }
    return before;
  }

  private static Set<String> with(@Nullable Set<String> names, String one) {
    Set<String> more = names == null ? ConcurrentHashMap.newKeySet(1) : names;
    more.add(one);
    return more;
  }

  private void forget(String key, @Nullable String before, @Nullable String now) {
    if (before != null && !before.equals(now)) {
      index.computeIfPresent(
          before,
          (any, names) -> {
            names.remove(key);
            return names.isEmpty() ? null : names;
          });
    }
  }

  /**
   * Whether somebody here asks: what we applied of an object decides on what is applied next, and
   * what others say in its status on whether we do.
   */
  private static boolean isAsked(ManagedFieldsEntry fields) {
    String part = fields.getSubresource();
    boolean ours = String.valueOf(fields.getManager()).startsWith(OURS);
    return ours ? part == null || part.isEmpty() : STATUS.equals(part);
  }
}
