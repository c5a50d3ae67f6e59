package io.fairlead.stub.server;

import java.util.stream.DoubleStream;

/** How often values up to each of some bounds were seen, as Prometheus counts them. */
final class Histogram {

  private final String name;
  private final String help;
  private final double[] bounds;
  private final long[] counts;
  private double sum;

  Histogram(String name, String help, double... bounds) {
    this.name = name;
    this.help = help;
    this.bounds = bounds.clone();
    counts = new long[bounds.length + 1];
  }

  /** With the bounds 1, 2, 5, 10, 20 and so on, up to {@code most}. */
  static Histogram ofTokens(String name, String help, int most) {
    double[] bounds =
        DoubleStream.iterate(1, decade -> decade <= most, decade -> decade * 10)
            .flatMap(decade -> DoubleStream.of(decade, 2 * decade, 5 * decade))
            .filter(bound -> bound <= most)
            .toArray();
    return new Histogram(name, help, bounds);
  }

  void observe(double value) {
    int i = 0;
    while (i < bounds.length && value > bounds[i]) {
      i++;
    }
    counts[i]++;
    sum += value;
  }

  double sum() {
    return sum;
  }

  /** Writes it with labels that stand before and after {@code le}, as names are sorted. */
  void write(PageText page, String before, String after, double createdSeconds) {
    page.family(name, "histogram", help);
    long upTo = 0;
    for (int i = 0; i <= bounds.length; i++) {
      upTo += counts[i];
      String bound = i < bounds.length ? Double.toString(bounds[i]) : "+Inf";
      page.sample(name + "_bucket", before + ",le=\"" + bound + "\"," + after, (double) upTo);
    }
    page.sample(name + "_count", before + "," + after, (double) upTo);
    page.sample(name + "_sum", before + "," + after, sum);
    page.family(name + "_created", "gauge", "Since when it counts.");
    page.sample(name + "_created", before + "," + after, createdSeconds);
  }
}
