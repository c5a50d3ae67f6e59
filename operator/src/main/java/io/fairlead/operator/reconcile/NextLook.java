package io.fairlead.operator.reconcile;

import io.fairlead.crds.v1.InferencePool;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * When a pool is to be looked at again though nothing has changed: at the earliest of what is asked
 * for while it is looked at now.
 *
 * <p>Not safe to use from several threads.
 */
final class NextLook {
  private @Nullable Duration wait;
  private boolean leavesRest;

  /** After this time, or earlier where that is asked for later on. */
  static NextLook in(Duration wait) {
    NextLook next = new NextLook();
    next.within(wait);
    return next;
  }

  /** Asks for one no later than this; null asks for none. */
  void within(@Nullable Duration longest) {
    if (longest != null && (wait == null || longest.compareTo(wait) < 0)) {
      wait = longest;
    }
  }

  /** The same; empty asks for none. */
  void within(Optional<Duration> longest) {
    longest.ifPresent(this::within);
  }

  /** The framework has one waiting already, which does what this look leaves undone. */
  void leaveRest() {
    leavesRest = true;
  }

  /** Whether nothing is left for another look. */
  boolean isNone() {
    return wait == null && !leavesRest;
  }

  /** What to tell the framework. */
  UpdateControl<InferencePool> control() {
    return wait == null
        ? UpdateControl.noUpdate()
        : UpdateControl.<InferencePool>noUpdate().rescheduleAfter(wait);
  }
}
