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

  int size() {
    return size;
  }

  double get(int index) {
    return values[index];
  }

  double sum(int from, int to) {
    return Arrays.stream(values, from, to).sum();
  }

  Distribution distribution() {
    return Distribution.of(Arrays.copyOf(values, size));
  }
}
