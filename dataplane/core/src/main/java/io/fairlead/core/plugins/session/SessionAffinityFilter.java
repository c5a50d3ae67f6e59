package io.fairlead.core.plugins.session;

import io.fairlead.core.view.HistoryFree;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.HeaderWriter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;

/**
 * Keeps only the endpoint that the request's session went to before, as long as it is a candidate;
 * all of them otherwise.
 */
final class SessionAffinityFilter implements Filter, HistoryFree {

  private final Sessions sessions;

  SessionAffinityFilter(Sessions sessions) {
    this.sessions = sessions;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int bound = sessions.bound(request);
    int size = candidates.size();
    int at = 0;
    while (at < size && columns.slot(at) != bound) {
      at++;
    }
    for (int i = 0; at < size && i < size; i++) {
      keep[i] = i == at;
    }
  }

  @Override
  public String keeps() {
    return "the endpoint that the session went to before";
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
      return "session-affinity-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new SessionAffinityFilter(Sessions.of(parameters));
    }
  }
}
