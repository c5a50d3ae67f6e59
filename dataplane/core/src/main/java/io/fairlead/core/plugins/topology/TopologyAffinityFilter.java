package io.fairlead.core.plugins.topology;

import io.fairlead.core.plugins.compat.Kept;
import io.fairlead.core.plugins.compat.Producer;
import io.fairlead.core.view.Location;
import io.fairlead.core.view.Memo;
import io.fairlead.core.view.Peers;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.Filter;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;

/**
 * Keeps endpoints that share at least {@code minAffinity} with the one that this request's prompt
 * or decode stage was given to: its host, its rack or its zone. All of them when none does or no
 * other stage has been placed yet.
 */
final class TopologyAffinityFilter implements Filter {

  private final int least;
  private final String shared;
  private final Memo<EndpointAttributes, Location> locations = Memo.ofAttributes(Location::of);

  TopologyAffinityFilter(int least, String shared) {
    this.least = least;
    this.shared = shared;
  }

  @Override
  public void filter(InferenceRequest request, Candidates candidates, boolean[] keep) {
    Endpoint peer = request.cycle().get(Peers.PEER);
    if (peer == null) {
      return;
    }
    Location near = locations.of(peer);
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      keep[i] = locations.of(candidates.get(i)).nearness(near) >= least;
    }
    Kept.allIfNone(keep, size);
  }

  @Override
  public String keeps() {
    return "endpoints in the same "
        + shared
        + " as the one that the request's other stage was given to";
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "topology-affinity-filter";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Producer.named(parameters, "topologyProducerName");
      String least = parameters.choice("minAffinity", "host", List.of("host", "rack", "zone"));
      return new TopologyAffinityFilter(
          switch (least) {
            case "zone" -> Location.SAME_ZONE;
            case "rack" -> Location.SAME_RACK;
            default -> Location.SAME_HOST;
          },
          least);
    }
  }
}
