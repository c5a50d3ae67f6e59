package io.fairlead.core.plugins.cost;

/**
 * What is assumed of an engine before it has shown anything, worked out from what is printed on the
 * hardware and in the model's card: no timing of any engine is in it, so it is right by a factor of
 * two at best, and {@link LearnedSpeeds} corrects it. One share of the peak is assumed for all
 * hardware, as nobody knows better of hardware that is still to come.
 *
 * <p>A step reads all weights once from memory, and computes two operations per weight and token
 * (the roofline model: Williams, Waterman and Patterson, 2009).
 */
final class EnginePrior {

  /** Of the peak, that dense arithmetic reaches; assumed. */
  private static final double COMPUTE = 0.5;

  /** Of the peak, that reading weights and caches reaches; assumed. */
  private static final double BANDWIDTH = 0.6;

  /** Of the memory, left to weights and caches when the engine has taken its workspace; assumed. */
  private static final double MEMORY = 0.88;

  /** Of the weights of a mixture of experts, that some token of a batch needs; assumed. */
  private static final double EXPERTS_IN_USE = 0.5;

  /** Milliseconds for 200 MB of an adapter at a gigabyte a second; assumed. */
  private static final double ADAPTER_LOAD = 200;

  /** Bytes a second from server to server, of a network of 200 Gbit/s; assumed. */
  private static final double NETWORK = 25e9;

  /** What engines are started with unless told otherwise. */
  private static final int SEATS = 256;

  private static final double MILLIS = 1e3;

  /**
   * Hardware by its data sheet.
   *
   * @param teraflops dense, of 16 bit numbers; of 8 bit ones it does twice as much
   * @param gigabytesPerSecond of its memory
   * @param gigabytes of its memory
   * @param batchedTokens of a step, that engines take on such hardware unless told otherwise
   */
  record Accelerator(
      double teraflops, double gigabytesPerSecond, double gigabytes, int batchedTokens) {
    static final Accelerator H200 = new Accelerator(989, 4_800, 141, 8_192);
    static final Accelerator H100 = new Accelerator(989, 3_350, 80, 8_192);
    static final Accelerator A100 = new Accelerator(312, 2_039, 80, 8_192);
    static final Accelerator L40S = new Accelerator(362, 864, 48, 2_048);
    static final Accelerator L4 = new Accelerator(121, 300, 24, 2_048);
  }

  /**
   * A model by its card.
   *
   * @param weights all, in billions
   * @param active those that one token needs, in billions
   * @param attention operations per pair of tokens, those of all layers and heads
   * @param cacheBytes of the KV cache per token
   * @param spread whether a token's cache is spread over the accelerators; else each has all of it
   */
  record Model(double weights, double active, double attention, double cacheBytes, boolean spread) {
    static final Model LLAMA_8B = dense(8.03, 32, 32, 8);
    static final Model QWEN_32B = dense(32.8, 64, 64, 8);
    static final Model LLAMA_70B = dense(70.6, 80, 64, 8);

    /** Latent attention: 512 + 64 numbers of a token in each layer, whatever the heads. */
    static final Model DEEPSEEK_V3 =
        new Model(671, 37, 2.0 * 61 * 128 * (192 + 128), 2.0 * 61 * (512 + 64), false);

    private static final int HEAD = 128;

    /** Heads of 128 numbers, keys and values of 16 bits. */
    private static Model dense(double weights, int layers, int heads, int cachedHeads) {
      double attention = 4.0 * layers * heads * HEAD;
      return new Model(weights, weights, attention, 4.0 * layers * cachedHeads * HEAD, true);
    }
  }

  private EnginePrior() {}

  /**
   * Of a model on some accelerators that share its work evenly.
   *
   * @param weightBytes 2, or 1 where they are quantised, and computed with, in 8 bits
   */
  static EngineClass of(Model model, Accelerator accelerator, int count, int weightBytes) {
    double operations = accelerator.teraflops * 1e12 * COMPUTE * count / MILLIS;
    double tokenOperations = operations * (weightBytes == 1 ? 2 : 1);
    double bytes = accelerator.gigabytesPerSecond * 1e9 * BANDWIDTH * count / MILLIS;
    double weights = model.weights * 1e9 * weightBytes;
    boolean experts = model.active < model.weights;
    double readWeights = weights * (experts ? EXPERTS_IN_USE : 1) / bytes;
    double token = 2 * model.active * 1e9 / tokenOperations;
    double free = accelerator.gigabytes * 1e9 * MEMORY * count - weights;
    double perToken = model.cacheBytes * (model.spread ? 1 : count);
    return new EngineClass(
        readWeights / 2,
        token,
        model.attention / operations,
        readWeights,
        token / 2,
        perToken / bytes,
        (long) (free / perToken),
        accelerator.batchedTokens,
        SEATS,
        ADAPTER_LOAD,
        model.cacheBytes / NETWORK * MILLIS);
  }
}
