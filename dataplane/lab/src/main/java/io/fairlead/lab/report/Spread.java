package io.fairlead.lab.report;

import io.fairlead.lab.simulator.TimeSeries.Line;
import java.util.ArrayList;
import java.util.List;

/**
 * Many lines as three: at each look the lowest, the mean and the highest of those that have a
 * value, NaN where none has.
 */
record Spread(List<Double> lows, List<Double> means, List<Double> highs) {

  static Spread of(List<Line> lines) {
    int length = lines.stream().mapToInt(line -> line.values().size()).min().orElse(0);
    var spread = new Spread(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    for (int i = 0; i < length; i++) {
      double low = Double.POSITIVE_INFINITY;
      double high = Double.NEGATIVE_INFINITY;
      double sum = 0;
      int count = 0;
      for (Line line : lines) {
        double value = line.values().get(i);
        if (!Double.isNaN(value)) {
          low = Math.min(low, value);
          high = Math.max(high, value);
          sum += value;
          count++;
        }
      }
      spread.lows.add(count == 0 ? Double.NaN : low);
      spread.means.add(count == 0 ? Double.NaN : sum / count);
      spread.highs.add(count == 0 ? Double.NaN : high);
    }
    return spread;
  }
}
