package io.fairlead.core.plugins;

import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.WaitingRequest;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request made up for a test: a test sets what matters to it. */
public final class TestRequest implements InferenceRequest, CycleState {

  private final long seed;
  private final int blockCount;
  public String model = "m";
  public String targetModel = "";
  public int promptTokens;
  public int maxOutputTokens = -1;
  public long now;
  public long firstTokenBy = WaitingRequest.NEVER;
  public long timePerOutputToken = WaitingRequest.NEVER;
  public boolean critical;
  public boolean sheddable;
  public final Map<String, String> headers = new HashMap<>();
  private final Map<Key<?>, Object> notes = new HashMap<>();

  public TestRequest(long seed, int blockCount) {
    this.seed = seed;
    this.blockCount = blockCount;
    this.promptTokens = blockCount * 16;
  }

  /** Another one that says the same. */
  public TestRequest copy() {
    TestRequest copy = new TestRequest(seed, blockCount);
    copy.model = model;
    copy.targetModel = targetModel;
    copy.promptTokens = promptTokens;
    copy.maxOutputTokens = maxOutputTokens;
    copy.now = now;
    copy.firstTokenBy = firstTokenBy;
    copy.timePerOutputToken = timePerOutputToken;
    copy.critical = critical;
    copy.sheddable = sheddable;
    copy.headers.putAll(headers);
    copy.notes.putAll(notes);
    return copy;
  }

  @Override
  public String model() {
    return model;
  }

  @Override
  public String targetModel() {
    return targetModel.isEmpty() ? model : targetModel;
  }

  @Override
  public int promptTokens() {
    return promptTokens;
  }

  @Override
  public int blockCount() {
    return blockCount;
  }

  @Override
  public int maxOutputTokens() {
    return maxOutputTokens;
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public long firstTokenBy() {
    return firstTokenBy;
  }

  @Override
  public long timePerOutputToken() {
    return timePerOutputToken;
  }

  @Override
  public boolean critical() {
    return critical;
  }

  @Override
  public boolean sheddable() {
    return sheddable;
  }

  @Override
  public @Nullable String header(String name) {
    return headers.get(name);
  }

  @Override
  public long prefixKey() {
    return model.hashCode();
  }

  @Override
  public CycleState cycle() {
    return this;
  }

  @Override
  public long seed() {
    return seed;
  }

  @Override
  public <T> @Nullable T get(Key<T> key) {
    return key.type().cast(notes.get(key));
  }

  @Override
  public <T> void put(Key<T> key, T value) {
    notes.put(key, value);
  }
}
