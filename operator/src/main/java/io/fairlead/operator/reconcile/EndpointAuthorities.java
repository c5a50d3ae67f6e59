package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.EndpointTlsSpec;
import io.fairlead.crds.tls.CertificateAuthorities;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Base64;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the ConfigMap or Secret that {@code spec.endpointTls} of an EndpointPicker names holds
 * authorities: a picker that starts without doesn't stay up, and only its log says why.
 *
 * <p>Safe to use from any thread.
 */
final class EndpointAuthorities {
  private final NamedObject<ConfigMap> maps;
  private final NamedObject<Secret> secrets;

  /**
   * @param nanos a clock that never jumps
   */
  EndpointAuthorities(LongSupplier nanos) {
    maps =
        new NamedObject<>(
            ConfigMap.class,
            "spec.endpointTls.caConfigMap",
            Reason.INVALID_CA_CERTIFICATE_REF,
            nanos,
            (named, map) ->
                judge(
                    named.field(),
                    command("configmap", named),
                    map,
                    map == null ? null : bytes(map)));
    secrets =
        new NamedObject<>(
            Secret.class,
            "spec.endpointTls.caSecret",
            Reason.INVALID_CA_CERTIFICATE_REF,
            nanos,
            (named, secret) ->
                judge(
                    named.field(),
                    command("secret generic", named),
                    secret,
                    secret == null ? null : decoded(secret.getData())));
  }

  /**
   * Judges the authorities of the pool's picker; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  NamedObject.Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    EndpointTlsSpec tls =
        picker == null || picker.getSpec() == null ? null : picker.getSpec().endpointTls();
    return tls == null
        ? NamedObject.Judged.NOTHING
        : tls.caConfigMap() != null
            ? maps.judge(pool, picker, tls.caConfigMap(), client)
            : secrets.judge(pool, picker, tls.caSecret(), client);
  }

  private static NamedObject.Finding judge(
      String field, String create, @Nullable HasMetadata object, byte @Nullable [] authorities) {
    if (object == null) {
      return wrong(
          "%s does not exist, and pods that start fail until it does; create it: %s"
              .formatted(field, create));
    }
    if (authorities == null) {
      return wrong(
          "%s has no key %s, and pods that start fail until it has; put the PEM certificates of the authorities there: %s"
              .formatted(field, CertificateAuthorities.KEY, create));
    }
    try {
      var _ = CertificateAuthorities.read(authorities);
      return NamedObject.Finding.RIGHT;
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return wrong(
          "%s: %s holds no PEM certificates: %s; pods that run keep the last good ones, and none that starts stays up. Put them there: %s"
              .formatted(field, CertificateAuthorities.KEY, e.getMessage(), create));
    }
  }

  /** {@code kubectl} puts what is no UTF-8, as a comment may not be, beside what is. */
  private static byte @Nullable [] bytes(ConfigMap map) {
    String text = map.getData() == null ? null : map.getData().get(CertificateAuthorities.KEY);
    return text == null ? decoded(map.getBinaryData()) : text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte @Nullable [] decoded(@Nullable Map<String, String> data) {
    String text = data == null ? null : data.get(CertificateAuthorities.KEY);
    return text == null ? null : Base64.getDecoder().decode(text);
  }

  private static NamedObject.Finding wrong(String message) {
    return NamedObject.Finding.wrong(Verdict.no(Reason.INVALID_CA_CERTIFICATE_REF, message));
  }

  private static String command(String kind, NamedObject.Named named) {
    return "kubectl create %s %s --from-file=%s --namespace %s"
        .formatted(kind, named.name(), CertificateAuthorities.KEY, named.namespace());
  }
}
