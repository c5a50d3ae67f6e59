package io.fairlead.stub.engine;

/**
 * What keeps an engine from taking exactly as long as the formula of its {@link EngineProfile}
 * says.
 *
 * @param kernelNoise standard deviation of the logarithm of a step's factor, 0 to 1: each forward
 *     pass takes a log-normal multiple, with a mean of 1, of what the formula says
 * @param graphPadding whether a step that only decodes costs as a batch of the next size for which
 *     there is a CUDA graph: 1, 2, 4 and the multiples of 8 up to 512
 * @param hostMillis what the CPU takes of each step beside the kernels, for scheduling, inputs and
 *     sampling, ms
 */
public record Imperfection(double kernelNoise, boolean graphPadding, double hostMillis) {

  /** As the formula says. */
  public static final Imperfection NONE = new Imperfection(0, false, 0);

  /**
   * All of it, in small amounts. Chosen, not measured: with the time of the CPU, steps of an 8B
   * model on an H100 take 1.1 times as long as its kernels.
   */
  public static final Imperfection REAL = new Imperfection(0.03, true, 0.6);

  private static final int GRAPH_STEP = 8;
  private static final int LARGEST_GRAPH = 512;
  private static final double MOST_HOST_MILLIS = 1e6;

  public Imperfection {
    if (!(kernelNoise >= 0 && kernelNoise <= 1)) {
      throw new IllegalArgumentException("kernelNoise: " + kernelNoise + " is not 0 to 1");
    }
    if (!(hostMillis >= 0 && hostMillis <= MOST_HOST_MILLIS)) {
      throw new IllegalArgumentException("hostMillis: " + hostMillis + " is not 0 to 1000000");
    }
  }

  /** The batch as which so many decoding sequences cost. */
  int batch(int decodes) {
    if (!graphPadding || decodes > LARGEST_GRAPH) {
      return decodes;
    }
    if (decodes <= GRAPH_STEP / 2) {
      // The next power of two.
      return decodes <= 2 ? decodes : GRAPH_STEP / 2;
    }
    return Math.ceilDiv(decodes, GRAPH_STEP) * GRAPH_STEP;
  }

  /** The factor of a step for which {@code gaussian} was drawn from the standard normal. */
  double factor(double gaussian) {
    return Math.exp(kernelNoise * gaussian - kernelNoise * kernelNoise / 2);
  }
}
