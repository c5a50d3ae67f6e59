package io.fairlead.lab.simulator;

import java.util.List;

/**
 * Something looked at again and again in the course of a run.
 *
 * @param stepSeconds simulated time between two looks; the first is at 0
 * @param lines what was looked at, all of the same length
 */
public record TimeSeries(double stepSeconds, List<Line> lines) {

  public TimeSeries {
    lines = List.copyOf(lines);
  }

  /**
   * One thing that was looked at.
   *
   * @param name an endpoint, or a band
   * @param values one each time
   */
  public record Line(String name, List<Double> values) {

    public Line {
      values = List.copyOf(values);
    }
  }
}
