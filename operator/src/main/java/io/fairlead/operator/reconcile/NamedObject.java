package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.DnsSubdomain;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The Secret, say, that one field of EndpointPickers names. It is asked for by its name, and no
 * more often than needed: watching it would take the right to watch all Secrets.
 *
 * <p>Safe to use from any thread.
 *
 * @param <T> kind of what is named
 */
final class NamedObject<T extends HasMetadata> {
  /** Kubelets take as long to bring a change to a pod. */
  static final Duration WHILE_RIGHT = Duration.ofMinutes(1);

  static final Duration WHILE_WRONG = Duration.ofSeconds(2);

  private static final int FORBIDDEN = 403;
  private static final Duration FORGOTTEN = Duration.ofHours(1);

  private final Class<T> kind;
  private final String path;
  private final Reason reason;
  private final LongSupplier nanos;
  private final Rules<T> rules;

  /** By UID of the pool. */
  private final Map<String, Look> looks = new HashMap<>();

  /**
   * @param generation of the EndpointPicker: whoever has edited it looks for what it says now
   */
  private record Look(String name, @Nullable Long generation, Finding found, long at) {
    boolean isOf(EndpointPicker picker, String named) {
      return name.equals(named) && Objects.equals(generation, picker.getMetadata().getGeneration());
    }
  }

  /**
   * What a look came to.
   *
   * @param wrong as the pool's ResolvedRefs; null when nothing is known to be wrong
   * @param again when to look again; null when there is nothing to look at
   */
  record Judged(@Nullable Verdict wrong, @Nullable Duration again) {
    static final Judged NOTHING = new Judged(null, null);
  }

  /**
   * What an object is found to be.
   *
   * @param wrong null when it is as it should be
   * @param lasts how long that is believed
   */
  record Finding(@Nullable Verdict wrong, Duration lasts) {
    static final Finding RIGHT = new Finding(null, WHILE_RIGHT);

    static Finding wrong(Verdict why) {
      return new Finding(why, WHILE_WRONG);
    }
  }

  /**
   * What is named.
   *
   * @param field to begin a message with: the object, and which field of what names it
   * @param name of the object
   * @param picker that names it
   */
  record Named(String field, String name, EndpointPicker picker) {
    String namespace() {
      return picker.getMetadata().getNamespace();
    }
  }

  /**
   * Says what an object should be.
   *
   * @param <T> its kind
   */
  @FunctionalInterface
  interface Rules<T> {
    /**
     * Judges an object.
     *
     * @param object null where there is none of this name
     */
    Finding judge(Named named, @Nullable T object);
  }

  /**
   * @param kind of what the field names
   * @param path of the field
   * @param reason of a name that can't be one
   * @param nanos a clock that never jumps
   */
  NamedObject(Class<T> kind, String path, Reason reason, LongSupplier nanos, Rules<T> rules) {
    this.kind = kind;
    this.path = path;
    this.reason = reason;
    this.nanos = nanos;
    this.rules = rules;
  }

  /**
   * Judges what the pool's picker names; asks the API server where that was not done lately.
   *
   * @param pool its UID
   * @param name null where the field names none
   */
  Judged judge(
      String pool,
      @Nullable EndpointPicker picker,
      @Nullable String name,
      KubernetesClient client) {
    if (picker == null || name == null) {
      return Judged.NOTHING;
    }
    long now = nanos.getAsLong();
    Look last = last(pool);
    Look look = last != null && last.isOf(picker, name) ? last : null;
    if (look == null || now - look.at() >= look.found().lasts().toNanos()) {
      Finding before = last == null || !last.name().equals(name) ? null : last.found();
      look =
          new Look(
              name, picker.getMetadata().getGeneration(), look(picker, name, client, before), now);
      remember(pool, look, now);
    }
    Finding found = look.found();
    return new Judged(found.wrong(), found.lasts().minus(Duration.ofNanos(now - look.at())));
  }

  private synchronized @Nullable Look last(String pool) {
    return looks.get(pool);
  }

  private synchronized void remember(String pool, Look look, long now) {
    looks.values().removeIf(old -> now - old.at() > FORGOTTEN.toNanos());
    looks.put(pool, look);
  }

  private Finding look(
      EndpointPicker picker, String name, KubernetesClient client, @Nullable Finding before) {
    String namespace = picker.getMetadata().getNamespace();
    String field =
        "%s %s/%s of %s of EndpointPicker %s"
            .formatted(
                HasMetadata.getKind(kind), namespace, name, path, picker.getMetadata().getName());
    if (!DnsSubdomain.isOne(name)) {
      // It would be a part of a path: what is there may be of another namespace.
      return new Finding(
          Verdict.no(
              reason,
              "%s cannot be: a name has a-z, 0-9, - and . and begins and ends with a letter or digit; correct it"
                  .formatted(field)),
          WHILE_RIGHT);
    }
    try {
      return rules.judge(
          new Named(field, name, picker),
          client.resources(kind).inNamespace(namespace).withName(name).get());
    } catch (KubernetesClientException e) {
      return e.getCode() == FORBIDDEN
          // Whoever doesn't let the operator read it goes without this condition.
          ? Finding.RIGHT
          // That the API server is in trouble says nothing of the object.
          : new Finding(before == null ? null : before.wrong(), WHILE_WRONG);
    }
  }
}
