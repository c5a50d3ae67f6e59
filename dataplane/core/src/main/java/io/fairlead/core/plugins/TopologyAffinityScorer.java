package io.fairlead.core.plugins;

import com.dynatrace.hash4j.hashing.Hashing;
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

  private static final long UNKNOWN = 0;

  private final Memo<EndpointAttributes, Place> places = Memo.ofAttributes(Place::of);

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    Endpoint peer = request.cycle().get(Peers.PEER);
    if (peer == null) {
      Arrays.fill(scores, 0, size, 0);
      return;
    }
    Place near = places.of(peer);
    for (int i = 0; i < size; i++) {
      scores[i] = places.of(candidates.get(i)).nearness(near);
    }
  }

  /** Where an endpoint runs, as hashes: compared for every candidate. 0 is unknown. */
  private record Place(long host, long rack, long zone) {

    static Place of(EndpointAttributes attributes) {
      // A rack's name may be used again in the next zone.
      String rack = attributes.rack().isEmpty() ? "" : attributes.zone() + "/" + attributes.rack();
      return new Place(hash(attributes.host()), hash(rack), hash(attributes.zone()));
    }

    private static long hash(String text) {
      return text.isEmpty() ? UNKNOWN : Hashing.wyhashFinal4().hashCharsToLong(text);
    }

    double nearness(Place other) {
      if (host == other.host && host != UNKNOWN) {
        return 1;
      }
      if (rack == other.rack && rack != UNKNOWN) {
        return 0.2;
      }
      return zone == other.zone && zone != UNKNOWN ? 0.05 : 0;
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
