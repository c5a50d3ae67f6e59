package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.access.ConsoleToken;
import io.fairlead.crds.fairlead.v1alpha1.ConsoleSpec;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.SecretKeyRef;
import io.fairlead.operator.children.Children;
import io.fairlead.operator.status.Reason;
import java.util.Base64;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the Secret that {@code spec.console} of an EndpointPicker names holds a token. Pickers
 * serve without, and show their console to their own host alone.
 *
 * <p>Safe to use from any thread.
 */
final class ConsoleTokens {
  private final NamedObject<Secret> named;

  /**
   * @param nanos a clock that never jumps
   */
  ConsoleTokens(LongSupplier nanos) {
    named =
        new NamedObject<>(
            Secret.class,
            "spec.console.tokenSecretRef",
            Reason.INVALID_SECRET_REF,
            nanos,
            ConsoleTokens::judge);
  }

  /**
   * Judges the Secret that the pool's picker names; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  NamedObject.Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    SecretKeyRef asked = picker == null ? null : asked(picker);
    return named.judge(pool, picker, asked == null ? null : asked.name(), client);
  }

  private static @Nullable SecretKeyRef asked(EndpointPicker picker) {
    ConsoleSpec console = picker.getSpec() == null ? null : picker.getSpec().console();
    return console == null || !console.isEnabled() ? null : console.tokenSecretRef();
  }

  private static NamedObject.Finding judge(NamedObject.Named named, @Nullable Secret secret) {
    SecretKeyRef asked = asked(named.picker());
    String key = asked == null ? Children.CONSOLE_TOKEN_KEY : Children.consoleTokenKey(asked);
    String without = "the console answers its pod's own host alone until then";
    String create = SharedSecrets.command(named, key);
    if (secret == null) {
      return SharedSecrets.wrong(
          "%s does not exist, and %s; create it: %s".formatted(named.field(), without, create));
    }
    String token = secret.getData() == null ? null : secret.getData().get(key);
    if (token == null) {
      return SharedSecrets.wrong(
          "%s has no key %s, and %s; add it, or create another: %s"
              .formatted(named.field(), key, without, create));
    }
    return ConsoleToken.of(Base64.getDecoder().decode(token)) != null
        ? NamedObject.Finding.RIGHT
        : SharedSecrets.wrong(
            "%s: the token under %s must have from %d to %d bytes, and %s; put another there: %s"
                .formatted(
                    named.field(),
                    key,
                    ConsoleToken.SHORTEST,
                    ConsoleToken.LONGEST,
                    without,
                    create));
  }
}
