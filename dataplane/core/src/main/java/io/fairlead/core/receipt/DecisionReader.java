package io.fairlead.core.receipt;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.HealthState;
import io.fairlead.core.account.PrefillLine;
import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.EndpointFacts.AdapterFacts;
import io.fairlead.core.receipt.KeptRequest.KeptDecision;
import io.fairlead.core.receipt.ProfileRun.Costs;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import io.fairlead.core.view.CostTerm;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads what {@link DecisionWriter} has sending.
 *
 * <p>A decision is a list of entries, each a word with its kind in the high half and a number in
 * the low one, and then what {@link DecisionWriter} puts there. The last one is followed by the
 * candidates and what was known of them.
 */
final class DecisionReader {

  /** A profile runs: its number. */
  static final int PROFILE = 1;

  /** It was given only some of the candidates: how many there are, and a bit for each. */
  static final int SOME = 2;

  /** A filter rejected some: its number, and a bit for each of those that were left so far. */
  static final int FILTERED = 3;

  /** A scorer scored: its number, and a score for each of those that were left. */
  static final int SCORED = 4;

  /** What some of the scores of a scorer came from: its number. */
  static final int COSTS = 5;

  /** The picker picked: how many, and their places. */
  static final int PICKED = 6;

  /** An external scheduler scored the candidates that were left, in the place of all scorers. */
  static final int ADVISED = 7;

  /** Of an adapter. */
  static final int NEEDED = 1;

  static final int RESIDENT = 2;
  static final int RUNNING = 4;
  static final int WAITING = 8;

  static final List<Exclusion> EXCLUSIONS = List.of(Exclusion.values());
  static final List<HealthState> HEALTH = List.of(HealthState.values());

  private final Sending sending;
  private final Words words;
  private final List<Object> vocabulary;
  private final List<ProfileRun> runs = new ArrayList<>();

  /** Of the run that is being read; null before the first. */
  private @Nullable ProfileOutline outline;

  private byte @Nullable [] rejectedBy;
  private int[] left = {};
  private double[][] scores = {};
  private @Nullable Costs costs;
  private int @Nullable [] picked;

  private final DecidedRequest asked;

  private DecisionReader(DecidedRequest asked, KeptDecision kept) {
    this.asked = asked;
    sending = kept.sending();
    words = new Words(kept.words());
    vocabulary = kept.vocabulary();
  }

  static Decision read(DecidedRequest asked, KeptDecision kept) {
    return new DecisionReader(asked, kept).decision();
  }

  private Decision decision() {
    while (words.position() < sending.runs()) {
      long entry = words.next();
      entry(Words.high(entry), Words.low(entry));
    }
    endRun();
    EndpointSpec[] pool = sending.context().pool();
    double ceiling = words.number();
    List<Excluded> excluded = new ArrayList<>();
    EndpointSpec[] candidates = pool;
    int[] candidateOf = new int[pool.length];
    Arrays.setAll(candidateOf, i -> i);
    if (sending.candidates() < pool.length) {
      candidates = new EndpointSpec[sending.candidates()];
      boolean[] isCandidate = words.bits(pool.length);
      int count = 0;
      long why = 0;
      long sameCount = 0;
      for (int place = 0; place < pool.length; place++) {
        if (isCandidate[place]) {
          candidateOf[place] = count;
          candidates[count++] = pool[place];
        } else {
          candidateOf[place] = -1;
          if (sameCount == 0) {
            why = words.next();
            sameCount = words.next();
          }
          sameCount--;
          Exclusion exclusion = EXCLUSIONS.get(Words.low(why));
          // A number of what it lacks where it is full; else its health where that is told here.
          boolean full = exclusion == Exclusion.FULL;
          String limit = full ? (String) vocabulary.get(Words.high(why)) : "";
          HealthState health = full ? HealthState.IN_USE : HEALTH.get(Words.high(why));
          boolean tells = health != HealthState.IN_USE;
          long since = tells ? words.next() : 0;
          String reason = tells ? words.text() : "";
          excluded.add(new Excluded(pool[place].name(), exclusion, limit, health, since, reason));
        }
      }
    }
    Known known = known(pool.length);
    @Nullable EndpointFacts[] facts = new @Nullable EndpointFacts[candidates.length];
    Map<String, EndpointFacts> others = new LinkedHashMap<>();
    for (int i = 0; i < known.places().length; i++) {
      int place = known.places()[i];
      if (candidateOf[place] >= 0) {
        facts[candidateOf[place]] = known.facts()[i];
      } else {
        others.put(pool[place].name(), known.facts()[i]);
      }
    }
    return new Decision(
        sending, ceiling, known.request(), candidates, facts, excluded, others, runs);
  }

  @SuppressWarnings("ArrayRecordComponent") // handed over, not compared
  private record Known(int[] places, EndpointFacts[] facts, RequestInputs request) {}

  /** As {@link DecisionWriter} writes it: column by column first, and then what few have. */
  private Known known(int endpoints) {
    long first = words.next();
    int count = Words.high(first);
    int[] places = new int[count];
    Arrays.setAll(places, Words.low(first) == 1 ? i -> i : i -> Words.low(words.next()));
    if (endpoints < count) {
      throw new IllegalStateException(count + " of " + endpoints + " endpoints are known");
    }
    long[] sent = words.next(count);
    long[] tokens = words.next(count);
    long[] queued = words.next(count);
    long[] prefillTokens = words.next(count);
    long[] scraped = words.next(count);
    long[] scrapedAt = words.next(count);
    double[] kvUsage = words.numbers(count);
    double[] saturation = words.numbers(count);
    double pace = words.number();
    long seed = words.next();
    long blocks = words.next();
    boolean some = words.next() != 0;
    long flags = words.next();
    boolean whole = Words.high(flags) != 0;
    boolean more = Words.low(flags) != 0;
    EndpointFacts[] facts = new EndpointFacts[count];
    for (int i = 0; i < count; i++) {
      long held = some ? words.next() : 0;
      HealthState state = HealthState.IN_USE;
      double failing = 0;
      long since = 0;
      String reason = "";
      if (!whole) {
        state = HEALTH.get((int) words.next());
        failing = words.number();
        if (state != HealthState.IN_USE) {
          since = words.next();
          reason = words.text();
        }
      }
      @Nullable AdapterFacts adapters = more ? adapters() : null;
      Map<String, Double> values = more ? values() : Map.of();
      int said = Words.high(queued[i]);
      int prefills = Words.low(queued[i]);
      long expected = prefills == 0 ? 0 : PrefillLine.expected(pace, prefillTokens[i]);
      facts[i] =
          new EndpointFacts(
              Words.high(sent[i]),
              Words.low(sent[i]),
              tokens[i],
              prefills,
              prefillTokens[i],
              Words.high(scraped[i]),
              Words.low(scraped[i]),
              said,
              PrefillLine.waiting(said, prefills, expected),
              kvUsage[i],
              Words.low(held),
              Words.high(held),
              scrapedAt[i],
              state,
              since,
              reason,
              failing,
              saturation[i],
              adapters,
              values);
    }
    RequestInputs request =
        new RequestInputs(
            asked.model(),
            sending.target(),
            sending.promptTokens(),
            Words.high(blocks),
            asked.maxOutputTokens(),
            sending.criticality(),
            seed,
            Words.low(blocks),
            headers());
    return new Known(places, facts, request);
  }

  private @Nullable AdapterFacts adapters() {
    long sizes = words.next();
    if (Words.high(sizes) == 0) {
      return null;
    }
    long flags = words.next();
    int bits = Words.low(flags);
    return new AdapterFacts(
        Words.high(sizes),
        Words.low(sizes),
        Words.high(flags),
        (bits & NEEDED) != 0,
        (bits & RESIDENT) != 0,
        (bits & RUNNING) != 0,
        (bits & WAITING) != 0);
  }

  private Map<String, Double> values() {
    int count = (int) words.next();
    Map<String, Double> values = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      values.put((String) vocabulary.get((int) words.next()), words.number());
    }
    return values;
  }

  private Map<String, @Nullable String> headers() {
    int count = (int) words.next();
    Map<String, @Nullable String> headers = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      long name = words.next();
      headers.put(
          (String) vocabulary.get(Words.high(name)), Words.low(name) == 0 ? null : words.text());
    }
    return headers;
  }

  private void entry(int kind, int number) {
    switch (kind) {
      case PROFILE -> beginRun(number);
      case SOME -> reject(ProfileRun.NOT_ASSIGNED, words.bits(number));
      case FILTERED -> reject(number, words.bits(left.length));
      case ADVISED -> {
        outline = advised(Objects.requireNonNull(outline));
        scores = new double[][] {words.numbers(left.length)};
      }
      case SCORED -> scores[number] = words.numbers(left.length);
      case COSTS -> costs = costs(number);
      case PICKED -> picked = picks(number);
      default -> throw new IllegalStateException("no entry is of the kind " + kind);
    }
  }

  private void beginRun(int profile) {
    endRun();
    ProfileOutline next = sending.context().outline().profiles().get(profile);
    outline = next;
    rejectedBy = null;
    left = new int[sending.candidates()];
    Arrays.setAll(left, i -> i);
    scores = new double[next.scorers().size()][0];
    costs = null;
    picked = null;
  }

  /** As if that were all that the profile has beside its filters. */
  private static ProfileOutline advised(ProfileOutline profile) {
    return new ProfileOutline(
        profile.name(),
        profile.filters(),
        profile.keeps(),
        List.of(new WeightedScorer(ExternalScheduler.TYPE, 1)),
        ExternalScheduler.TYPE);
  }

  private void endRun() {
    ProfileOutline ended = outline;
    if (ended == null) {
      return;
    }
    int[] chosen = picked == null ? new int[0] : picked;
    double[] sums = new double[picked == null ? 0 : left.length];
    for (int s = 0; s < scores.length && sums.length > 0; s++) {
      WeightedScorer scorer = ended.scorers().get(s);
      for (int i = 0; i < sums.length; i++) {
        sums[i] += scorer.weight() * scores[s][i];
      }
    }
    int[] origins = rejectedBy == null ? null : left;
    runs.add(new ProfileRun(ended, rejectedBy, origins, scores, sums, chosen, costs));
    outline = null;
  }

  /** Those of the left that have no bit go. */
  private void reject(int by, boolean[] kept) {
    byte[] all = rejectedBy;
    if (all == null) {
      all = new byte[sending.candidates()];
      Arrays.fill(all, (byte) ProfileRun.KEPT);
      rejectedBy = all;
    }
    int count = 0;
    int[] still = new int[left.length];
    for (int i = 0; i < left.length; i++) {
      if (kept[i]) {
        still[count++] = left[i];
      } else {
        all[left[i]] = (byte) Math.min(by, Byte.MAX_VALUE);
      }
    }
    left = Arrays.copyOf(still, count);
  }

  private Costs costs(int scorer) {
    long names = words.next();
    List<CostTerm> terms =
        ((List<?>) vocabulary.get(Words.high(names))).stream().map(CostTerm.class::cast).toList();
    int[] places = new int[Words.low(words.next())];
    double[][] millis = new double[places.length][terms.size()];
    double[][] weights = new double[places.length][terms.size()];
    for (int i = 0; i < places.length; i++) {
      long place = words.next();
      places[i] = Words.high(place);
      Arrays.fill(weights[i], 1);
      for (int t = 0; t < terms.size(); t++) {
        if ((Words.low(place) & 1 << t) != 0) {
          long cost = words.next();
          millis[i][t] = shortest(Words.high(cost));
          weights[i][t] = shortest(Words.low(cost));
        }
      }
    }
    String preference = (String) vocabulary.get(Words.low(names));
    return new Costs(scorer, terms, preference, places, millis, weights);
  }

  /** The number with the fewest digits that is kept as these bits, as it is shown to people. */
  private static double shortest(int bits) {
    return Double.parseDouble(Float.toString(Float.intBitsToFloat(bits)));
  }

  private int[] picks(int count) {
    int[] picks = new int[count];
    for (int i = 0; i < count; i++) {
      picks[i] = Words.low(words.next());
    }
    return picks;
  }
}
