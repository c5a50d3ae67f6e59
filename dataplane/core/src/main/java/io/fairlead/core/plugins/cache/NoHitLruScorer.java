package io.fairlead.core.plugins.cache;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.view.Peers;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.CycleState;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.Arrays;

/**
 * Spreads prompts that nobody has cached, as those are what caches grow by: {@code 1 - rank / (n -
 * 1)}, endpoints without such a prompt first and all with rank 0, then those whose last one is
 * longest ago. 0.5 for all when some candidate has a part of the prompt. Remembers {@code lruSize}
 * endpoints.
 */
final class NoHitLruScorer implements Scorer, Observer {

  private static final int NONE = -1;

  private final CycleState.Key<Boolean> cold = new CycleState.Key<>(Boolean.class);
  private final RecentSlots recent;

  /** Candidate by slot while a request is scored. */
  private int[] candidateOf = {};

  NoHitLruScorer(int lruSize) {
    this.recent = new RecentSlots(lruSize);
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      if (candidates.matchedBlocks(i) > 0) {
        request.cycle().put(cold, Boolean.FALSE);
        Arrays.fill(scores, 0, size, 0.5);
        return;
      }
    }
    request.cycle().put(cold, Boolean.TRUE);
    Arrays.fill(scores, 0, size, 1);
    if (size > 1) {
      rank(PoolCandidates.of(candidates), scores);
    }
  }

  private void rank(PoolCandidates columns, double[] scores) {
    int size = columns.size();
    int used = 0;
    for (int i = 0; i < size; i++) {
      int slot = columns.slot(i);
      if (recent.contains(slot)) {
        reserve(slot);
        candidateOf[slot] = i;
        used++;
      }
    }
    int rank = size - used;
    for (int slot = recent.oldest(); used > 0; slot = recent.newer(slot)) {
      int candidate = slot < candidateOf.length ? candidateOf[slot] : NONE;
      if (candidate != NONE) {
        candidateOf[slot] = NONE;
        scores[candidate] = 1 - rank++ / (size - 1.0);
        used--;
      }
    }
  }

  private void reserve(int slot) {
    if (candidateOf.length <= slot) {
      int from = candidateOf.length;
      candidateOf = Arrays.copyOf(candidateOf, Math.max(16, slot + slot / 2 + 1));
      Arrays.fill(candidateOf, from, candidateOf.length, NONE);
    }
  }

  @Override
  public void joined(Endpoint endpoint) {
    recent.remove(PoolEndpoint.slot(endpoint));
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    if (Boolean.TRUE.equals(request.cycle().get(cold))) {
      recent.touch(PoolEndpoint.slot(endpoint));
      Endpoint prefiller = request.cycle().get(Peers.PREFILLER);
      if (prefiller != null) {
        recent.touch(PoolEndpoint.slot(prefiller));
      }
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "no-hit-lru-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "prefixMatchInfoProducerName");
      return new NoHitLruScorer(parameters.integer("lruSize", 1024, 1, 1_000_000));
    }
  }
}
