package io.fairlead.core.plugins;

import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;

/** A request of model "m" that was delivered to its end. */
public record TestCompletion(
    long now,
    Endpoint endpoint,
    double meanDecoding,
    int outputTokens,
    int streamedEvents,
    int expectedCachedTokens,
    int cachedTokens,
    long prefillTime,
    long decodeTime,
    long wholeTime,
    int answers)
    implements Completion {

  /** One of one answer. */
  public TestCompletion(
      long now,
      Endpoint endpoint,
      double meanDecoding,
      int outputTokens,
      int streamedEvents,
      int expectedCachedTokens,
      int cachedTokens,
      long prefillTime,
      long decodeTime,
      long wholeTime) {
    this(
        now,
        endpoint,
        meanDecoding,
        outputTokens,
        streamedEvents,
        expectedCachedTokens,
        cachedTokens,
        prefillTime,
        decodeTime,
        wholeTime,
        1);
  }

  /** One that was streamed and ended at 0. */
  public TestCompletion(
      Endpoint endpoint,
      double meanDecoding,
      int outputTokens,
      int streamedEvents,
      int expectedCachedTokens,
      int cachedTokens,
      long prefillTime,
      long decodeTime) {
    this(
        0,
        endpoint,
        meanDecoding,
        outputTokens,
        streamedEvents,
        expectedCachedTokens,
        cachedTokens,
        prefillTime,
        decodeTime,
        -1);
  }

  @Override
  public String targetModel() {
    return "m";
  }

  @Override
  public boolean succeeded() {
    return true;
  }

  @Override
  public long timeToFirstToken() {
    return prefillTime < 0 ? -1 : Math.max(prefillTime, 1_000_000);
  }

  /** Half as many as estimated: a tokenizer with long tokens. */
  @Override
  public int promptTokens() {
    return 800;
  }

  @Override
  public int estimatedPromptTokens() {
    return 1600;
  }

  @Override
  public boolean prefilledElsewhere() {
    return false;
  }

  @Override
  public double meanInFlightTokens() {
    return 0;
  }
}
