package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.core.scheduling.DecisionRecorder;
import io.fairlead.core.scheduling.SchedulerOutline;
import io.fairlead.core.view.CostTerm;
import io.fairlead.core.view.ItemizedScorer;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes a decision into the ring while the scheduler makes it: numbers as they are, of costs and
 * endpoints' facts those of the best few. {@link DecisionReader} makes a {@link Decision} of it
 * when somebody asks.
 */
public final class DecisionWriter implements DecisionRecorder {

  /** Candidates of which it is kept what they would have cost. */
  private static final int SHOWN = 8;

  /**
   * Of a pool of no more endpoints it is kept what was known of each of them, so that it can be
   * decided again; of a larger one only of the best.
   */
  static final int WHOLE_POOL = 32;

  /** Of a larger pool: endpoints that are out of which it is kept since when and why. */
  private static final int MOST_OUT_TOLD = 32;

  /** Of whoever the gateway leaves out. */
  private static final long NOT_ALLOWED =
      Words.pair(
          DecisionReader.HEALTH.indexOf(HealthState.IN_USE),
          DecisionReader.EXCLUSIONS.indexOf(Exclusion.NOT_ALLOWED));

  /** In the place of a number: there is none. */
  static final int NOBODY = -1;

  /** Words before the costs of each candidate. */
  private static final int COSTS_HEAD = 3;

  /** What is known of all endpoints, in words. */
  private static final int COLUMNS = 8;

  private final ReceiptRing ring;
  private final Vocabulary vocabulary;
  private final DecisionContexts contexts;

  /** The profiles that have run are the first of these, which are used again and again. */
  private final List<Run> runs = new ArrayList<>();

  private int runCount;
  private @Nullable SchedulerOutline outline;

  /** What the newest context was made of. */
  private Object @Nullable [] pool;

  private long from;
  private int all;

  /** Of the profile that runs now. */
  private @Nullable InferenceRequest request;

  private boolean begun;
  private @Nullable ItemizedScorer itemized;
  private int itemizedNumber;

  private final int[] shown = new int[SHOWN + 2];
  private @Nullable List<CostTerm> lastTerms;
  private @Nullable String lastPreference;
  private long lastWording;
  private double[] millis = {};
  private double[] weights = {};
  private boolean[] isLeft = {};
  private int[] heldBlocks = {};
  private int[] heldTokens = {};

  /** Why the last endpoints are no candidates, and of how many in a row this is not written yet. */
  private long same;

  private int sameCount;

  /** Of how many that are out it is told since when and why. */
  private int told;

  DecisionWriter(ReceiptRing ring, Vocabulary vocabulary, DecisionContexts contexts) {
    this.ring = ring;
    this.vocabulary = vocabulary;
    this.contexts = contexts;
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
    runCount = 0;
  }

  @Override
  public void profile(int profile, InferenceRequest request) {
    this.request = request;
    begun = false;
    itemized = null;
    if (runCount == runs.size()) {
      runs.add(new Run());
    }
    runs.get(runCount++).begin(profile);
    ring.put(DecisionReader.PROFILE, profile);
  }

  /** Tells once of each profile with what it began: the assigner may have given it only some. */
  private void begin(Left left) {
    int size = left.candidates().size();
    if (!begun && size < all) {
      reserve(all);
      Arrays.fill(isLeft, 0, all, false);
      for (int i = 0; i < size; i++) {
        isLeft[left.origin(i)] = true;
      }
      ring.put(DecisionReader.SOME, all);
      putBits(isLeft, all);
    }
    begun = true;
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
    Run run = runs.get(runCount - 1);
    run.best(sums, left.candidates().size());
    if (itemized != null && request != null) {
      run.expected = costs(itemized, request, left, run, picked[0]);
    }
    ring.put(DecisionReader.PICKED, count);
    for (int i = 0; i < count; i++) {
      ring.put(picked[i]);
    }
    for (int i = 0; i < run.bestCount; i++) {
      run.best[i] = left.origin(run.best[i]);
    }
  }

  @Override
  public void advised(Left left, double[] scores, int[] picked) {
    begin(left);
    ring.put(DecisionReader.ADVISED, 0);
    ring.put(scores, left.candidates().size());
    picked(left, scores, picked, 1);
  }

  /**
   * Writes of each cost the terms that are not 0 ms. Returns what is expected until the first token
   * at who was picked; NaN where that isn't among the best.
   */
  private double costs(
      ItemizedScorer scorer, InferenceRequest request, Left left, Run run, int picked) {
    double expectedThere = Double.NaN;
    List<CostTerm> terms = scorer.costTerms();
    int count = terms.size();
    if (millis.length < count) {
      millis = new double[count];
      weights = new double[count];
    }
    long[] words = ring.room(COSTS_HEAD + run.bestCount * (1 + count));
    int to = ring.gathered();
    words[to++] = Words.pair(DecisionReader.COSTS, itemizedNumber);
    words[to++] = wording(terms, scorer.preference());
    words[to++] = run.bestCount;
    for (int i = 0; i < run.bestCount; i++) {
      int place = run.best[i];
      scorer.itemize(request, left.candidates(), place, millis, weights);
      if (place == picked) {
        expectedThere = firstToken(terms);
      }
      int head = to++;
      int some = 0;
      for (int t = 0; t < count; t++) {
        if (millis[t] != 0) {
          some |= 1 << t;
          // For people: what decides are the scores, which are kept as they are.
          words[to++] =
              Words.pair(
                  Float.floatToRawIntBits((float) millis[t]),
                  Float.floatToRawIntBits((float) weights[t]));
        }
      }
      words[head] = Words.pair(place, some);
    }
    ring.wrote(to);
    return expectedThere;
  }

  /** Numbers of the terms and of the preference, which are nearly always those of the last time. */
  @SuppressWarnings("ReferenceEquality") // the same ones, or looked up
  private long wording(List<CostTerm> terms, String preference) {
    if (terms != lastTerms || preference != lastPreference) {
      lastTerms = terms;
      lastPreference = preference;
      lastWording = Words.pair(vocabulary.number(terms), vocabulary.number(preference));
    }
    return lastWording;
  }

  private double firstToken(List<CostTerm> terms) {
    double sum = 0;
    for (int t = 0; t < terms.size(); t++) {
      sum += terms.get(t).beforeFirstToken() ? millis[t] : 0;
    }
    return sum;
  }

  /** Which run was that of the profile; -1 for none. */
  private int runOf(int profile) {
    for (int i = 0; i < runCount; i++) {
      if (runs.get(i).profile == profile) {
        return i;
      }
    }
    return NOBODY;
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
      Object[] pool,
      int primary,
      int picked,
      int prefill,
      Surroundings around) {
    SchedulerOutline made = outline;
    if (made == null) {
      throw new IllegalStateException("no decision was begun");
    }
    int words = Math.toIntExact(ring.end() - from);
    places(pool.length, around);
    int number = runOf(primary);
    Run run = runs.get(number);
    facts(pool.length, shown(run, picked, prefill, pool.length, around), around);
    WrittenDecision decision =
        new WrittenDecision(
            context(config, made, pool, around),
            at,
            from,
            words,
            all,
            number,
            around.place(picked),
            prefill,
            run.expected);
    outline = null;
    clear();
    return decision;
  }

  /**
   * Nobody was found, or nobody was asked.
   *
   * @param outlineNow of the scheduler
   * @param pool the endpoints that there are; never changed from here on
   * @param candidates how many the request may go to
   */
  public WrittenDecision refused(
      long at,
      PoolConfig config,
      SchedulerOutline outlineNow,
      Object[] pool,
      int candidates,
      Surroundings around) {
    if (outline == null || all != candidates) {
      begin(outlineNow, candidates);
    }
    int words = Math.toIntExact(ring.end() - from);
    places(pool.length, around);
    int count = Math.min(pool.length, SHOWN);
    Arrays.setAll(shown, place -> place);
    facts(pool.length, count, around);
    WrittenDecision refusal =
        new WrittenDecision(
            context(config, outlineNow, pool, around),
            at,
            from,
            words,
            all,
            NOBODY,
            NOBODY,
            NOBODY,
            Double.NaN);
    outline = null;
    clear();
    return refusal;
  }

  /** Number of the newest context, which is of these. */
  @SuppressWarnings("ReferenceEquality") // the same one, or another: that costs an object
  private long context(
      PoolConfig config, SchedulerOutline outline, Object[] pool, Surroundings around) {
    DecisionContext last = contexts.newest();
    EndpointSpec[] specs = last != null && this.pool == pool ? last.pool() : null;
    if (last == null
        || specs == null
        || last.config() != config
        || last.outline() != outline
        || last.origin() != around.origin()) {
      if (specs == null) {
        specs = new EndpointSpec[pool.length];
        Arrays.setAll(specs, around::spec);
      }
      contexts.add(new DecisionContext(config, outline, specs, around.origin()));
      this.pool = pool;
    }
    return contexts.current();
  }

  /** Which endpoints are the candidates, and why the others are not. */
  private void places(int endpoints, Surroundings around) {
    ring.put(around.ceiling());
    if (all == endpoints) {
      return;
    }
    long[] candidates = around.candidates();
    int words = Math.ceilDiv(endpoints, Long.SIZE);
    for (int word = 0; word < words; word++) {
      ring.put(candidates[word]);
    }
    boolean tells = endpoints > WHOLE_POOL && !around.whole();
    long[] allowed = tells ? null : around.allowed();
    told = 0;
    sameCount = 0;
    for (int word = 0; word < words; word++) {
      long out = ~candidates[word];
      if (endpoints - word * Long.SIZE < Long.SIZE) {
        out &= (1L << endpoints) - 1;
      }
      if (out != 0 && allowed != null && (out & allowed[word]) == 0) {
        excluded(NOT_ALLOWED, Long.bitCount(out));
        continue;
      }
      for (; out != 0; out &= out - 1) {
        excluded(word * Long.SIZE + Long.numberOfTrailingZeros(out), tells, around);
      }
    }
    putExcluded();
  }

  private void excluded(int place, boolean tells, Surroundings around) {
    Exclusion why = around.exclusion(place);
    boolean full = why == Exclusion.FULL;
    HealthState state = HealthState.IN_USE;
    if (!full && tells && told < MOST_OUT_TOLD) {
      state = around.health(place);
    }
    int more = full ? vocabulary.number(around.limit(place)) : DecisionReader.HEALTH.indexOf(state);
    excluded(Words.pair(more, DecisionReader.EXCLUSIONS.indexOf(why)), 1);
    if (state != HealthState.IN_USE) {
      told++;
      putExcluded();
      ring.put(around.healthSince(place));
      ring.put(around.healthReason(place));
    }
  }

  /**
   * So many more endpoints are no candidates. Neighbours mostly are none for the same reason: a
   * large pool of which the gateway allows a part would take a word for each of them otherwise.
   */
  private void excluded(long why, int count) {
    if (why != same) {
      putExcluded();
    }
    same = why;
    sameCount += count;
  }

  private void putExcluded() {
    if (sameCount > 0) {
      ring.put(same);
      ring.put(sameCount);
      sameCount = 0;
    }
  }

  /** What is known of the endpoints: column by column, since each is an array. */
  private void facts(int endpoints, int count, Surroundings around) {
    if (endpoints > WHOLE_POOL) {
      ring.put(count, 0);
      for (int i = 0; i < count; i++) {
        ring.put(shown[i]);
      }
    } else {
      ring.put(endpoints, 1);
    }
    EndpointTable table = around.table();
    columns(table, endpoints, count);
    ring.put(around.prefillPace());
    ring.put(around.seed());
    ring.put(around.blocks(), around.replicas());
    if (heldBlocks.length < endpoints) {
      heldBlocks = new int[endpoints + endpoints / 2];
      heldTokens = new int[heldBlocks.length];
    }
    boolean some = around.held(heldBlocks, heldTokens);
    ring.put(some ? 1 : 0);
    boolean whole = around.whole();
    boolean more = table.hasMore();
    ring.put(whole ? 1 : 0, more ? 1 : 0);
    int rows = endpoints > WHOLE_POOL ? count : endpoints;
    for (int i = 0; i < rows && (some || !whole || more); i++) {
      int place = endpoints > WHOLE_POOL ? shown[i] : i;
      if (some) {
        ring.put(heldTokens[place], heldBlocks[place]);
      }
      if (!whole) {
        health(place, around);
      }
      if (more) {
        adapters(around.adapters(place), around.target());
        values(around.values(place));
      }
    }
    headers(around.headers());
  }

  private void columns(EndpointTable table, int endpoints, int count) {
    boolean whole = endpoints <= WHOLE_POOL;
    int rows = whole ? endpoints : count;
    long[] words = ring.room(COLUMNS * rows);
    int to = ring.gathered();
    for (int i = 0; i < rows; i++) {
      int place = whole ? i : shown[i];
      words[to + i] = table.sent[place];
      words[to + rows + i] = table.tokens[place];
      words[to + 2 * rows + i] = table.queued[place];
      words[to + 3 * rows + i] = table.prefillTokens[place];
      words[to + 4 * rows + i] = table.scraped[place];
      words[to + 5 * rows + i] = table.scrapedAt[place];
      words[to + 6 * rows + i] = Double.doubleToRawLongBits(table.kvUsage[place]);
      words[to + 7 * rows + i] = Double.doubleToRawLongBits(table.saturation[place]);
    }
    ring.wrote(to + COLUMNS * rows);
  }

  private void health(int place, Surroundings around) {
    HealthState state = around.health(place);
    ring.put(DecisionReader.HEALTH.indexOf(state));
    ring.put(around.failing(place));
    if (state != HealthState.IN_USE) {
      ring.put(around.healthSince(place));
      ring.put(around.healthReason(place));
    }
  }

  private void adapters(Adapters adapters, String target) {
    ring.put(adapters.slots(), adapters.loaded());
    if (adapters.slots() > 0) {
      int flags =
          (adapters.needed(target) ? DecisionReader.NEEDED : 0)
              | (adapters.resident(target) ? DecisionReader.RESIDENT : 0)
              | (adapters.running(target) ? DecisionReader.RUNNING : 0)
              | (adapters.waiting(target) ? DecisionReader.WAITING : 0);
      ring.put(adapters.reported(), flags);
    }
  }

  private void values(Map<String, Double> values) {
    ring.put(values.size());
    values.forEach(
        (key, value) -> {
          ring.put(vocabulary.number(key));
          ring.put(value.doubleValue());
        });
  }

  private void headers(@Nullable HeaderReads reads) {
    ring.put(reads == null ? 0 : reads.size());
    if (reads != null) {
      reads.each(
          (name, value) -> {
            ring.put(vocabulary.number(name), value == null ? 0 : 1);
            if (value != null) {
              ring.put(value);
            }
          });
    }
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

  /**
   * Chooses whose facts are kept, by place: who was picked, the best of the run that counts, and
   * others while there is space. Nothing to choose where all are kept.
   */
  private int shown(Run run, int picked, int prefill, int endpoints, Surroundings around) {
    if (endpoints <= WHOLE_POOL) {
      return endpoints;
    }
    int most = Math.min(all, shown.length);
    int count = 0;
    shown[count++] = around.place(picked);
    if (prefill >= 0 && prefill != picked) {
      shown[count++] = around.place(prefill);
    }
    for (int i = 0; i < run.bestCount; i++) {
      int place = around.place(run.best[i]);
      if (count < most && !isShown(count, place)) {
        shown[count++] = place;
      }
    }
    for (int i = 0; i < all && count < most; i++) {
      int place = around.place(i);
      if (!isShown(count, place)) {
        shown[count++] = place;
      }
    }
    return count;
  }

  private boolean isShown(int count, int place) {
    for (int i = 0; i < count; i++) {
      if (shown[i] == place) {
        return true;
      }
    }
    return false;
  }

  private void reserve(int size) {
    if (isLeft.length < size) {
      isLeft = new boolean[size + size / 2];
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

  /** One profile's, until the decision is written. */
  private static final class Run {

    private int profile;

    /** Milliseconds until the first token of who was picked; NaN where nobody expects any. */
    private double expected;

    /** The best candidates, best first. */
    private final int[] best = new int[SHOWN];

    private int bestCount;

    private void begin(int number) {
      profile = number;
      expected = Double.NaN;
      bestCount = 0;
    }

    /** Finds the places of the highest numbers. */
    private void best(double[] numbers, int size) {
      int[] places = best;
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
      bestCount = count;
    }
  }
}
