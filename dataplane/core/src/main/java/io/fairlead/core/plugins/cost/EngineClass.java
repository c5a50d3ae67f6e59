package io.fairlead.core.plugins.cost;

import io.fairlead.core.plugins.cost.EnginePrior.Accelerator;
import io.fairlead.core.plugins.cost.EnginePrior.Model;
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
 * @param transfer milliseconds that a token in the KV cache takes to another server
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
    double transfer,
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
      double adapterLoad,
      double transfer) {
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
        transfer,
        1 / (a + b * maxBatchedTokens));
  }

  /** What is assumed of hardware that nothing is known of: its speed is learned, as a factor. */
  static final String DEFAULT = "8b-h100";

  /** Named by model size and hardware. */
  private static final Map<String, EngineClass> BUILT_IN =
      Map.of(
          DEFAULT,
          EnginePrior.of(Model.LLAMA_8B, Accelerator.H100, 1, 2),
          "8b-h100-fp8",
          EnginePrior.of(Model.LLAMA_8B, Accelerator.H100, 1, 1),
          "8b-a100",
          EnginePrior.of(Model.LLAMA_8B, Accelerator.A100, 1, 2),
          "8b-l40s",
          EnginePrior.of(Model.LLAMA_8B, Accelerator.L40S, 1, 2),
          "8b-l4",
          EnginePrior.of(Model.LLAMA_8B, Accelerator.L4, 1, 2),
          "32b-2xh100",
          EnginePrior.of(Model.QWEN_32B, Accelerator.H100, 2, 2),
          "70b-4xh100",
          EnginePrior.of(Model.LLAMA_70B, Accelerator.H100, 4, 2),
          "deepseek-v3-8xh200",
          EnginePrior.of(Model.DEEPSEEK_V3, Accelerator.H200, 8, 1));

  /** Milliseconds of a prefill of {@code uncached} tokens; {@code attention} as in Prefills. */
  double prefill(double steps, double uncached, double attention) {
    return a * steps + b * uncached + c * attention;
  }

  /** Milliseconds of one decode step. */
  double decode(double sequences, double kv) {
    return d0 + d1 * sequences + d2 * kv;
  }

  /**
   * How much longer a prefill step takes for the sequences that decode beside it, from 1 up.
   *
   * @param slower how much slower than these numbers it is at decoding, over the same for prefills
   */
  double interference(double sequences, double kv, double slower) {
    return 1 + beside(sequences, kv) * slower * perFullStep;
  }

  /** Milliseconds that sequences which decode add to a prefill step that they are in. */
  double beside(double sequences, double kv) {
    return d1 * sequences + d2 * kv;
  }

  /** The same engine with other decode steps. */
  EngineClass decoding(double ofStep, double ofSequence, double ofKvToken) {
    return new EngineClass(
        a,
        b,
        c,
        ofStep,
        ofSequence,
        ofKvToken,
        kvTokens,
        maxBatchedTokens,
        maxSequences,
        adapterLoad,
        transfer,
        perFullStep);
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
        settings.number("adapterLoadMs", base.adapterLoad, 0, 1e6),
        settings.number("transferTokenMs", base.transfer, 0, 1e3));
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
