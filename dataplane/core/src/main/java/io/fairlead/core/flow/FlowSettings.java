package io.fairlead.core.flow;

import io.fairlead.plugin.UsageLimitPolicy;
import java.util.Map;

/**
 * How requests wait that find no room.
 *
 * @param limits of all that wait
 * @param emptyTtl longest wait in nanoseconds while there is no endpoint at all; 0 for none
 * @param lossTtl nanoseconds from the leaving of the last endpoint in which requests wait for one,
 *     whenever they came, where {@code emptyTtl} is 0
 * @param evictsInFlight whether sheddable requests in flight make room for more important ones that
 *     wait, as long as no byte of their answer has come
 * @param flows most flows of a band that are told apart; the others share one
 * @param standard bands that are not listed
 * @param negative those of them with a priority below 0
 * @param listed bands by their priority
 * @param usage says how full endpoints may be for a band
 */
public record FlowSettings(
    Limits limits,
    long emptyTtl,
    long lossTtl,
    boolean evictsInFlight,
    int flows,
    BandSettings standard,
    BandSettings negative,
    Map<Long, BandSettings> listed,
    UsageLimitPolicy usage) {

  public FlowSettings {
    listed = Map.copyOf(listed);
    if (emptyTtl < 0 || lossTtl < 0 || flows < 1) {
      throw new IllegalArgumentException(
          "emptyTtl " + emptyTtl + ", lossTtl " + lossTtl + ", flows " + flows);
    }
  }

  /** The same, where no more than so many bytes of bodies may wait. */
  public FlowSettings within(long bytes) {
    return bytes >= limits.bytes()
        ? this
        : new FlowSettings(
            new Limits(limits.requests(), bytes),
            emptyTtl,
            lossTtl,
            evictsInFlight,
            flows,
            standard,
            negative,
            listed,
            usage);
  }

  BandSettings band(long priority) {
    BandSettings own = listed.get(priority);
    return own != null ? own : priority < 0 ? negative : standard;
  }
}
