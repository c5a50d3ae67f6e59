package io.fairlead.operator.observe;

import io.fairlead.crds.watch.WatchedKind;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import org.jspecify.annotations.Nullable;

/** What to tell of a kind that can't be read. */
final class KindProblem {
  private KindProblem() {}

  /** Null when it can be read, when the cluster has none, and before it is known. */
  static @Nullable Verdict of(WatchedKind kind) {
    if (kind.forbidden()) {
      return Verdict.no(
          Reason.PERMISSION_DENIED,
          "%s may not be listed in %s, so no object of it counts; grant list and watch to the operator's ServiceAccount"
              .formatted(kind.title(), kind.place()));
    }
    String failure = kind.failure();
    return failure == null
        ? null
        : Verdict.no(
            Reason.API_SERVER_ERROR,
            "%s cannot be listed in %s: %s; what is known of it stays, see to the API server or to what it names"
                .formatted(kind.title(), kind.place(), failure));
  }
}
