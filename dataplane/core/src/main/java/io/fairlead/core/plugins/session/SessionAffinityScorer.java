package io.fairlead.core.plugins.session;

import io.fairlead.core.view.HistoryFree;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;

/**
 * Prefers the endpoint that the request's session went to before: 1 for it, 0 for others. With
 * strategy {@code session_id}, where none is bound or that one is no candidate, 1 for those with
 * the fewest sessions.
 */
final class SessionAffinityScorer implements Scorer, HistoryFree {

  private final Sessions sessions;

  SessionAffinityScorer(Sessions sessions) {
    this.sessions = sessions;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int bound = sessions.bound(request);
    int size = candidates.size();
    boolean found = false;
    for (int i = 0; i < size; i++) {
      boolean here = columns.slot(i) == bound;
      scores[i] = here ? 1 : 0;
      found |= here;
    }
    if (!found) {
      sessions.scoreUnbound(request, candidates, scores);
    }
  }

  @Override
  public boolean isHistoryFree() {
    return sessions.areKeptByClients();
  }

  @Override
  public void joined(Endpoint endpoint) {
    sessions.joined(endpoint);
  }

  @Override
  public void dispatched(InferenceRequest request, Endpoint endpoint, HeaderWriter headers) {
    sessions.dispatched(request, endpoint, headers);
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "session-affinity-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new SessionAffinityScorer(Sessions.of(parameters));
    }
  }
}
