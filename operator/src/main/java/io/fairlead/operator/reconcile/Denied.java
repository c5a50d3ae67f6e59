package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.ConditionType;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Asks why kinds cannot be watched: an informer doesn't tell. */
final class Denied {
  private static final int FORBIDDEN = 403;

  private Denied() {}

  /**
   * The conditions of a pool in this namespace.
   *
   * @return empty when nothing is denied, so that waiting will do
   */
  static Optional<Map<ConditionType, Verdict>> verdicts(
      List<Class<? extends HasMetadata>> unseen,
      @Nullable String namespace,
      KubernetesClient client) {
    List<String> refusals = new ArrayList<>();
    for (Class<? extends HasMetadata> kind : unseen) {
      try {
        client
            .resources(kind)
            .inNamespace(namespace)
            .list(new ListOptionsBuilder().withLimit(1L).build());
      } catch (KubernetesClientException e) {
        if (e.getCode() == FORBIDDEN) {
          refusals.add(e.getStatus() == null ? e.getMessage() : e.getStatus().getMessage());
        }
      }
    }
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
}
