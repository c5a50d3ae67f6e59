package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.HandOverSpec;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.observe.ObjectNames;
import io.fairlead.operator.reconcile.Certificates.Judged;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the Secret that {@code spec.handOver} of an EndpointPicker names is there: pods that
 * start wait for it, and only their Events say so. It is asked for by its name, as certificates
 * are.
 *
 * <p>Safe to use from any thread.
 */
final class SharedSecrets {
  private static final int FORBIDDEN = 403;
  private static final Duration FORGOTTEN = Duration.ofHours(1);

  private final LongSupplier nanos;

  /** By UID of the pool. */
  private final Map<String, Look> looks = new HashMap<>();

  private record Look(String secret, @Nullable Verdict wrong, long at, Duration lasts) {}

  /**
   * @param nanos a clock that never jumps
   */
  SharedSecrets(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Judges the Secret that the pool's picker names; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    HandOverSpec asked =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().handOver();
    String secret = asked == null ? null : asked.secretName();
    if (picker == null || secret == null) {
      return Judged.NOTHING;
    }
    long now = nanos.getAsLong();
    Look last = last(pool, secret);
    if (last == null || now - last.at() >= last.lasts().toNanos()) {
      last = look(picker, secret, client, now, last);
      remember(pool, last, now);
    }
    return new Judged(last.wrong(), last.lasts().minus(Duration.ofNanos(now - last.at())));
  }

  private synchronized @Nullable Look last(String pool, String secret) {
    Look look = looks.get(pool);
    return look != null && look.secret().equals(secret) ? look : null;
  }

  private synchronized void remember(String pool, Look look, long now) {
    looks.values().removeIf(old -> now - old.at() > FORGOTTEN.toNanos());
    looks.put(pool, look);
  }

  private static Look look(
      EndpointPicker picker,
      String name,
      KubernetesClient client,
      long now,
      @Nullable Look before) {
    String namespace = picker.getMetadata().getNamespace();
    String field =
        "Secret %s/%s of spec.handOver.secretName of EndpointPicker %s"
            .formatted(namespace, name, picker.getMetadata().getName());
    if (!ObjectNames.isOne(name)) {
      // It would be a part of a path.
      return wrong(name, field + " cannot be: correct the name", now, Certificates.WHILE_RIGHT);
    }
    try {
      Secret secret = client.secrets().inNamespace(namespace).withName(name).get();
      String create =
          "kubectl create secret generic %s --from-literal=%s=\"$(openssl rand -hex 32)\""
              .formatted(name, Children.HAND_OVER_KEY);
      if (secret == null) {
        return wrong(
            name,
            "%s does not exist, and pods that start wait for it; create it: %s"
                .formatted(field, create),
            now,
            Certificates.WHILE_WRONG);
      }
      if (secret.getData() == null || !secret.getData().containsKey(Children.HAND_OVER_KEY)) {
        return wrong(
            name,
            "%s has no key %s, and pods that start wait for it; add it, or create another: %s"
                .formatted(field, Children.HAND_OVER_KEY, create),
            now,
            Certificates.WHILE_WRONG);
      }
      return new Look(name, null, now, Certificates.WHILE_RIGHT);
    } catch (KubernetesClientException e) {
      return e.getCode() == FORBIDDEN
          // Whoever doesn't let the operator read Secrets goes without this condition.
          ? new Look(name, null, now, Certificates.WHILE_RIGHT)
          // That the API server is in trouble says nothing of the Secret.
          : new Look(name, before == null ? null : before.wrong(), now, Certificates.WHILE_WRONG);
    }
  }

  private static Look wrong(String name, String message, long now, Duration lasts) {
    return new Look(name, Verdict.no(Reason.INVALID_SECRET_REF, message), now, lasts);
  }
}
