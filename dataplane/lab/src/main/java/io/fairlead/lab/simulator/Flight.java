package io.fairlead.lab.simulator;

import io.fairlead.lab.workload.RequestShape;

/** One request on its way. */
final class Flight {

  final RequestShape shape;
  final long arrivedAt;
  final SimulatedPicker picker;

  /** The picker's name for it. */
  long ticket = -1;

  long firstTokenAt = -1;
  int cachedTokens;

  Flight(RequestShape shape, long arrivedAt, SimulatedPicker picker) {
    this.shape = shape;
    this.arrivedAt = arrivedAt;
    this.picker = picker;
  }
}
