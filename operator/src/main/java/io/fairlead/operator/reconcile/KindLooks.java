package io.fairlead.operator.reconcile;

import io.fabric8.kubernetes.api.model.APIResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Whether the cluster has a kind. When one is deleted, all its objects are, and each of them looks
 * as if only it were.
 *
 * <p>Safe to use from any thread.
 */
final class KindLooks {
  private static final int FORBIDDEN = 403;

  private final LongSupplier nanos;
  private final Map<Class<? extends HasMetadata>, Answer> last = new HashMap<>();

  /** What the API server says of a kind. */
  enum Found {
    THERE,
    TERMINATING,
    MISSING,
    UNKNOWN;

    /** To be told of a pool; null where there is nothing to tell. */
    @Nullable Verdict why(Class<? extends HasMetadata> kind) {
      return switch (this) {
        case THERE, UNKNOWN -> null;
        case TERMINATING -> Denied.terminating(kind);
        case MISSING -> Denied.missing(kind);
      };
    }
  }

  private record Answer(Found found, long at) {}

  /**
   * @param nanos a clock that never jumps
   */
  KindLooks(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Asks, where nobody has of late; others that ask at the same time wait for the answer, too.
   *
   * @param fresh how old an answer is as good
   */
  synchronized Found find(
      Class<? extends HasMetadata> kind, Duration fresh, KubernetesClient client) {
    Answer answer = last.get(kind);
    if (answer == null || nanos.getAsLong() - answer.at() >= fresh.toNanos()) {
      answer = new Answer(ask(kind, client), nanos.getAsLong());
      last.put(kind, answer);
    }
    return answer.found();
  }

  private static Found ask(Class<? extends HasMetadata> kind, KubernetesClient client) {
    APIResourceList kinds;
    try {
      kinds = client.getApiResources(HasMetadata.getApiVersion(kind));
    } catch (KubernetesClientException e) {
      // Where discovery is forbidden, that the objects can be listed has to do.
      return e.getCode() == FORBIDDEN ? Found.THERE : Found.UNKNOWN;
    }
    String plural = HasMetadata.getPlural(kind);
    // Of a kind that is being deleted none can be made any more.
    return Stream.ofNullable(kinds)
        .flatMap(list -> list.getResources().stream())
        .filter(one -> one.getName().equals(plural))
        .map(one -> one.getVerbs().contains("create") ? Found.THERE : Found.TERMINATING)
        .findAny()
        .orElse(Found.MISSING);
  }
}
