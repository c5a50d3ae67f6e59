package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.Service;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.v1.EndpointPickerRef;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Whether a pool is ours to serve, and by whose wish. */
public sealed interface Serving {

  /** Not ours: it gets no children and no status. */
  record NotOurs() implements Serving {}

  /**
   * Not known yet: somebody may be about to provide the pool's Service.
   *
   * @param left how long to leave it to others
   */
  record Undecided(Duration left) implements Serving {}

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
   * @param adoption which pools are served without being claimed
   * @param grace how long such a pool is left to others, unless a label says that it is ours
   * @param known asked, where that decides, how long it has been left to them; not its age, which
   *     clocks that differ make whatever they like
   */
  static Serving decide(
      Observation seen, Adoption adoption, Duration grace, Supplier<Duration> known) {
    List<EndpointPicker> claims = seen.pickers().stream().sorted(CLAIMS).toList();
    if (!claims.isEmpty()) {
      return new Served(claims.getFirst(), claims.subList(1, claims.size()));
    }
    if (!wanted(seen, adoption) || !unserved(seen)) {
      return new NotOurs();
    }
    Served served = new Served(null, List.of());
    if (isLabelled(seen) || !seen.own().isEmpty() || seen.service() != null) {
      return served;
    }
    Duration left = grace.minus(known.get());
    return left.isPositive() ? new Undecided(left) : served;
  }

  private static boolean wanted(Observation seen, Adoption adoption) {
    return switch (adoption) {
      case ALL -> true;
      case LABELLED -> isLabelled(seen);
      case NONE -> false;
    };
  }

  private static boolean isLabelled(Observation seen) {
    Map<String, String> labels = seen.pool().getMetadata().getLabels();
    return labels != null && "true".equals(labels.get(Adoption.LABEL));
  }

  private static boolean unserved(Observation seen) {
    EndpointPickerRef ref = seen.ref();
    if (ref == null || !ServiceRef.isService(ref)) {
      return false;
    }
    Service service = seen.service();
    // One of another pool of ours is told: its author believes that it is served.
    return service == null
        || Ownership.isOrBecomes(seen.pool(), service)
        || Ownership.ours(service);
  }
}
