package io.fairlead.lab.simulator;

import java.util.Arrays;

/** A growing list of numbers. */
final class Samples {

  private double[] values = new double[1_024];
  private int size;

  void add(double value) {
    if (size == values.length) {
      values = Arrays.copyOf(values, size * 2);
    }
    values[size++] = value;
  }

  Distribution distribution() {
    return Distribution.of(Arrays.copyOf(values, size));
  }
}
