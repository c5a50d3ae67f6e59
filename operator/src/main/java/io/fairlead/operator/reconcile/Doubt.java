package io.fairlead.operator.reconcile;

import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * It is not known just now whether what is not seen is gone, or was meant to go.
 *
 * @param left when to look again
 * @param why what to tell of the pool; null for nothing
 */
record Doubt(Duration left, @Nullable Verdict why) {}
