package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.PoolCandidates;
import io.fairlead.plugin.InferenceRequest;

/**
 * Who gets a request, once it is known what it costs at each candidate: with several pickers and a
 * prompt that is mostly new, the one that all pickers agree on unless it costs {@linkplain
 * #mostForAgreement more than that is worth}. Else, of those that hold as much of the prompt as the
 * cheapest and cost about the same, the one with the fewest requests in flight, a request that it
 * will fail counting as many: so small a difference may be chance, and would send all that comes to
 * one of equal servers. One request in a hundred goes to any idle server that is not hopeless, so
 * that what was learned of it can be unlearned.
 */
final class Winner {

  private static final String AGREED = "every picker prefers it for this prompt";
  private static final String EXPLORED =
      "one request in a hundred tries an idle endpoint, so that what was learned of it can be"
          + " unlearned";
  private static final String LEAST_BUSY = "the least busy of those that cost about the same";
  private static final String DRAWN = "drawn among idle ones that cost about the same";

  private static final int NONE = -1;

  /** So much more, as a share of the cost, is near enough for pickers to agree; chosen. */
  private static final double NEAR = 0.5;

  /** Costs that differ by less are the same, worked out in another order. */
  static final double ROUNDING = 1 + 1e-9;

  /** So many times the least cost is about the same: above the noise of learned speeds. */
  private static final double SAME = 1.05;

  /** The same for idle servers: there is no queue that the difference could stand for. */
  private static final double SAME_AT_REST = 1.2;

  /** Beyond so many times the least cost an idle server is not worth a try; chosen. */
  private static final double NOT_HOPELESS = 4;

  private static final long EXPLORING = 0x6578706c;
  private static final long EXPLORE_ONE_IN = 100;

  /** The load of one that is idle and fails nothing. */
  private static final double IDLE = 1;

  private static final double MANY = Double.POSITIVE_INFINITY;

  private final WorkCostScorer.Settings settings;
  private final CostColumns columns;
  private final WorkCost costs;

  /** The candidates that are looked at. */
  private int[] near = {};

  private int nearCount;

  private String preference = "";

  Winner(WorkCostScorer.Settings settings, CostColumns columns, WorkCost costs) {
    this.settings = settings;
    this.columns = columns;
    this.costs = costs;
  }

  /** Why the last one won, but for its cost; empty if for nothing else. */
  String preference() {
    return preference;
  }

  /**
   * The winner's index.
   *
   * @param cached prompt tokens that each candidate is believed to hold
   * @param scores what the request costs at each
   * @param least index of one that costs least
   */
  int among(
      InferenceRequest request,
      PoolCandidates candidates,
      double[] cached,
      double[] scores,
      int least) {
    int size = candidates.size();
    if (near.length < size) {
      near = new int[size + size / 2];
    }
    int cheapest = leastBusyTie(candidates, scores, least);
    double cost = scores[cheapest];
    if (settings.replicas(candidates) > 1 && mostlyNew(request, candidates)) {
      lookAt(scores, size, Double.POSITIVE_INFINITY);
      int agreed = highest(request, candidates, cached, 0, MANY);
      if (scores[agreed] - cost <= mostForAgreement(candidates, cheapest, cost)) {
        preference = AGREED;
        return agreed;
      }
    }
    double held = cached[cheapest];
    if (request.draw(EXPLORING, EXPLORE_ONE_IN) == 0) {
      lookAt(scores, size, NOT_HOPELESS * cost);
      int idle = highest(request, candidates, cached, held, IDLE);
      if (idle != NONE) {
        preference = EXPLORED;
        return idle;
      }
    }
    double fewest = columns.load(candidates.place(cheapest));
    boolean atRest = fewest <= IDLE;
    lookAt(scores, size, (atRest ? SAME_AT_REST : SAME) * cost);
    if (!atRest) {
      fewest = leastLoad(candidates, cached, held);
    }
    preference = nearCount == 1 ? "" : atRest ? DRAWN : LEAST_BUSY;
    return highest(request, candidates, cached, held, fewest);
  }

  /** Of those that cost as much as this one but for rounding, one with the least load. */
  private int leastBusyTie(PoolCandidates candidates, double[] scores, int first) {
    int winner = first;
    double fewest = columns.load(candidates.place(first));
    double most = scores[first] * ROUNDING;
    for (int i = 0; fewest > IDLE && i < candidates.size(); i++) {
      if (scores[i] <= most) {
        double load = columns.load(candidates.place(i));
        if (load < fewest) {
          winner = i;
          fewest = load;
        }
      }
    }
    return winner;
  }

  /**
   * How much more than the least cost a server may cost that all pickers agree on. Where they know
   * nothing of each other nothing else makes them find a prompt again, so that a share of all the
   * cost is worth it. Where they tell what they send they need to agree on what came since they
   * were told last, and that is worth no wait: a share of the cost without what the request would
   * wait for, and what it costs wherever it goes.
   */
  private double mostForAgreement(PoolCandidates candidates, int cheapest, double least) {
    if (costs.inTwo || settings.timesKnown(candidates) > 1) {
      return NEAR * least;
    }
    double missedEverywhere = costs.missed(costs.prompt - costs.mostHeld);
    double alone = least - missedEverywhere - costs.waited(candidates.place(cheapest));
    return NEAR * alone;
  }

  /** From now on those that cost no more are looked at: few, of many, most often. */
  private void lookAt(double[] scores, int size, double most) {
    int[] into = near;
    int count = 0;
    for (int i = 0; i < size; i++) {
      if (scores[i] <= most) {
        into[count++] = i;
      }
    }
    nearCount = count;
  }

  /** The least load of those looked at that hold no less of the prompt. */
  private double leastLoad(PoolCandidates candidates, double[] cached, double held) {
    double fewest = MANY;
    for (int n = 0; n < nearCount; n++) {
      int i = near[n];
      double load = columns.load(candidates.place(i));
      if (load < fewest && cached[i] >= held) {
        fewest = load;
      }
    }
    return fewest;
  }

  /**
   * What a choice is made by that replicas should agree on. A prompt below a block has nothing to
   * be found again: its request's own seed, or an idle pool would send all such requests to one
   * endpoint.
   */
  private static long key(InferenceRequest request) {
    return request.blockCount() == 0 ? request.seed() : request.prefixKey();
  }

  private static boolean mostlyNew(InferenceRequest request, PoolCandidates candidates) {
    for (int i = 0; i < candidates.size(); i++) {
      if (candidates.matchedBlocks(i) * 2 >= Math.max(1, request.blockCount())) {
        return false;
      }
    }
    return true;
  }

  /**
   * Rendezvous: of those looked at that hold no less of the prompt and have no more load, the
   * highest hash of prompt and endpoint.
   */
  private int highest(
      InferenceRequest request,
      PoolCandidates candidates,
      double[] cached,
      double held,
      double load) {
    long key = key(request);
    int winner = NONE;
    long highest = Long.MIN_VALUE;
    for (int n = 0; n < nearCount; n++) {
      int i = near[n];
      int place = candidates.place(i);
      if (cached[i] >= held && columns.load(place) <= load) {
        // The top bit turned, signed numbers are in the order of unsigned ones.
        long hash = mix(key ^ columns.identity(place)) ^ Long.MIN_VALUE;
        if (hash >= highest) {
          highest = hash;
          winner = i;
        }
      }
    }
    return winner;
  }

  /** The finalizer of SplitMix64. */
  private static long mix(long z) {
    long once = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    long twice = (once ^ (once >>> 27)) * 0x94D049BB133111EBL;
    return twice ^ (twice >>> 31);
  }
}
