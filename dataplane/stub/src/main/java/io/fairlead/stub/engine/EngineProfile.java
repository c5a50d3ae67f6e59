package io.fairlead.stub.engine;

/**
 * How fast an engine is and how much it can hold. A step that computes {@code chunk} prompt tokens
 * beside {@code B} decoding sequences with {@code K} tokens of context takes
 *
 * <pre>max(d0, a + b·chunk) + c·Σ chunkᵢ (positionᵢ + chunkᵢ/2) + d1·B + d2·K</pre>
 *
 * milliseconds, the sum running over the sequences in prefill, and {@code adapterLoadMillis} more
 * for each LoRA adapter that it loads.
 *
 * @param name what configs and reports call it
 * @param a fixed cost of a prefill step, ms
 * @param b cost per prompt token, ms
 * @param c cost of attention per prompt token and token before it, ms
 * @param d0 shortest step, ms
 * @param d1 cost per decoding sequence, ms
 * @param d2 cost per token of decoding context, ms
 * @param kvTokens tokens that the KV cache holds
 * @param blockTokens tokens per KV cache block
 * @param maxBatchedTokens token budget of a step
 * @param maxSequences most sequences running at once, no more than {@code maxBatchedTokens}
 * @param adapterSlots LoRA adapters that are loaded at most; 0 is an engine without LoRA
 * @param adapterLoadMillis what loading one takes, ms
 * @param apiMillis what the API adds to every token's way to the client, ms
 * @param apiMillisPerToken what it adds to the n-th token's way, n times, ms
 */
public record EngineProfile(
    String name,
    double a,
    double b,
    double c,
    double d0,
    double d1,
    double d2,
    int kvTokens,
    int blockTokens,
    int maxBatchedTokens,
    int maxSequences,
    int adapterSlots,
    double adapterLoadMillis,
    double apiMillis,
    double apiMillisPerToken) {

  private static final double ADAPTER_LOAD_MILLIS = 300;

  public EngineProfile {
    atLeastZero("a", a);
    atLeastZero("b", b);
    atLeastZero("c", c);
    atLeastZero("d0", d0);
    atLeastZero("d1", d1);
    atLeastZero("d2", d2);
    atLeastOne("blockTokens", blockTokens);
    atLeastOne("maxBatchedTokens", maxBatchedTokens);
    atLeastOne("maxSequences", maxSequences);
    if (maxSequences > maxBatchedTokens) {
      throw new IllegalArgumentException(
          "maxSequences: %d sequences can't all get a token of maxBatchedTokens: %d"
              .formatted(maxSequences, maxBatchedTokens));
    }
    if (adapterSlots < 0) {
      throw new IllegalArgumentException("adapterSlots: " + adapterSlots + " is not >= 0");
    }
    atLeastZero("adapterLoadMillis", adapterLoadMillis);
    atLeastZero("apiMillis", apiMillis);
    atLeastZero("apiMillisPerToken", apiMillisPerToken);
    if (kvTokens < blockTokens) {
      throw new IllegalArgumentException(
          "kvTokens: " + kvTokens + " holds no block of " + blockTokens + " tokens");
    }
  }

  /** A profile without LoRA, of which the API takes no time. */
  public EngineProfile(
      String name,
      double a,
      double b,
      double c,
      double d0,
      double d1,
      double d2,
      int kvTokens,
      int blockTokens,
      int maxBatchedTokens,
      int maxSequences) {
    this(
        name,
        a,
        b,
        c,
        d0,
        d1,
        d2,
        kvTokens,
        blockTokens,
        maxBatchedTokens,
        maxSequences,
        0,
        ADAPTER_LOAD_MILLIS,
        0,
        0);
  }

  /** Blocks in the KV cache. */
  public int blocks() {
    return kvTokens / blockTokens;
  }

  /** This profile with another KV cache size; tests and small demos want a cache that fills. */
  public EngineProfile withKvTokens(int tokens) {
    return with(
        1, tokens, maxSequences, adapterSlots, adapterLoadMillis, apiMillis, apiMillisPerToken);
  }

  /** This profile with another number of seats. */
  public EngineProfile withMaxSequences(int sequences) {
    return with(
        1, kvTokens, sequences, adapterSlots, adapterLoadMillis, apiMillis, apiMillisPerToken);
  }

  /** This profile with so many LoRA adapters loaded at most, each in {@code loadMillis}. */
  public EngineProfile withAdapters(int slots, double loadMillis) {
    return with(1, kvTokens, maxSequences, slots, loadMillis, apiMillis, apiMillisPerToken);
  }

  /** This profile with so many LoRA adapters loaded at most. */
  public EngineProfile withAdapterSlots(int slots) {
    return withAdapters(slots, adapterLoadMillis);
  }

  /** This profile behind an API that adds its share to every token, as a real server's does. */
  public EngineProfile withApiOverhead() {
    return withApiOverhead(15.6, 0.046);
  }

  /** This profile behind an API that adds {@code millis} and {@code perToken} for each token. */
  public EngineProfile withApiOverhead(double millis, double perToken) {
    return with(1, kvTokens, maxSequences, adapterSlots, adapterLoadMillis, millis, perToken);
  }

  /** This profile with steps that take {@code factor} times as long; older engines need 1.4. */
  public EngineProfile slowedBy(double factor) {
    if (!(factor > 0) || Double.isInfinite(factor)) {
      throw new IllegalArgumentException("factor: " + factor + " is not a finite number > 0");
    }
    return with(
        factor,
        kvTokens,
        maxSequences,
        adapterSlots,
        adapterLoadMillis,
        apiMillis,
        apiMillisPerToken);
  }

  /** This profile with steps {@code factor} times as long, and the rest as given. */
  private EngineProfile with(
      double factor,
      int kvTokens,
      int maxSequences,
      int adapterSlots,
      double adapterLoadMillis,
      double apiMillis,
      double apiMillisPerToken) {
    return new EngineProfile(
        name,
        a * factor,
        b * factor,
        c * factor,
        d0 * factor,
        d1 * factor,
        d2 * factor,
        kvTokens,
        blockTokens,
        maxBatchedTokens,
        maxSequences,
        adapterSlots,
        adapterLoadMillis,
        apiMillis,
        apiMillisPerToken);
  }

  private static void atLeastZero(String field, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new IllegalArgumentException(field + ": " + value + " is not a finite number >= 0");
    }
  }

  private static void atLeastOne(String field, int value) {
    if (value < 1) {
      throw new IllegalArgumentException(field + ": " + value + " is not >= 1");
    }
  }
}
