package io.fairlead.lab.peers;

import io.fairlead.core.view.PromptBlocks;
import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.InferenceRequest;
import org.jspecify.annotations.Nullable;

/**
 * A request whose prompt is a text: each of its characters stands for a block.
 *
 * @param prompt what it says
 * @param now when it is decided about
 * @param seed of its draws
 */
record FakeRequest(String prompt, long now, long seed) implements InferenceRequest, PromptBlocks {

  @Override
  public long prefixHash(int index) {
    long hash = 17;
    for (int i = 0; i <= index; i++) {
      hash = (hash + prompt.charAt(i)) * 0x9e3779b97f4a7c15L;
      hash ^= hash >>> 29;
    }
    return hash;
  }

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
    return prompt.length() * 16;
  }

  @Override
  public int blockCount() {
    return prompt.length();
  }

  @Override
  public int maxOutputTokens() {
    return -1;
  }

  @Override
  public boolean critical() {
    return false;
  }

  @Override
  public boolean sheddable() {
    return false;
  }

  @Override
  public @Nullable String header(String name) {
    return null;
  }

  @Override
  public long prefixKey() {
    return prompt.isEmpty() ? 0 : prefixHash(prompt.length() - 1);
  }

  @Override
  public CycleState cycle() {
    throw new UnsupportedOperationException("no peer leaves notes");
  }
}
