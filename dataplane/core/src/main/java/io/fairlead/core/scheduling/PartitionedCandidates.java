package io.fairlead.core.scheduling;

import io.fairlead.core.external.Advice;
import io.fairlead.core.view.PoolCandidates;
import org.jspecify.annotations.Nullable;

/** The candidates of a request, as the scheduler sees them. */
public interface PartitionedCandidates extends PoolCandidates {

  /** Where a scheduler outside of the process wants the request; null where none has said. */
  @Nullable Advice advice();

  /** {@link Advice#identity} of a candidate's name. */
  long identity(int index);

  /** Partition of a candidate's endpoint, from 0 to 63; 0 when there is no assigner. */
  int partition(int index);
}
