package io.fairlead.lab.workload;

import java.util.SplittableRandom;

/**
 * How a quantity is spread. Strict mathematics throughout: a draw has the same bits on every
 * machine.
 */
@FunctionalInterface
interface Spread {

  /** One value. */
  double draw(SplittableRandom random);

  /** One value as a whole number of tokens, 1 or more. */
  default int tokens(SplittableRandom random) {
    return (int) Math.max(1, Math.round(draw(random)));
  }

  /** This, with what lies outside of a range set to the nearer end. */
  default Spread clipped(double least, double most) {
    return random -> Math.clamp(draw(random), least, most);
  }

  /** Always the same. */
  static Spread fixed(double value) {
    return random -> value;
  }

  /** Memoryless. */
  static Spread exponential(double mean) {
    return random -> -mean * StrictMath.log1p(-random.nextDouble());
  }

  /** The bell, not cut off. */
  static Spread normal(double mean, double sd) {
    return random -> mean + sd * gaussian(random);
  }

  /** Skewed to the right; mean and sd are those of the variable itself, not of its logarithm. */
  static Spread logNormal(double mean, double sd) {
    double variance = StrictMath.log1p(sd / mean * (sd / mean));
    double mu = StrictMath.log(mean) - variance / 2;
    double sigma = StrictMath.sqrt(variance);
    return random -> StrictMath.exp(mu + sigma * gaussian(random));
  }

  /** Gamma with this mean and this ratio of sd to mean; above 1 it comes in bursts. */
  static Spread gamma(double mean, double cv) {
    double shape = 1 / (cv * cv);
    double scale = mean / shape;
    return random -> scale * standardGamma(random, shape);
  }

  /** Whole numbers from 1 on: how often one tries if each try is the last one in {@code mean}. */
  static Spread geometric(double mean) {
    double log = StrictMath.log1p(-1 / mean);
    return random -> 1 + Math.floor(StrictMath.log1p(-random.nextDouble()) / log);
  }

  /** Two kinds of things: the second with probability {@code share}. */
  static Spread either(Spread first, Spread second, double share) {
    return random -> (random.nextDouble() < share ? second : first).draw(random);
  }

  private static double gaussian(SplittableRandom random) {
    double radius = StrictMath.sqrt(-2 * StrictMath.log1p(-random.nextDouble()));
    return radius * StrictMath.cos(2 * Math.PI * random.nextDouble());
  }

  /** Marsaglia and Tsang's method, which wants a shape of 1 or more, and the step down below it. */
  private static double standardGamma(SplittableRandom random, double shape) {
    if (shape < 1) {
      double above = standardGamma(random, shape + 1);
      return above * StrictMath.pow(1 - random.nextDouble(), 1 / shape);
    }
    double d = shape - 1.0 / 3;
    double c = 1 / StrictMath.sqrt(9 * d);
    while (true) {
      double x = gaussian(random);
      double v = (1 + c * x) * (1 + c * x) * (1 + c * x);
      if (v > 0
          && StrictMath.log1p(-random.nextDouble())
              < x * x / 2 + d - d * v + d * StrictMath.log(v)) {
        return d * v;
      }
    }
  }
}
