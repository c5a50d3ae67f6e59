package io.fairlead.core.scheduling;

import io.fairlead.core.view.PoolCandidates;

/** Candidates that an assigner has parted. */
public interface PartitionedCandidates extends PoolCandidates {

  /** Partition of a candidate's endpoint, from 0 to 63; 0 when there is no assigner. */
  int partition(int index);
}
