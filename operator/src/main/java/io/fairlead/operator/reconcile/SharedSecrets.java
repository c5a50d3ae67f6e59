package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.HandOverSpec;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the Secret that {@code spec.handOver} of an EndpointPicker names is there: pods that
 * start wait for it, and only their Events say so.
 *
 * <p>Safe to use from any thread.
 */
final class SharedSecrets {
  private final NamedObject<Secret> named;

  /**
   * @param nanos a clock that never jumps
   */
  SharedSecrets(LongSupplier nanos) {
    named =
        new NamedObject<>(
            Secret.class,
            "spec.handOver.secretName",
            Reason.INVALID_SECRET_REF,
            nanos,
            SharedSecrets::judge);
  }

  /**
   * Judges the Secret that the pool's picker names; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  NamedObject.Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    HandOverSpec asked =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().handOver();
    return named.judge(pool, picker, asked == null ? null : asked.secretName(), client);
  }

  private static NamedObject.Finding judge(NamedObject.Named named, @Nullable Secret secret) {
    String field = named.field();
    String create = command(named, Children.HAND_OVER_KEY);
    if (secret == null) {
      return wrong(
          "%s does not exist, and pods that start wait for it; create it: %s"
              .formatted(field, create));
    }
    return secret.getData() != null && secret.getData().containsKey(Children.HAND_OVER_KEY)
        ? NamedObject.Finding.RIGHT
        : wrong(
            "%s has no key %s, and pods that start wait for it; add it, or create another: %s"
                .formatted(field, Children.HAND_OVER_KEY, create));
  }

  /** Makes a Secret that holds something nobody can guess. */
  static String command(NamedObject.Named named, String key) {
    return "kubectl create secret generic %s --from-literal=%s=\"$(openssl rand -hex 32)\" --namespace %s"
        .formatted(named.name(), key, named.namespace());
  }

  /** A Secret that shared secrets or tokens should be in is not right. */
  static NamedObject.Finding wrong(String message) {
    return NamedObject.Finding.wrong(Verdict.no(Reason.INVALID_SECRET_REF, message));
  }
}
