package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.CostTerm;
import io.fairlead.core.view.ItemizedScorer;
import io.fairlead.core.view.Objectives;
import io.fairlead.core.view.Peers;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.core.view.Stage;
import io.fairlead.core.view.Teachable;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.WaitingRequest;
import java.util.List;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Scores by the time that a request costs at an endpoint, its own and that of others, in
 * milliseconds, by the formula of {@link WorkCost}: the least cost gets 1, the others the least
 * over their own.
 */
final class WorkCostScorer implements ItemizedScorer, Observer, Teachable, PoolCandidates.Changed {

  private static final double BELOW_ONE = Math.nextDown(1.0);

  private static final int NONE = -1;

  /** Replicas that nobody has set. */
  static final int AS_TOLD = 0;

  private final Settings settings;
  private final LearnedSpeeds speeds;
  private final Newcomers newcomers = new Newcomers();

  /** By place; what changes is worked out again before a decision. */
  private final CostColumns columns;

  private final WorkCost costs;
  private final MissedPrefill missed;
  private final Winner winner;
  private final AdapterLoads adapterLoads = new AdapterLoads();

  /** Of the last request's target; null where no endpoint has adapters. */
  private AdapterLoads.@Nullable OfAdapter adapter;

  private long seen;
  private long speedsSeen;

  /** By candidate, and by place for those that are not all. */
  private double[] cached = {};

  /** By candidate of the whole request, where two endpoints may serve it. */
  private double[] heldByAll = {};

  private double[] cachedThere = {};
  private double[] costsThere = {};

  /** What a millisecond of prefill that a cache could have saved counts in the last decision. */
  private double worth;

  /** The same where others compute the prompt. */
  private double worthElsewhere;

  /** How likely a context that rests is to be gone on with. */
  private double goesOn;

  /** How likely a block that a cache stores drives out one that is asked for again. */
  private double ghostHits;

  /**
   * How it weighs. None of the weights follows from what is known of servers and requests: {@code
   * omega} and {@code theta} were chosen by simulations, {@code lambda} is a guess, and what a
   * critical request is worth beside others is for a pool's owner to say.
   *
   * @param classes of the endpoints
   * @param omega worth of a millisecond until the first token, in milliseconds after it; between 32
   *     and 144 means differ by a per cent
   * @param theta worth of a millisecond of prefill that a cache saves to later requests, where
   *     caches and time are free: it grows as they fill and as prompts wait, see {@link
   *     MissedPrefill}
   * @param lambda worth of not loading an adapter to later requests, in load times: as many
   *     requests as would find it loaded, if those that wait for a load of the adapter that goes
   *     are left out; nobody counts these
   * @param epsilon worth of a millisecond by which it would be later than the request asks for; far
   *     above all others, as the request says that it counts, but a missed cache where lines are
   *     long
   * @param criticalWeight what a critical request in flight counts in {@code n}, and among those
   *     that make an endpoint busy; a standard one counts 1
   * @param sheddableWeight what a sheddable one counts
   * @param replicas pickers that share the pool, each of which knows nothing of the others; {@link
   *     #AS_TOLD} for as many as it is told of
   */
  record Settings(
      EngineClasses classes,
      double omega,
      double theta,
      double lambda,
      double epsilon,
      double criticalWeight,
      double sheddableWeight,
      int replicas) {

    /** Pickers that share the pool of these candidates. */
    int replicas(PoolCandidates candidates) {
      return replicas == AS_TOLD ? candidates.replicas() : replicas;
    }

    /** How many times as many requests go there as are known of here. */
    double timesKnown(PoolCandidates candidates) {
      return replicas == AS_TOLD ? candidates.timesKnown() : replicas;
    }
  }

  WorkCostScorer(Settings settings) {
    this.settings = settings;
    this.speeds = new LearnedSpeeds(settings.classes());
    this.columns = new CostColumns(settings);
    this.costs = new WorkCost(columns, settings.omega());
    this.missed = new MissedPrefill(settings, columns);
    this.winner = new Winner(settings, columns, costs);
  }

  Settings settings() {
    return settings;
  }

  LearnedSpeeds speeds() {
    return speeds;
  }

  @Override
  public void joined(Endpoint endpoint) {
    speeds.joined(endpoint);
  }

  /** It is told of by {@link #changed} too before the next decision: its account has changed. */
  @Override
  public void completed(Completion completion) {
    speeds.completed(completion);
  }

  @Override
  public void tell(BiConsumer<String, double[]> to) {
    speeds.tell(to);
  }

  @Override
  public double @Nullable [] tell(Endpoint endpoint, long now) {
    return speeds.tell(endpoint, now);
  }

  @Override
  public void learn(String key, double[] values) {
    speeds.take(key, values);
  }

  @Override
  public void learn(Endpoint endpoint, long now, double[] values) {
    speeds.take(endpoint, now, values);
  }

  /** The account of the endpoint in this place is another, or the endpoint is. */
  @Override
  public void changed(int place, Endpoint endpoint) {
    EngineClass engine = speeds.engine(endpoint);
    int slot = PoolEndpoint.slot(endpoint);
    if (endpoint.inFlight() > 0) {
      speeds.atWork(slot);
    }
    speeds.scraped(slot, endpoint);
    columns.write(place, endpoint, engine, speeds, slot);
    newcomers.changed(endpoint);
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    if (candidates.size() > 0) {
      score(request, PoolCandidates.of(candidates), scores);
    }
  }

  private void score(InferenceRequest request, PoolCandidates candidates, double[] scores) {
    int size = candidates.size();
    columns.places(candidates.places(), request.now());
    double timesKnown = settings.timesKnown(candidates);
    if (speedsSeen != speeds.version() || columns.timesKnown() != timesKnown) {
      speedsSeen = speeds.version();
      columns.timesKnown(timesKnown);
      seen = 0; // all places are worked out anew
    }
    seen = candidates.changes(seen, this);
    reserve(size, candidates.places());
    candidates.cachedTokens(cached);
    boolean welcomed = newcomers.welcome(request.now(), candidates, cached, speeds);
    costs.prompt = request.promptTokens();
    costs.now = request.now();
    double expectedOutput = speeds.outputs().of(request.targetModel());
    costs.expectedOutput = speeds.outputs().mean();
    costs.underWay = speeds.outputs().underWay();
    costs.output =
        request.maxOutputTokens() >= 0
            ? Math.min(expectedOutput, request.maxOutputTokens())
            : expectedOutput;
    costs.slowed = request.maxOutputTokens() == 0 ? 0 : costs.expectedOutput / 2;
    goesOn = candidates.goesOn();
    ghostHits = candidates.ghostHits();
    costs.inTwo = false;
    Stage stage = request.cycle().get(Peers.STAGE);
    if (stage != null && !stage.equals(Stage.WHOLE)) {
      inTwo(request, candidates, stage);
    }
    costs.firstTokenWithin = left(request.firstTokenBy(), request.now());
    costs.eachTokenWithin = left(request.timePerOutputToken(), 0);
    if (size == candidates.places()) {
      missed.ofAll(goesOn);
      worth = weighMissed(columns.mostHeld(cached));
      costs.fill(cached, scores);
    } else {
      some(candidates, scores);
    }
    adapter = columns.anyAdapters() ? adapterLoads.of(request.targetModel(), candidates) : null;
    if (adapter != null) {
      addLoads(adapter, candidates, scores);
    }
    if (costs.hasObjective()) {
      addLate(request, candidates, scores);
    }
    double least = Double.POSITIVE_INFINITY;
    int cheapest = 0;
    for (int i = 0; i < size; i++) {
      if (scores[i] < least) {
        least = scores[i];
        cheapest = i;
      }
    }
    int chosen = winner.among(request, candidates, cached, scores, cheapest);
    if (welcomed) {
      double lacks = cached[chosen] - candidates.cachedTokens(chosen);
      newcomers.charge(candidates.get(chosen), lacks, speeds);
    }
    for (int i = 0; i < size; i++) {
      // Exact ties go to the winner too: below 1 is below it.
      scores[i] = Math.min(least / scores[i], BELOW_ONE);
    }
    scores[chosen] = 1;
  }

  @Override
  public List<CostTerm> costTerms() {
    return CostTerms.ALL;
  }

  @Override
  public String preference() {
    return winner.preference();
  }

  @Override
  public void itemize(
      InferenceRequest request,
      Candidates candidates,
      int index,
      double[] millis,
      double[] weights) {
    int place = PoolCandidates.of(candidates).place(index);
    costs.itemize(place, cached[index], worth, millis, weights);
    double load = adapter == null ? 0 : load(adapter, place);
    double slot = adapter == null ? 0 : untilASlotIsFree(adapter, place);
    millis[CostTerms.ADAPTER] = load;
    weights[CostTerms.ADAPTER] = load > 0 ? worthOfLoad(place) : 1;
    millis[CostTerms.ADAPTER_SLOT] = slot;
    weights[CostTerms.ADAPTER_SLOT] = load > 0 ? settings.omega() : 1;
    boolean objective = costs.hasObjective();
    millis[CostTerms.LATE] = objective ? costs.late(place, cached[index], load + slot) : 0;
    weights[CostTerms.LATE] = objective ? settings.epsilon() : 1;
  }

  /** The costs where not all of the pool's endpoints are candidates. */
  private void some(PoolCandidates candidates, double[] scores) {
    int size = candidates.size();
    missed.of(candidates, goesOn, null);
    worth = weighMissed(byPlace(candidates, cached, null));
    // All of them nevertheless: in vectors that takes less than to leave some out.
    costs.fill(cachedThere, costsThere);
    for (int i = 0; i < size; i++) {
      scores[i] = costsThere[candidates.place(i)];
    }
  }

  /**
   * Puts what each candidate is believed to hold of the prompt where its place is.
   *
   * @param prefills says which of them compute prompts for others; null for all of them
   * @return what that one of these holds that holds most, in tokens
   */
  private double byPlace(PoolCandidates candidates, double[] held, @Nullable Stage prefills) {
    double most = 0;
    for (int i = 0; i < candidates.size(); i++) {
      int place = candidates.place(i);
      cachedThere[place] = held[i];
      if (prefills == null || prefills.prefills(i)) {
        most = Math.max(most, held[i] * columns.trust[place]);
      }
    }
    return most;
  }

  /**
   * Says what a missed token counts in the costs that are worked out next.
   *
   * @param mostHeld prompt tokens that whoever holds most of them holds
   * @return what a millisecond of missed prefill counts
   */
  private double weighMissed(double mostHeld) {
    double millisecond = missed.worth(ghostHits, mostHeld > 0);
    costs.mostHeld = mostHeld;
    costs.missedToken = millisecond * missed.perToken();
    costs.missedPair = millisecond * missed.perPair();
    return millisecond;
  }

  /** The same as it was in the last decision. */
  double worth() {
    return worth;
  }

  double worthElsewhere() {
    return worthElsewhere;
  }

  /**
   * Two endpoints may serve the request, and one of them is to be chosen now: which candidates
   * would compute the prompt themselves, and what it takes to get it to where it is decoded.
   */
  private void inTwo(InferenceRequest request, PoolCandidates candidates, Stage stage) {
    Candidates prefillers = stage.prefillers();
    if (prefillers == null) {
      costs.elsewhere = 0;
      costs.elsewhereTakes = 0;
    } else {
      elsewhere(PoolCandidates.of(prefillers), stage);
    }
    costs.inTwo();
    Endpoint peer = request.cycle().get(Peers.PEER);
    boolean promptAlone = stage.promptAlone();
    int size = candidates.size();
    for (int i = 0; i < size; i++) {
      int place = candidates.place(i);
      Endpoint there = candidates.get(i);
      boolean elsewhere = stage.promptElsewhere(request, candidates, i);
      double millis = 0;
      if (elsewhere && !there.equals(peer)) {
        double lacking = costs.prompt - cached[i] * columns.trust[place];
        millis = speeds.transfer(lacking, there, peer);
      } else if (promptAlone && peer != null && !there.equals(peer)) {
        millis = speeds.transfer(stage.lacking(), peer, there);
      }
      costs.computes[place] = elsewhere ? 0 : 1;
      costs.transfer[place] = millis;
    }
    if (promptAlone) {
      costs.output = 0;
      costs.slowed = 0;
    }
  }

  /** What the prompt costs where it costs least, computed for whoever is chosen now. */
  private void elsewhere(PoolCandidates all, Stage stage) {
    reserveThere(all.places());
    if (heldByAll.length < all.size()) {
      heldByAll = new double[all.places()];
    }
    all.cachedTokens(heldByAll);
    missed.of(all, goesOn, stage);
    if (missed.count() == 0) {
      costs.elsewhere = 0;
      costs.elsewhereTakes = 0;
      return;
    }
    double output = costs.output;
    double slowed = costs.slowed;
    costs.output = 0;
    costs.slowed = 0;
    worthElsewhere = weighMissed(byPlace(all, heldByAll, stage));
    costs.fill(cachedThere, costsThere);
    int cheapest = NONE;
    for (int i = 0; i < all.size(); i++) {
      if (stage.prefills(i)
          && (cheapest == NONE || costsThere[all.place(i)] < costsThere[all.place(cheapest)])) {
        cheapest = i;
      }
    }
    int place = all.place(cheapest);
    costs.elsewhere(place, heldByAll[cheapest], costsThere[place]);
    costs.output = output;
    costs.slowed = slowed;
  }

  /** Loading an adapter costs this request, those in flight, and those to come. */
  private void addLoads(
      AdapterLoads.OfAdapter adapter, PoolCandidates candidates, double[] scores) {
    for (int i = 0; i < candidates.size(); i++) {
      int place = candidates.place(i);
      double load = load(adapter, place);
      if (load > 0) {
        scores[i] +=
            load * worthOfLoad(place) + settings.omega() * untilASlotIsFree(adapter, place);
      }
    }
  }

  /** What is later than the request asks for: one by one, as few requests ask for anything. */
  private void addLate(InferenceRequest request, PoolCandidates candidates, double[] scores) {
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < candidates.size(); i++) {
      int place = candidates.place(i);
      double loaded = adapter == null ? 0 : load(adapter, place) + untilASlotIsFree(adapter, place);
      double late = costs.late(place, cached[i], loaded);
      scores[i] += settings.epsilon() * late;
      least = Math.min(least, late);
    }
    if (settings.epsilon() == 0) {
      return; // objectives count for nothing
    }
    Double before = request.cycle().get(Objectives.LEAST_LATE);
    request.cycle().put(Objectives.LEAST_LATE, before == null ? least : Math.max(before, least));
  }

  /** Milliseconds until a time; infinitely many if it never comes, none if it is past. */
  private static double left(long time, long now) {
    return time == WaitingRequest.NEVER
        ? Double.POSITIVE_INFINITY
        : Math.max(0, time - now) * WorkCost.NANOS;
  }

  /** What a millisecond of an adapter's load counts. */
  private double worthOfLoad(int place) {
    return settings.omega() + columns.inFlight(place) + settings.lambda();
  }

  private double load(AdapterLoads.OfAdapter adapter, int place) {
    return adapter.loads(place) * columns.adapterLoad(place);
  }

  /** Milliseconds, where the adapter is to be loaded; else 0. */
  private double untilASlotIsFree(AdapterLoads.OfAdapter adapter, int place) {
    int busy = adapter.busy(place);
    return busy == 0
        ? 0
        : AdapterLoads.untilASlotIsFree(busy, costs.expectedOutput * costs.step(place));
  }

  private void reserve(int size, int places) {
    if (cached.length < size) {
      cached = new double[size + size / 2];
    }
    if (size < places) {
      reserveThere(places);
    }
  }

  private void reserveThere(int places) {
    if (cachedThere.length < places) {
      cachedThere = new double[places];
      costsThere = new double[places];
    }
  }

  static final class Factory implements PluginFactory {

    @Override
    public String type() {
      return "work-cost";
    }

    @Override
    public Plugin create(Parameters parameters) {
      return new WorkCostScorer(
          new Settings(
              EngineClasses.read(parameters),
              parameters.number("omega", 64, 0, 1_000),
              parameters.number("theta", 20, 0, 1_000),
              parameters.number("lambda", 30, 0, 1_000),
              parameters.number("epsilon", 1_000, 0, 1_000_000),
              parameters.number("criticalWeight", 2, 0, 100),
              parameters.number("sheddableWeight", 0.5, 0, 100),
              parameters.has("replicas") ? parameters.integer("replicas", 1, 1, 1_000) : AS_TOLD));
    }
  }
}
