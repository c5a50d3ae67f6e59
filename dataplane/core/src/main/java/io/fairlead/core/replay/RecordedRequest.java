package io.fairlead.core.replay;

import io.fairlead.core.receipt.HeaderReads;
import io.fairlead.core.receipt.RequestInputs;
import io.fairlead.core.view.PromptBlocks;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.InferenceRequest;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A request as a receipt has it. */
final class RecordedRequest implements InferenceRequest, PromptBlocks {

  private final long at;
  private final RequestInputs inputs;
  private final CycleState notes = new Notes();

  RecordedRequest(long at, RequestInputs inputs) {
    this.at = at;
    this.inputs = inputs;
  }

  private static final class Notes implements CycleState {

    private final Map<Key<?>, Object> values = new HashMap<>();

    @Override
    public <T> @Nullable T get(Key<T> key) {
      Object value = values.get(key);
      return value == null ? null : key.type().cast(value);
    }

    @Override
    public <T> void put(Key<T> key, T value) {
      values.put(key, value);
    }
  }

  @Override
  public String model() {
    return inputs.model();
  }

  @Override
  public String targetModel() {
    return inputs.targetModel();
  }

  @Override
  public int promptTokens() {
    return inputs.promptTokens();
  }

  @Override
  public int blockCount() {
    return inputs.blocks();
  }

  @Override
  public int maxOutputTokens() {
    return inputs.maxOutputTokens();
  }

  @Override
  public long now() {
    return at;
  }

  @Override
  public long firstTokenBy() {
    throw new NotKeptException("within what time a request wants its first token");
  }

  @Override
  public long timePerOutputToken() {
    throw new NotKeptException("in what pace a request wants its tokens");
  }

  @Override
  public boolean critical() {
    return inputs.criticality() == Criticality.CRITICAL;
  }

  @Override
  public boolean sheddable() {
    return inputs.criticality() == Criticality.SHEDDABLE;
  }

  @Override
  public @Nullable String header(String name) {
    if (!inputs.headers().containsKey(name)) {
      throw new NotKeptException(
          "header %s, which nobody read then, or which is secret or longer than %,d characters"
              .formatted(name, HeaderReads.LONGEST));
    }
    return inputs.headers().get(name);
  }

  @Override
  public long prefixKey() {
    throw new NotKeptException("the hash of a prompt's beginning");
  }

  @Override
  public long prefixHash(int index) {
    throw new NotKeptException("the hashes of a prompt's blocks");
  }

  @Override
  public CycleState cycle() {
    return notes;
  }

  @Override
  public long seed() {
    return inputs.seed();
  }
}
