package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.TlsSpec;
import io.fairlead.crds.tls.CertificatePair;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the Secret that {@code spec.tls} of an EndpointPicker names holds a certificate and its
 * key.
 *
 * <p>Safe to use from any thread.
 */
final class Certificates {
  private static final List<String> KEYS = List.of("tls.crt", "tls.key");

  /** Types of Secrets that may hold a pair. */
  private static final Set<String> USUAL = Set.of("kubernetes.io/tls", "Opaque");

  private final InstantSource clock;
  private final NamedObject<Secret> named;

  /**
   * @param clock by which certificates end
   * @param nanos a clock that never jumps
   */
  Certificates(InstantSource clock, LongSupplier nanos) {
    this.clock = clock;
    named =
        new NamedObject<>(
            Secret.class,
            "spec.tls.secretName",
            Reason.INVALID_CERTIFICATE_REF,
            nanos,
            this::judge);
  }

  /**
   * Judges the certificate of the pool's picker; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  NamedObject.Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    TlsSpec tls = picker == null || picker.getSpec() == null ? null : picker.getSpec().tls();
    return named.judge(pool, picker, tls == null ? null : tls.secretName(), client);
  }

  private NamedObject.Finding judge(NamedObject.Named named, @Nullable Secret secret) {
    String field = named.field();
    Instant today = clock.instant();
    Optional<Verdict> wrong = wrong(named, secret);
    if (secret == null || wrong.isPresent()) {
      return NamedObject.Finding.wrong(wrong.orElseThrow());
    }
    try {
      CertificatePair pair = pair(secret);
      Verdict untimely = untimely(field, pair, today);
      if (untimely != null) {
        return NamedObject.Finding.wrong(untimely);
      }
      Duration left = Duration.between(today, pair.end());
      return left.compareTo(NamedObject.WHILE_RIGHT) < 0
          ? new NamedObject.Finding(null, left)
          : NamedObject.Finding.RIGHT;
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return NamedObject.Finding.wrong(
          Verdict.no(
              Reason.INVALID_CERTIFICATE_REF,
              "%s: tls.crt and tls.key are not a PEM certificate and its key: %s; pods that run keep the last good pair, and none that starts becomes ready. Put a pair there: %s"
                  .formatted(field, e.getMessage(), anew(named))));
    }
  }

  private static Optional<Verdict> wrong(NamedObject.Named named, @Nullable Secret secret) {
    if (secret == null) {
      return Optional.of(
          Verdict.no(
              Reason.INVALID_CERTIFICATE_REF,
              "%s does not exist, and pods that start wait for it; create it: %s"
                  .formatted(named.field(), command(named))));
    }
    Map<String, String> data = secret.getData() == null ? Map.of() : secret.getData();
    List<String> missing = KEYS.stream().filter(key -> !data.containsKey(key)).toList();
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Verdict.no(
                Reason.INVALID_CERTIFICATE_REF,
                "%s %shas no key %s; put the PEM certificate under tls.crt and its key under tls.key: %s"
                    .formatted(
                        named.field(),
                        type(secret),
                        String.join(" and no key ", missing),
                        anew(named))));
  }

  private static CertificatePair pair(Secret secret) throws GeneralSecurityException {
    Base64.Decoder decoder = Base64.getDecoder();
    return CertificatePair.read(
        decoder.decode(secret.getData().get(KEYS.getFirst())),
        decoder.decode(secret.getData().get(KEYS.getLast())));
  }

  private static @Nullable Verdict untimely(String field, CertificatePair pair, Instant today) {
    if (!today.isBefore(pair.end())) {
      return Verdict.no(
          Reason.CERTIFICATE_EXPIRED,
          "%s: the certificate ended at %s, and clients that check it refuse the port; renew it"
              .formatted(field, pair.end()));
    }
    return today.isBefore(pair.begin())
        ? Verdict.no(
            Reason.INVALID_CERTIFICATE_REF,
            "%s: the certificate begins at %s, and clients that check it refuse the port until then; use one that is valid"
                .formatted(field, pair.begin()))
        : null;
  }

  /** Of one that is for something else: that says more than what it lacks. */
  private static String type(Secret secret) {
    return secret.getType() == null || USUAL.contains(secret.getType())
        ? ""
        : "is of type %s and ".formatted(secret.getType());
  }

  /** One that is there can't be created, and its type never changes. */
  private static String anew(NamedObject.Named named) {
    return "kubectl delete secret %s --namespace %s; %s"
        .formatted(named.name(), named.namespace(), command(named));
  }

  private static String command(NamedObject.Named named) {
    return "kubectl create secret tls %s --cert=tls.crt --key=tls.key --namespace %s"
        .formatted(named.name(), named.namespace());
  }
}
