package io.fairlead.core.plugins.cost;

import io.fairlead.plugin.Parameters;
import java.util.List;
import java.util.Map;

/**
 * How long one kind of engine takes, for one model on one kind of hardware. A step of a batch takes
 * {@code max(d0, a + b * chunk) + c * sum of chunk * (position + chunk / 2) + d1 * B + d2 * K}
 * milliseconds, B being the sequences past their first token and K the tokens in the KV cache.
 *
 * @param a milliseconds of any prefill step
 * @param b milliseconds per new prompt token
 * @param c milliseconds per pair of a new prompt token and one before it
 * @param d0 milliseconds of any decode step
 * @param d1 milliseconds per sequence in it
 * @param d2 milliseconds per token in the KV cache
 * @param kvTokens size of the KV cache where the server doesn't tell
 * @param maxBatchedTokens most tokens of one step
 * @param maxSequences most sequences in a batch; further ones wait for one to end
 * @param adapterLoad milliseconds to load a LoRA adapter
 * @param perFullStep one over the milliseconds of a step full of new prompt tokens: asked for with
 *     each candidate, which a division would slow down
 */
record EngineClass(
    double a,
    double b,
    double c,
    double d0,
    double d1,
    double d2,
    long kvTokens,
    int maxBatchedTokens,
    int maxSequences,
    double adapterLoad,
    double perFullStep) {

  /** Works out {@code perFullStep}. */
  EngineClass(
      double a,
      double b,
      double c,
      double d0,
      double d1,
      double d2,
      long kvTokens,
      int maxBatchedTokens,
      int maxSequences,
      double adapterLoad) {
    this(
        a,
        b,
        c,
        d0,
        d1,
        d2,
        kvTokens,
        maxBatchedTokens,
        maxSequences,
        adapterLoad,
        1 / (a + b * maxBatchedTokens));
  }

  /** What is assumed of hardware that nothing is known of: its speed is learned, as a factor. */
  static final String DEFAULT = "8b-h100";

  private static final int BATCH = 8_192;
  private static final int SMALL_BATCH = 2_048;
  private static final int SEATS = 256;
  private static final double LOAD = 300;

  /** Fitted to published kernel timings; named by model size and hardware. */
  private static final Map<String, EngineClass> BUILT_IN =
      Map.of(
          DEFAULT,
          new EngineClass(
              3.86, 0.01836, 8.19e-7, 6.40, 0.0108, 4.13e-5, 420_000, BATCH, SEATS, LOAD),
          "8b-h100-fp8",
          new EngineClass(
              3.21, 0.01365, 7.93e-7, 4.40, 0.0118, 4.12e-5, 420_000, BATCH, SEATS, LOAD),
          "8b-a100",
          new EngineClass(
              7.75, 0.05474, 2.95e-6, 11.5, 0.0368, 8.21e-5, 430_000, BATCH, SEATS, LOAD),
          "8b-l40s",
          new EngineClass(
              13.5, 0.05996, 3.10e-6, 22.2, 0.0394, 1.85e-4, 190_000, SMALL_BATCH, SEATS, LOAD),
          "8b-l4",
          new EngineClass(40, 0.18, 9e-6, 64, 0.12, 5.3e-4, 34_000, SMALL_BATCH, SEATS, LOAD),
          "32b-2xh100",
          new EngineClass(
              9.63, 0.04595, 1.67e-6, 13.6, 0.0247, 4.22e-5, 307_328, BATCH, SEATS, LOAD),
          "70b-4xh100",
          new EngineClass(
              9.10, 0.05870, 1.03e-6, 15.2, 0.0330, 2.64e-5, 400_000, BATCH, SEATS, LOAD),
          "deepseek-v3-8xh200",
          new EngineClass(
              38.5, 0.04263, 7.9e-7, 16.7, 0.120, 1.21e-5, 500_000, BATCH, SEATS, LOAD));

  /** Milliseconds of a prefill of {@code uncached} tokens; {@code attention} as in Prefills. */
  double prefill(double steps, double uncached, double attention) {
    return a * steps + b * uncached + c * attention;
  }

  /** Milliseconds of one decode step. */
  double decode(double sequences, double kv) {
    return d0 + d1 * sequences + d2 * kv;
  }

  /** How much longer a prefill step takes for the sequences that decode beside it, from 1 up. */
  double interference(double sequences, double kv) {
    return 1 + (d1 * sequences + d2 * kv) * perFullStep;
  }

  /** A class of the user's own, each setting absent being that of {@code base}. */
  static EngineClass read(Parameters settings) {
    String baseName = settings.choice("base", DEFAULT, names());
    EngineClass base = builtIn(baseName);
    return new EngineClass(
        settings.number("prefillStepMs", base.a, 0.001, 1e6),
        settings.number("prefillTokenMs", base.b, 1e-6, 1e3),
        settings.number("attentionMs", base.c, 0, 1),
        settings.number("decodeStepMs", base.d0, 0.001, 1e6),
        settings.number("decodeSequenceMs", base.d1, 0, 1e3),
        settings.number("decodeKvTokenMs", base.d2, 0, 1),
        settings.integer("kvTokens", (int) base.kvTokens, 1, Integer.MAX_VALUE),
        settings.integer("maxBatchedTokens", base.maxBatchedTokens, 1, 1 << 24),
        settings.integer("maxSequences", base.maxSequences, 1, 1 << 20),
        settings.number("adapterLoadMs", base.adapterLoad, 0, 1e6));
  }

  static EngineClass builtIn(String name) {
    EngineClass known = BUILT_IN.get(name);
    if (known == null) {
      throw new IllegalArgumentException("no engine class \"" + name + "\"");
    }
    return known;
  }

  /** Names of the built-in classes. */
  static List<String> names() {
    return BUILT_IN.keySet().stream().sorted().toList();
  }
}
