package io.fairlead.core.plugins.topology;

import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.view.Location;
import io.fairlead.core.view.Memo;
import io.fairlead.core.view.Peers;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.Arrays;

/**
 * Prefers endpoints near the one that this request's prompt or decode stage was given to, since the
 * KV cache travels between them: 1 on the same host, 0.2 in the same rack, 0.05 in the same zone,
 * else 0. 0 for all when no other stage has been placed yet. Upstream's 0.02 for the same region is
 * left out: a pool's endpoints are in one cluster.
 */
final class TopologyAffinityScorer implements Scorer {

  /** By nearness. */
  private static final double[] SCORES = {0, 0.05, 0.2, 1};

  private final Memo<EndpointAttributes, Location> locations = Memo.ofAttributes(Location::of);

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    Endpoint peer = request.cycle().get(Peers.PEER);
    if (peer == null) {
      Arrays.fill(scores, 0, size, 0);
      return;
    }
    Location near = locations.of(peer);
    for (int i = 0; i < size; i++) {
      scores[i] = SCORES[locations.of(candidates.get(i)).nearness(near)];
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "topology-affinity-scorer";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "topologyProducerName");
      return new TopologyAffinityScorer();
    }
  }
}
