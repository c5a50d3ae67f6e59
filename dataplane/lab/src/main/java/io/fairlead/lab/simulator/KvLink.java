package io.fairlead.lab.simulator;

import io.fairlead.lab.document.Fields;

/**
 * How keys and values get from the server that computed a prompt to the one that answers, as it is:
 * a server sends one prompt at a time, and takes one at a time.
 *
 * @param bytesPerToken of the model's KV cache
 * @param gigabytesPerSecond between two servers of a rack, or of none
 * @param millis that each transfer takes beside
 * @param acrossRacks so many times as long takes a token between two racks
 */
public record KvLink(
    double bytesPerToken, double gigabytesPerSecond, double millis, double acrossRacks) {

  /** Of Llama 3.1 8B over a network of 200 Gbit/s, of which engines get two thirds. */
  public static final KvLink USUAL = new KvLink(131_072, 16, 4, 3);

  private static final double NANOS_PER_MILLI = 1e6;

  /** Reads one, what is absent being as usual. */
  static KvLink read(Fields fields) {
    return new KvLink(
        fields.positive("bytesPerToken", USUAL.bytesPerToken),
        fields.positive("gigabytesPerSecond", USUAL.gigabytesPerSecond),
        fields.positive("millis", USUAL.millis),
        fields.positive("acrossRacks", USUAL.acrossRacks));
  }

  /** Nanoseconds that so many tokens take, when both servers are free for it. */
  long nanos(int tokens, boolean sameRack) {
    double bytes = tokens * bytesPerToken * (sameRack ? 1 : acrossRacks);
    return (long) (millis * NANOS_PER_MILLI + bytes / gigabytesPerSecond);
  }
}
