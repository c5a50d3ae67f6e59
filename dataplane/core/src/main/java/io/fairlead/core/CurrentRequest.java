package io.fairlead.core;

import io.fairlead.core.prefix.PrefixIndex;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The request being decided with the endpoints that it may go to: one object, set anew for each
 * decision. Prefix matches are looked up for all candidates when the first is asked for.
 */
final class CurrentRequest implements InferenceRequest, Candidates {

  private static final RequestFacts NOBODY = new RequestFacts("", 0, new long[0], 0, -1, 0);

  private final PrefixIndex prefixes;
  private RequestFacts facts = NOBODY;
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

  void start(RequestFacts request, int mostCandidates) {
    facts = request;
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

  void learn(EndpointState endpoint) {
    prefixes.learn(endpoint.slot(), salt, facts.blocks());
  }

  /** Lets go of the request, so that its memory can be. */
  void done() {
    facts = NOBODY;
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
}
