package io.fairlead.core;

import io.fairlead.core.prefix.BlockHasher;
import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.core.scheduling.PartitionedCandidates;
import io.fairlead.crds.config.Criticality;
import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The request being decided with the endpoints that it may go to: one object, set anew for each
 * decision. Prefix matches are looked up for all candidates when the first is asked for.
 */
final class CurrentRequest implements InferenceRequest, PartitionedCandidates {

  /** Prompt tokens that one hash block stands for. */
  private static final int TOKENS_PER_BLOCK = BlockHasher.BLOCK_BYTES / 4;

  private static final RequestFacts NOBODY = new RequestFacts("", 0, new long[0], 0, -1, 0);

  private final PrefixIndex prefixes;
  private RequestFacts facts = NOBODY;
  private Criticality criticality = Criticality.STANDARD;
  private long now;
  private final Notes notes = new Notes();
  private String targetModel = "";
  private long salt;
  private @Nullable EndpointState[] candidates = {};
  private int[] slots = {};
  private int[] matched = {};
  private boolean matchedKnown;
  private int size;

  CurrentRequest(PrefixIndex prefixes) {
    this.prefixes = prefixes;
  }

  void start(long time, RequestFacts request, Criticality importance, int mostCandidates) {
    now = time;
    facts = request;
    criticality = importance;
    targetModel = request.model();
    matchedKnown = false;
    size = 0;
    if (candidates.length < mostCandidates) {
      int length = Math.max(16, mostCandidates + mostCandidates / 2);
      candidates = new EndpointState[length];
      slots = new int[length];
      matched = new int[length];
    }
  }

  void target(String target) {
    targetModel = target;
    salt = PrefixIndex.salt(target);
  }

  void candidate(EndpointState endpoint) {
    candidates[size] = endpoint;
    slots[size] = endpoint.slot();
    size++;
  }

  EndpointState endpoint(int index) {
    EndpointState endpoint = index < size ? candidates[index] : null;
    if (endpoint == null) {
      throw new IndexOutOfBoundsException("candidate " + index + " of " + size);
    }
    return endpoint;
  }

  /** What {@link #matchedBlocks} says, without looking at every candidate for it. */
  int matchedBlocksOf(int index) {
    return matchedKnown ? matched[index] : prefixes.match(slots[index], salt, facts.blocks());
  }

  long salt() {
    return salt;
  }

  /** What {@link #cachedTokens} says, for a number of blocks that is known already. */
  int cachedTokensOf(int blocks) {
    int tokens = Math.max(0, facts.promptTokens());
    if (blocks == 0 || tokens == 0) {
      return 0;
    }
    return (int) Math.min(tokens - 1L, (long) blocks * TOKENS_PER_BLOCK);
  }

  void learn(EndpointState endpoint) {
    prefixes.learn(endpoint.slot(), salt, facts.blocks());
  }

  /** Lets go of the request, so that its memory can be. */
  void done() {
    facts = NOBODY;
    notes.clear();
    Arrays.fill(candidates, 0, size, null);
    size = 0;
  }

  @Override
  public String model() {
    return facts.model();
  }

  @Override
  public String targetModel() {
    return targetModel;
  }

  @Override
  public int promptTokens() {
    return facts.promptTokens();
  }

  @Override
  public int blockCount() {
    return facts.blocks().length;
  }

  @Override
  public long now() {
    return now;
  }

  @Override
  public boolean critical() {
    return criticality == Criticality.CRITICAL;
  }

  @Override
  public boolean sheddable() {
    return criticality == Criticality.SHEDDABLE;
  }

  @Override
  public @Nullable String header(String name) {
    return facts.headers().first(name);
  }

  @Override
  public long prefixKey() {
    int blocks = facts.blocks().length;
    return blocks == 0 ? salt : salt ^ facts.blocks()[Integer.highestOneBit(blocks) - 1];
  }

  @Override
  public CycleState cycle() {
    return notes;
  }

  @Override
  public int maxOutputTokens() {
    return facts.maxOutputTokens();
  }

  @Override
  public long seed() {
    return facts.seed();
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Endpoint get(int index) {
    return endpoint(index);
  }

  @Override
  public int matchedBlocks(int index) {
    if (!matchedKnown) {
      prefixes.match(slots, size, salt, facts.blocks(), matched);
      matchedKnown = true;
    }
    return matched[index];
  }

  @Override
  public int cachedTokens(int index) {
    return cachedTokensOf(matchedBlocks(index));
  }

  @Override
  public int partition(int index) {
    return endpoint(index).partition();
  }
}
