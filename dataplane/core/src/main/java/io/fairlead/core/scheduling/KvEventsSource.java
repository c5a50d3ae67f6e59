package io.fairlead.core.scheduling;

import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Setting;
import java.util.List;

/**
 * Where engines tell what their KV caches hold: upstream's {@code precise-prefix-cache-producer}.
 *
 * @param grain tokens between two places where a prompt can be compared with a cache: blocks of
 *     engines are multiples or parts of it, at least 1
 * @param topicFilter how topics begin that count
 * @param port where an endpoint's engine publishes; of several endpoints of one address the next
 *     ones follow, as vLLM's ranks do
 * @param replayPort where it can be asked for what it published before, counted likewise; 0 for
 *     nowhere
 */
public record KvEventsSource(int grain, String topicFilter, int port, int replayPort)
    implements Setting {

  /** Its type in a config. */
  public static final String TYPE = "precise-prefix-cache-producer";

  private static final int USUAL_BLOCK = 16;
  private static final int USUAL_PORT = 5557;
  private static final int MOST_PORTS = 65_535;
  private static final int LARGEST_BLOCK = 1 << 16;

  static KvEventsSource read(Parameters parameters) {
    Parameters tokens = parameters.object("tokenProcessorConfig");
    String hashes = "the tokens that events bring are hashed anew, so that it need not agree";
    tokens.ignored("hashSeed", hashes);
    tokens.ignored("hashAlgorithm", hashes);
    int older = tokens.integer("blockSize", USUAL_BLOCK, 1, LARGEST_BLOCK);
    int grain = tokens.integer("blockSizeTokens", older, 1, LARGEST_BLOCK);
    parameters.ignored("indexerConfig", "the index is bounded by the picker's memory");
    parameters.ignored("speculativeIndexing", "what was sent counts until its request is over");
    parameters.ignored("speculativeTTL", "what was sent counts until its request is over");
    Parameters events = parameters.object("kvEventsConfig");
    if (!events.text("zmqEndpoint", "").isEmpty()) {
      throw events.invalid(
          "zmqEndpoint",
          "can't be set: engines are connected to, and do not connect; have them publish on"
              + " tcp://*:5557, and set podDiscoveryConfig.socketPort where it is another port");
    }
    if (!events.flag("discoverPods", true)) {
      throw events.invalid("discoverPods", "is false; set true or remove it: endpoints are known");
    }
    events.ignored("concurrency", "one thread reads the events of all endpoints");
    Parameters pods = events.object("podDiscoveryConfig");
    String known = "the pool's endpoints are those that are listened to";
    pods.ignored("podLabelSelector", known);
    pods.ignored("podNamespace", known);
    List<String> engines = List.of("vllm", "sglang");
    events.choice("engineType", "vllm", engines);
    pods.choice("engineType", "vllm", engines);
    int port = pods.integer("socketPort", USUAL_PORT, 1, MOST_PORTS);
    int replay = pods.integer("replaySocketPort", 0, 0, MOST_PORTS);
    if (port == replay) {
      throw pods.invalid("replaySocketPort", "is " + replay + ", as socketPort; set another one");
    }
    return new KvEventsSource(grain, events.text("topicFilter", ""), port, replay);
  }
}
