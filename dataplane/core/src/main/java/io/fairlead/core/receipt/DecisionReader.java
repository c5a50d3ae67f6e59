package io.fairlead.core.receipt;

import io.fairlead.core.HealthState;
import io.fairlead.core.receipt.Decision.Excluded;
import io.fairlead.core.receipt.KeptRequest.KeptDecision;
import io.fairlead.core.receipt.ProfileRun.Costs;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.core.scheduling.SchedulerOutline.ProfileOutline;
import io.fairlead.core.scheduling.SchedulerOutline.WeightedScorer;
import io.fairlead.core.view.CostTerm;
import io.fairlead.plugin.Endpoint;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  private DecisionReader(KeptDecision kept) {
    sending = kept.sending();
    words = new Words(kept.words());
    vocabulary = kept.vocabulary();
  }

  static Decision read(KeptDecision kept) {
    return new DecisionReader(kept).decision();
  }

  private Decision decision() {
    while (words.position() < sending.runs()) {
      long entry = words.next();
      entry(Words.high(entry), Words.low(entry));
    }
    endRun();
    Endpoint[] pool = sending.context().pool();
    List<Excluded> excluded = new ArrayList<>();
    Endpoint[] candidates = pool;
    if (sending.candidates() < pool.length) {
      candidates = new Endpoint[sending.candidates()];
      boolean[] isCandidate = words.bits(pool.length);
      int count = 0;
      for (int place = 0; place < pool.length; place++) {
        if (isCandidate[place]) {
          candidates[count++] = pool[place];
        } else {
          excluded.add(new Excluded(pool[place].name(), EXCLUSIONS.get(Words.low(words.next()))));
        }
      }
    }
    int[] shown = new int[Words.low(words.next())];
    EndpointFacts[] facts = new EndpointFacts[shown.length];
    for (int i = 0; i < shown.length; i++) {
      long first = words.next();
      shown[i] = Words.high(first);
      facts[i] = facts(HEALTH.get(Words.low(first)));
    }
    return new Decision(
        sending.at(),
        sending.context().config(),
        candidates,
        excluded,
        runs,
        sending.primary(),
        sending.prefill(),
        shown,
        facts);
  }

  private EndpointFacts facts(HealthState health) {
    long own = words.next();
    long scraped = words.next();
    double kvUsage = words.number();
    int cachedTokens = Words.low(words.next());
    long scrapedAt = words.next();
    double failing = words.number();
    return new EndpointFacts(
        Words.high(own),
        Words.low(own),
        Words.high(scraped),
        Words.low(scraped),
        kvUsage,
        cachedTokens,
        scrapedAt,
        health,
        failing,
        words.number());
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
          millis[i][t] = words.number();
          weights[i][t] = words.number();
        }
      }
    }
    String preference = (String) vocabulary.get(Words.low(names));
    return new Costs(scorer, terms, preference, places, millis, weights);
  }

  private int[] picks(int count) {
    int[] picks = new int[count];
    for (int i = 0; i < count; i++) {
      picks[i] = Words.low(words.next());
    }
    return picks;
  }
}
