package io.fairlead.core;

import java.util.Arrays;

/**
 * What scorers look at for each candidate of each decision, side by side: reading 10,000 numbers in
 * a row takes a tenth of the time of finding them in 10,000 objects. Places are those of the
 * eligible endpoints; an endpoint that changes writes itself.
 */
final class EndpointColumns {

  final int[] queueDepth;
  final double[] kvUsage;

  /** Numbers in the prefix index. */
  final int[] slot;

  EndpointColumns(int places) {
    queueDepth = new int[places];
    kvUsage = new double[places];
    slot = new int[places];
    Arrays.fill(kvUsage, Double.NaN);
  }
}
