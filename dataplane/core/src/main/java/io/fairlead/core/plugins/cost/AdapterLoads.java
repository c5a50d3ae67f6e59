package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Endpoint;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Where an adapter would have to be loaded, by place. Kept for each adapter that was asked for
 * lately and brought up to date when it is asked for again, so that a decision looks at those
 * endpoints alone whose account has changed since, and not at all of them.
 */
final class AdapterLoads {

  /** Adapters that are kept: clients may ask for any names. */
  private static final int MOST_ADAPTERS = 1_000;

  /** Places of all of them together; two bytes each. */
  private static final int MOST_PLACES = 1 << 20;

  /** Requests of an adapter; beyond that its end of use is not to be waited for; chosen. */
  private static final int MOST_BUSY = 6;

  /** {@code e^k - 1} of each {@code k} up to that. */
  private static final double[] EXPM1 = new double[MOST_BUSY + 1];

  static {
    for (int k = 0; k <= MOST_BUSY; k++) {
      EXPM1[k] = Math.expm1(k);
    }
  }

  /** The one that was asked for longest ago first. */
  private final SequencedMap<String, OfAdapter> adapters = new LinkedHashMap<>(16, 0.75f, true);

  /** What is known of one adapter. */
  static final class OfAdapter implements PoolCandidates.Changed {

    private final String name;
    private long seen;

    /** Times that a server loads: none where it is there, and two where another gives way. */
    private byte[] loads = {};

    /** Where it is to be loaded: requests of the adapter that would give its slot up soonest. */
    private byte[] busy = {};

    private OfAdapter(String name) {
      this.name = name;
    }

    private void update(PoolCandidates candidates) {
      int places = candidates.places();
      if (places > loads.length) {
        loads = new byte[places + places / 2];
        busy = new byte[loads.length];
        seen = 0; // all are told
      }
      seen = candidates.changes(seen, this);
    }

    @Override
    public void changed(int place, Endpoint endpoint) {
      Adapters there = endpoint.adapters();
      boolean lacks = there.needed(name) && !there.resident(name);
      loads[place] = (byte) (!lacks ? 0 : there.loaded() < there.slots() ? 1 : 2);
      busy[place] = (byte) (lacks ? Math.clamp(there.leastInFlight(), 0, MOST_BUSY) : 0);
    }

    /** How many times the time of a load it takes there; 0 where nothing is to be loaded. */
    int loads(int place) {
      return loads[place];
    }

    /** Requests of the adapter there that would give its slot up soonest; 0 where none has to. */
    int busy(int place) {
      return busy[place];
    }
  }

  /**
   * How long an adapter stays in use that has so many requests in flight, if they come and go at
   * the rate that keeps them so many: the mean busy period of a queue with a server for each,
   * {@code (e^k - 1) / k} times what one takes.
   */
  static double untilASlotIsFree(int inFlight, double decode) {
    int k = Math.clamp(inFlight, 0, MOST_BUSY);
    return k == 0 ? 0 : decode * EXPM1[k] / k;
  }

  /** Where the adapter of this name is, as the pool is now; any other target needs none. */
  OfAdapter of(String name, PoolCandidates candidates) {
    OfAdapter known = adapters.get(name);
    if (known == null) {
      known = new OfAdapter(name);
      adapters.put(name, known);
    }
    int most = Math.clamp(MOST_PLACES / candidates.places(), 1, MOST_ADAPTERS);
    while (adapters.size() > most) {
      adapters.pollFirstEntry();
    }
    known.update(candidates);
    return known;
  }
}
