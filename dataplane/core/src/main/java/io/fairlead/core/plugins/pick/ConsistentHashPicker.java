package io.fairlead.core.plugins.pick;

import io.fairlead.core.view.HistoryFree;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Picker;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.Arrays;

/**
 * Consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016): a key goes to
 * the first endpoint on the ring from its hash on that has room. With {@code m} requests in flight
 * at {@code n} candidates, one has room that gets no more than {@code ⌈loadFactor · (m + 1) / n⌉}
 * with this one, so there is always one. Scores are not looked at.
 *
 * <p>Pickers that see the same endpoints and loads choose alike, without a word between them. An
 * endpoint that joins or leaves moves its share of the keys, those that others couldn't take, and
 * no others.
 */
final class ConsistentHashPicker implements Picker, HistoryFree {

  /**
   * Points to look at. Nearly always a few will do; where only a small part of the pool are
   * candidates, looking on would cost more than to look at each of those.
   */
  private static final int MOST_POINTS = 1_024;

  private final HashKey key;
  private final HashRing ring;
  private final double loadFactor;

  /** By slot: which candidate it is in this decision, and the decision that says so. */
  private int[] candidate = {};

  private int[] decision = {};
  private int decisions;

  ConsistentHashPicker(HashKey key, HashRing ring, double loadFactor) {
    this.key = key;
    this.ring = ring;
    this.loadFactor = loadFactor;
  }

  @Override
  public boolean isHistoryFree() {
    return true;
  }

  @Override
  public void joined(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    reserve(slot);
    ring.join(slot, endpoint.identity());
  }

  @Override
  public int pick(InferenceRequest request, Candidates candidates, double[] scores, int[] picked) {
    PoolCandidates columns = PoolCandidates.of(candidates);
    int size = candidates.size();
    decisions++;
    long inFlight = 0;
    for (int i = 0; i < size; i++) {
      int slot = columns.slot(i);
      reserve(slot);
      candidate[slot] = i;
      decision[slot] = decisions;
      inFlight += candidates.get(i).inFlight();
    }
    double room = Math.ceil(loadFactor * (inFlight + 1) / size);
    long position = key.of(request);
    int found = walk(candidates, position, room);
    picked[0] = found >= 0 ? found : nearest(candidates, position, room);
    return 1;
  }

  /** The first candidate with room on the ring, or -1 if there is none near. */
  private int walk(Candidates candidates, long position, double room) {
    int points = ring.size();
    int steps = Math.min(points, MOST_POINTS);
    int at = points == 0 ? 0 : ring.first(position);
    for (int step = 0; step < steps; step++) {
      int slot = ring.slot(at);
      if (decision[slot] == decisions && hasRoom(candidates, candidate[slot], room)) {
        return candidate[slot];
      }
      at = at + 1 < points ? at + 1 : 0;
    }
    return -1;
  }

  /** Of all candidates with room the one that its hash with the key puts first. */
  private static int nearest(Candidates candidates, long position, double room) {
    int best = 0;
    boolean any = false;
    long least = 0;
    for (int i = 0; i < candidates.size(); i++) {
      long rank = HashRing.position(position ^ candidates.get(i).identity());
      if (hasRoom(candidates, i, room) && (!any || rank < least)) {
        any = true;
        least = rank;
        best = i;
      }
    }
    return best;
  }

  private static boolean hasRoom(Candidates candidates, int index, double room) {
    return candidates.get(index).inFlight() + 1 <= room;
  }

  private void reserve(int slot) {
    if (slot >= candidate.length) {
      int length = Math.max(16, slot + slot / 2 + 1);
      candidate = Arrays.copyOf(candidate, length);
      decision = Arrays.copyOf(decision, length);
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "consistent-hash-picker";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new ConsistentHashPicker(
          HashKey.of(parameters),
          new HashRing(parameters.integer("replication", 256, 1, 1_000)),
          parameters.number("loadFactor", 1.25, 1, 1_000));
    }
  }
}
