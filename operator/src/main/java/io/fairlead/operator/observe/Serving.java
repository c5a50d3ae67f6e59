package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.Service;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.EndpointPickerRef;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whether a pool is ours to serve, and by whose wish. */
public sealed interface Serving {

  /** Not ours: it gets no children and no status. */
  record NotOurs() implements Serving {}

  /**
   * Ours.
   *
   * @param picker carries the settings; null for a pool served with defaults
   * @param losers pickers that claim the pool too and are refused
   */
  record Served(@Nullable EndpointPicker picker, List<EndpointPicker> losers) implements Serving {
    public Served {
      losers = List.copyOf(losers);
    }
  }

  /** Oldest first, then by name: the order in which claims win. */
  Comparator<EndpointPicker> CLAIMS =
      Comparator.comparing((EndpointPicker p) -> p.getMetadata().getCreationTimestamp())
          .thenComparing(p -> p.getMetadata().getName());

  /**
   * Decides for one pool.
   *
   * @param adopt whether pools whose Service nobody else provides are served without being claimed
   */
  static Serving decide(Observation seen, boolean adopt) {
    List<EndpointPicker> claims = seen.pickers().stream().sorted(CLAIMS).toList();
    if (!claims.isEmpty()) {
      return new Served(claims.getFirst(), claims.subList(1, claims.size()));
    }
    return adopt && unserved(seen) ? new Served(null, List.of()) : new NotOurs();
  }

  private static boolean unserved(Observation seen) {
    EndpointPickerRef ref = seen.ref();
    if (ref == null || !ServiceRef.isService(ref)) {
      return false;
    }
    Service service = seen.service();
    return service == null
        || Ownership.by(seen.pool(), service)
        || Ownership.byPredecessor(seen.pool(), service);
  }
}
