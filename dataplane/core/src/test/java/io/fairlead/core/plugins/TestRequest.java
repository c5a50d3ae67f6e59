package io.fairlead.core.plugins;

import io.fairlead.plugin.InferenceRequest;

/** A request made up for a test. */
record TestRequest(long seed, int blockCount) implements InferenceRequest {

  @Override
  public String model() {
    return "m";
  }

  @Override
  public String targetModel() {
    return "m";
  }

  @Override
  public int promptTokens() {
    return blockCount * 16;
  }

  @Override
  public int maxOutputTokens() {
    return -1;
  }
}
