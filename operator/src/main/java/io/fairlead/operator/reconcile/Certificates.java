package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.fairlead.v1alpha1.TlsSpec;
import io.fairlead.crds.tls.CertificatePair;
import io.fairlead.operator.observe.ObjectNames;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whether the Secret that {@code spec.tls} of an EndpointPicker names holds a certificate and its
 * key. The Secret is asked for by its name: watching it would take the right to watch all Secrets.
 *
 * <p>Safe to use from any thread.
 */
final class Certificates {
  /** Kubelets take as long to bring a change to a pod. */
  static final Duration WHILE_RIGHT = Duration.ofMinutes(1);

  static final Duration WHILE_WRONG = Duration.ofSeconds(2);

  private static final int FORBIDDEN = 403;
  private static final Duration FORGOTTEN = Duration.ofHours(1);
  private static final List<String> KEYS = List.of("tls.crt", "tls.key");

  private final InstantSource clock;
  private final LongSupplier nanos;

  /** By UID of the pool. */
  private final Map<String, Look> looks = new HashMap<>();

  private record Look(String secret, @Nullable Verdict wrong, long at, Duration lasts) {}

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
   * @param clock by which certificates end
   * @param nanos a clock that never jumps
   */
  Certificates(InstantSource clock, LongSupplier nanos) {
    this.clock = clock;
    this.nanos = nanos;
  }

  /**
   * Judges the certificate of the pool's picker; asks the API server where that was not done
   * lately.
   *
   * @param pool its UID
   */
  Judged judge(String pool, @Nullable EndpointPicker picker, KubernetesClient client) {
    TlsSpec tls = picker == null || picker.getSpec() == null ? null : picker.getSpec().tls();
    String secret = tls == null ? null : tls.secretName();
    if (picker == null || secret == null) {
      return Judged.NOTHING;
    }
    long now = nanos.getAsLong();
    Look look = known(pool, secret, now);
    if (look == null) {
      look = look(picker, secret, client, now, last(pool, secret));
      remember(pool, look, now);
    }
    return new Judged(look.wrong(), look.lasts().minus(Duration.ofNanos(now - look.at())));
  }

  private synchronized @Nullable Look known(String pool, String secret, long now) {
    Look look = looks.get(pool);
    return look != null && look.secret().equals(secret) && now - look.at() < look.lasts().toNanos()
        ? look
        : null;
  }

  private synchronized void remember(String pool, Look look, long now) {
    looks.values().removeIf(old -> now - old.at() > FORGOTTEN.toNanos());
    looks.put(pool, look);
  }

  private synchronized @Nullable Verdict last(String pool, String secret) {
    Look look = looks.get(pool);
    return look != null && look.secret().equals(secret) ? look.wrong() : null;
  }

  /**
   * @param before what the last look came to
   */
  private Look look(
      EndpointPicker picker,
      String name,
      KubernetesClient client,
      long now,
      @Nullable Verdict before) {
    String namespace = picker.getMetadata().getNamespace();
    String field =
        "Secret %s/%s of spec.tls.secretName of EndpointPicker %s"
            .formatted(namespace, name, picker.getMetadata().getName());
    if (!ObjectNames.isOne(name)) {
      // It would be a part of a path: what is there may be of another namespace.
      return new Look(
          name,
          Verdict.no(
              Reason.INVALID_CERTIFICATE_REF,
              "%s cannot be: a name has a-z, 0-9, - and . and begins and ends with a letter or digit; correct it"
                  .formatted(field)),
          now,
          WHILE_RIGHT);
    }
    Instant today = clock.instant();
    try {
      Secret secret = client.secrets().inNamespace(namespace).withName(name).get();
      Optional<Verdict> wrong = wrong(field, name, secret);
      if (wrong.isPresent()) {
        return new Look(name, wrong.get(), now, WHILE_WRONG);
      }
      CertificatePair pair = pair(secret);
      Verdict untimely = untimely(field, pair, today);
      if (untimely != null) {
        return new Look(name, untimely, now, WHILE_WRONG);
      }
      Duration left = Duration.between(today, pair.end());
      return new Look(name, null, now, left.compareTo(WHILE_RIGHT) < 0 ? left : WHILE_RIGHT);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return new Look(
          name,
          Verdict.no(
              Reason.INVALID_CERTIFICATE_REF,
              "%s: tls.crt and tls.key are not a PEM certificate and its key: %s; pods that run keep the last good pair, and none that starts becomes ready. Put a pair there: %s"
                  .formatted(field, e.getMessage(), command(name))),
          now,
          WHILE_WRONG);
    } catch (KubernetesClientException e) {
      if (e.getCode() == FORBIDDEN) {
        // Whoever doesn't let the operator read Secrets goes without this condition.
        return new Look(name, null, now, WHILE_RIGHT);
      }
      // That the API server is in trouble says nothing of the Secret.
      return new Look(name, before, now, WHILE_WRONG);
    }
  }

  private static Optional<Verdict> wrong(String field, String name, @Nullable Secret secret) {
    if (secret == null) {
      return Optional.of(
          Verdict.no(
              Reason.INVALID_CERTIFICATE_REF,
              "%s does not exist, and pods that start wait for it; create it: %s"
                  .formatted(field, command(name))));
    }
    Map<String, String> data = secret.getData() == null ? Map.of() : secret.getData();
    List<String> missing = KEYS.stream().filter(key -> !data.containsKey(key)).toList();
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(
            Verdict.no(
                Reason.INVALID_CERTIFICATE_REF,
                "%s has no key %s; put the PEM certificate under tls.crt and its key under tls.key: %s"
                    .formatted(field, String.join(" and no key ", missing), command(name))));
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

  private static String command(String name) {
    return "kubectl create secret tls %s --cert=tls.crt --key=tls.key".formatted(name);
  }
}
