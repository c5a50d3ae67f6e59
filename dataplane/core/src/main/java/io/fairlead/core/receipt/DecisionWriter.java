package io.fairlead.core.receipt;

import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.core.view.ItemizedScorer;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes a decision into the ring while the scheduler makes it: numbers as they are, of costs and
 * endpoints' facts those of the best few. {@link DecisionReader} makes a {@link Decision} of it
 * when somebody asks.
 */
public final class DecisionWriter implements DecisionRecorder {

  /** Candidates of which it is kept what was known of them, and what they would have cost. */
  private static final int SHOWN = 8;

  private final ReceiptRing ring;
  private final Vocabulary vocabulary;
  private final Best best = new Best();

  /** The best candidates of each run so far. */
  private final List<int[]> bests = new ArrayList<>();

  private final List<Integer> profiles = new ArrayList<>();
  private @Nullable SchedulerOutline outline;

  /** Of the last decision. */
  private @Nullable DecisionContext context;

  private long from;
  private int all;

  /** Of the profile that runs now. */
  private @Nullable InferenceRequest request;

  private boolean begun;
  private @Nullable ItemizedScorer itemized;
  private int itemizedNumber;

  /** By run; milliseconds until the first token of who was picked. */
  private final List<Double> expected = new ArrayList<>();

  private int[] shown = new int[SHOWN + 2];
  private double[] millis = {};
  private double[] weights = {};
  private boolean[] isCandidate = {};

  DecisionWriter(ReceiptRing ring, Vocabulary vocabulary) {
    this.ring = ring;
    this.vocabulary = vocabulary;
  }

  /** What is asked about candidates and endpoints once one was picked. */
  public interface Surroundings {

    /** Place of a candidate among the pool's endpoints. */
    int place(int candidate);

    /** Why the scheduler was not asked about the endpoint in this place. */
    Exclusion exclusion(int place);

    /** What is known of a candidate. */
    EndpointFacts facts(int candidate);
  }

  /**
   * The scheduler is asked.
   *
   * @param outline of the scheduler
   * @param candidates how many there are
   */
  public void begin(SchedulerOutline outline, int candidates) {
    if (this.outline != null) {
      ring.rewind(from);
    }
    this.outline = outline;
    from = ring.end();
    all = candidates;
    bests.clear();
    expected.clear();
    profiles.clear();
  }

  @Override
  public void profile(int profile, InferenceRequest request) {
    this.request = request;
    begun = false;
    itemized = null;
    profiles.add(profile);
    bests.add(new int[0]);
    expected.add(Double.NaN);
    ring.put(DecisionReader.PROFILE, profile);
  }

  /** Tells once of each profile with what it began: the assigner may have given it only some. */
  private void begin(Left left) {
    int size = left.candidates().size();
    if (!begun && size < all) {
      mark(size, left);
      ring.put(DecisionReader.SOME, all);
      putBits(isCandidate, all);
    }
    begun = true;
  }

  private void mark(int size, Left left) {
    reserve(all);
    Arrays.fill(isCandidate, 0, all, false);
    for (int i = 0; i < size; i++) {
      isCandidate[left.origin(i)] = true;
    }
  }

  @Override
  public void filtered(int filter, Left left, boolean[] keep) {
    begin(left);
    int size = left.candidates().size();
    for (int i = 0; i < size; i++) {
      if (!keep[i]) {
        ring.put(DecisionReader.FILTERED, filter);
        putBits(keep, size);
        return;
      }
    }
  }

  @Override
  public void scored(int number, Scorer scorer, Left left, double[] scores) {
    begin(left);
    if (scorer instanceof ItemizedScorer one && itemized == null) {
      itemized = one;
      itemizedNumber = number;
    }
    ring.put(DecisionReader.SCORED, number);
    ring.put(scores, left.candidates().size());
  }

  @Override
  public void picked(Left left, double[] sums, int[] picked, int count) {
    begin(left);
    int[] places = best.of(sums, left.candidates().size());
    if (itemized != null && request != null) {
      double millis = costs(itemized, request, left, places, picked[0]);
      expected.set(expected.size() - 1, millis);
    }
    ring.put(DecisionReader.PICKED, count);
    for (int i = 0; i < count; i++) {
      ring.put(picked[i]);
    }
    for (int i = 0; i < places.length; i++) {
      places[i] = left.origin(places[i]);
    }
    bests.set(bests.size() - 1, places);
  }

  @Override
  public void advised(Left left, double[] scores, int[] picked) {
    begin(left);
    ring.put(DecisionReader.ADVISED, 0);
    ring.put(scores, left.candidates().size());
    picked(left, scores, picked, 1);
  }

  /**
   * Writes of each cost the terms that are not at their usual: 0 ms, with a weight of 1. Returns
   * what is expected until the first token at who was picked; NaN where that isn't among the best.
   */
  private double costs(
      ItemizedScorer scorer, InferenceRequest request, Left left, int[] places, int picked) {
    double expectedThere = Double.NaN;
    int terms = scorer.costTerms().size();
    if (millis.length < terms) {
      millis = new double[terms];
      weights = new double[terms];
    }
    ring.put(DecisionReader.COSTS, itemizedNumber);
    ring.put(vocabulary.number(scorer.costTerms()), vocabulary.number(scorer.preference()));
    ring.put(places.length);
    for (int place : places) {
      scorer.itemize(request, left.candidates(), place, millis, weights);
      int unusual = 0;
      double firstToken = 0;
      for (int t = 0; t < terms; t++) {
        unusual |= millis[t] != 0 || weights[t] != 1 ? 1 << t : 0;
        firstToken += scorer.costTerms().get(t).beforeFirstToken() ? millis[t] : 0;
      }
      expectedThere = place == picked ? firstToken : expectedThere;
      ring.put(place, unusual);
      for (int t = 0; t < terms; t++) {
        if ((unusual & 1 << t) != 0) {
          ring.put(millis[t]);
          ring.put(weights[t]);
        }
      }
    }
    return expectedThere;
  }

  /**
   * What has come of it.
   *
   * @param pool the endpoints that there were; never changed from here on
   * @param primary number of the profile whose pick gets the request
   * @param picked that pick
   * @param prefill the candidate that computes the prompt for it; -1 for itself
   */
  public WrittenDecision end(
      long at,
      PoolConfig config,
      Endpoint[] pool,
      int primary,
      int picked,
      int prefill,
      Surroundings around) {
    SchedulerOutline made = outline;
    if (made == null) {
      throw new IllegalStateException("no decision was begun");
    }
    int runs = Math.toIntExact(ring.end() - from);
    places(pool.length, around);
    int run = profiles.indexOf(primary);
    int count = shown(bests.get(run), picked, prefill);
    ring.put(count);
    for (int i = 0; i < count; i++) {
      write(shown[i], around.facts(shown[i]));
    }
    WrittenDecision decision =
        new WrittenDecision(
            context(config, made, pool),
            at,
            from,
            runs,
            all,
            run,
            around.place(picked),
            prefill,
            expected.get(run));
    outline = null;
    clear();
    return decision;
  }

  @SuppressWarnings("ReferenceEquality") // the same one, or another: that costs an object
  private DecisionContext context(PoolConfig config, SchedulerOutline outline, Endpoint[] pool) {
    DecisionContext same = context;
    if (same == null
        || same.config() != config
        || same.outline() != outline
        || same.pool() != pool) {
      same = new DecisionContext(config, outline, pool);
      context = same;
    }
    return same;
  }

  /** Which endpoints are the candidates, and why the others are not. */
  private void places(int endpoints, Surroundings around) {
    if (all == endpoints) {
      return;
    }
    reserve(endpoints);
    Arrays.fill(isCandidate, 0, endpoints, false);
    for (int i = 0; i < all; i++) {
      isCandidate[around.place(i)] = true;
    }
    putBits(isCandidate, endpoints);
    for (int place = 0; place < endpoints; place++) {
      if (!isCandidate[place]) {
        ring.put(DecisionReader.EXCLUSIONS.indexOf(around.exclusion(place)));
      }
    }
  }

  private void write(int candidate, EndpointFacts facts) {
    ring.put(candidate, DecisionReader.HEALTH.indexOf(facts.health()));
    ring.put(facts.inFlight(), facts.awaitingFirstToken());
    ring.put(facts.scrapedWaiting(), facts.scrapedRunning());
    ring.put(facts.kvUsage());
    ring.put(facts.cachedTokens());
    ring.put(facts.scrapedAt());
    ring.put(facts.failing());
    ring.put(facts.saturation());
  }

  /** Takes back what was written of a decision that was not made. */
  public void clear() {
    if (outline != null) {
      ring.rewind(from);
    }
    outline = null;
    request = null;
    itemized = null;
  }

  /** Who was picked, the best of the run that counts, and others while there is space. */
  private int shown(int[] bestOfRun, int picked, int prefill) {
    int most = Math.min(all, shown.length);
    int count = 0;
    shown[count++] = picked;
    if (prefill >= 0 && prefill != picked) {
      shown[count++] = prefill;
    }
    for (int candidate : bestOfRun) {
      if (count < most && !isShown(count, candidate)) {
        shown[count++] = candidate;
      }
    }
    for (int i = 0; i < all && count < most; i++) {
      if (!isShown(count, i)) {
        shown[count++] = i;
      }
    }
    return count;
  }

  private boolean isShown(int count, int candidate) {
    for (int i = 0; i < count; i++) {
      if (shown[i] == candidate) {
        return true;
      }
    }
    return false;
  }

  private void reserve(int size) {
    if (isCandidate.length < size) {
      isCandidate = new boolean[size + size / 2];
    }
  }

  private void putBits(boolean[] bits, int count) {
    for (int start = 0; start < count; start += Long.SIZE) {
      long word = 0;
      for (int i = Math.min(count, start + Long.SIZE) - 1; i >= start; i--) {
        word = word << 1 | (bits[i] ? 1 : 0);
      }
      ring.put(word);
    }
  }

  /** Finds the places of the highest numbers, highest first. */
  private static final class Best {

    private final int[] places = new int[SHOWN];

    int[] of(double[] numbers, int size) {
      int count = 0;
      double least = Double.NEGATIVE_INFINITY;
      for (int i = 0; i < size; i++) {
        double number = numbers[i];
        // Hardly ever true once the first are through: with equals, too, the earlier ones stay.
        if (number > least || count < SHOWN) {
          int at = count < SHOWN ? count++ : SHOWN - 1;
          while (at > 0 && numbers[places[at - 1]] < number) {
            places[at] = places[at - 1];
            at--;
          }
          places[at] = i;
          least = count < SHOWN ? Double.NEGATIVE_INFINITY : numbers[places[SHOWN - 1]];
        }
      }
      return Arrays.copyOf(places, count);
    }
  }
}
