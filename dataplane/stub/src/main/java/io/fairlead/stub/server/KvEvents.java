package io.fairlead.stub.server;

/**
 * How a server tells of its KV cache, as vLLM's {@code --kv-events-config} says it.
 *
 * @param port where events are published; 0 takes a free one
 * @param replayPort where those of before are to be had; 0 takes a free one, -1 for nowhere
 * @param topic what every message begins with; empty for {@code kv@NAME@MODEL}
 * @param form how events are written
 * @param bufferSteps batches that a replay has
 */
public record KvEvents(int port, int replayPort, String topic, Form form, int bufferSteps) {

  private static final int USUAL_STEPS = 10_000;

  /** How an event is written. */
  public enum Form {
    /** An array, its type first, as up to vLLM 0.13. */
    ARRAYS,
    /** A map with a field {@code type}, as vLLM 0.32 and SGLang do. */
    MAPS
  }

  public KvEvents {
    if (port < 0 || port > 65_535 || replayPort < -1 || replayPort > 65_535) {
      throw new IllegalArgumentException(
          "kvEvents: port " + port + " and replayPort " + replayPort + " are not both in 0..65535");
    }
    if (bufferSteps < 1) {
      throw new IllegalArgumentException("kvEvents: bufferSteps " + bufferSteps + " is not >= 1");
    }
  }

  /** On free ports, with a replay. */
  public static KvEvents onFreePorts() {
    return new KvEvents(0, 0, "", Form.MAPS, USUAL_STEPS);
  }

  /** On these ports. */
  public static KvEvents on(int port, int replayPort) {
    return new KvEvents(port, replayPort, "", Form.MAPS, USUAL_STEPS);
  }
}
