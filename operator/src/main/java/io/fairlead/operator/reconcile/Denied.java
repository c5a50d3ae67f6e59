package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks why kinds cannot be watched: an informer doesn't tell. One answer does for all pools of a
 * namespace.
 *
 * <p>Safe to use from any thread.
 */
final class Denied {
  private static final int FORBIDDEN = 403;

  private final LongSupplier nanos;
  private final Map<Place, Answer> answers = new ConcurrentHashMap<>();

  private record Place(Class<? extends HasMetadata> kind, String namespace) {}

  /**
   * @param refusal null when it is not denied
   */
  private record Answer(@Nullable String refusal, long at) {}

  /**
   * @param nanos a clock that never jumps
   */
  Denied(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * The conditions of a pool in this namespace.
   *
   * @return empty when nothing is denied, so that waiting will do
   */
  Optional<Map<ConditionType, Verdict>> verdicts(
      List<Class<? extends HasMetadata>> unseen, String namespace, KubernetesClient client) {
    List<String> refusals =
        unseen.stream()
            .map(kind -> refusal(kind, namespace, client))
            .flatMap(Optional::stream)
            .toList();
    if (refusals.isEmpty()) {
      return Optional.empty();
    }
    Verdict denied =
        Verdict.no(
            Reason.PERMISSION_DENIED,
            "%s; grant list and watch to the operator's ServiceAccount"
                .formatted(String.join("; ", refusals)));
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(
        ConditionType.ACCEPTED,
        Verdict.pending("The pool is judged when the operator may see all that belongs to it"));
    verdicts.put(ConditionType.PROGRAMMED, denied);
    verdicts.put(ConditionType.READY, denied);
    return Optional.of(verdicts);
  }

  private Optional<String> refusal(
      Class<? extends HasMetadata> kind, String namespace, KubernetesClient client) {
    // Others that ask at the same time wait for the answer instead of asking, too.
    Answer answer =
        answers.compute(
            new Place(kind, namespace),
            (place, last) ->
                last != null && nanos.getAsLong() - last.at() < PoolReconciler.LOOK_AGAIN.toNanos()
                    ? last
                    : new Answer(ask(kind, namespace, client), nanos.getAsLong()));
    return Optional.ofNullable(answer.refusal());
  }

  private static @Nullable String ask(
      Class<? extends HasMetadata> kind, String namespace, KubernetesClient client) {
    try {
      client
          .resources(kind)
          .inNamespace(namespace)
          .list(new ListOptionsBuilder().withLimit(1L).build());
      return null;
    } catch (KubernetesClientException e) {
      if (e.getCode() != FORBIDDEN) {
        return null;
      }
      return e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage();
    }
  }
}
