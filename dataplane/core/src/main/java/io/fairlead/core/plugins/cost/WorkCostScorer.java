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

  private static final String AGREED = "every picker prefers it for this prompt";
  private static final String EXPLORED =
      "one request in a hundred tries an idle endpoint, so that what was learned of it can be"
          + " unlearned";
  private static final String LEAST_BUSY = "the least busy of those that cost about the same";
  private static final String DRAWN = "drawn among idle ones that cost about the same";

  private static final double BELOW_ONE = Math.nextDown(1.0);

  private static final int NONE = -1;

  /** So much more, as a share of the cost, is near enough for pickers to agree; chosen. */
  private static final double NEAR = 0.5;

  /** Of caches, and of time, that is left: less counts as little; chosen. */
  private static final double LEAST_LEFT = 0.2;

  /** So many are delayed by a prompt for each one that waits, see {@link #missed}; chosen. */
  private static final double DELAYED = 4;

  /**
   * Milliseconds of somebody's wait that are worth one of a missed prefill at most. Where nothing
   * bounds it, all that comes goes to who holds some of it, however long the line there; chosen.
   */
  private static final double MOST_WAITED = 8;

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

  /** Replicas that nobody has set. */
  static final int AS_TOLD = 0;

  /** The load of one that is idle and fails nothing. */
  private static final double IDLE = 1;

  private static final double MANY = Double.POSITIVE_INFINITY;

  private final Settings settings;
  private final LearnedSpeeds speeds;
  private final Newcomers newcomers = new Newcomers();

  /** By place; what changes is worked out again before a decision. */
  private final CostColumns columns;

  private final WorkCost costs;
  private final AdapterLoads adapterLoads = new AdapterLoads();

  /** Of the last request's target; null where no endpoint has adapters. */
  private AdapterLoads.@Nullable OfAdapter adapter;

  private long seen;
  private long speedsSeen;

  /** By candidate, and by place for those that are not all. */
  private double[] cached = {};

  /** By candidate of the whole request, where two endpoints may serve it. */
  private double[] heldByAll = {};

  /** The candidates that are looked at. */
  private int[] near = {};

  private int nearCount;

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

  /** Why the last winner won, but for its cost. */
  private String preference = "";

  /**
   * How it weighs. None of the weights follows from what is known of servers and requests: {@code
   * omega} and {@code theta} were chosen by simulations, {@code lambda} is a guess, and what a
   * critical request is worth beside others is for a pool's owner to say.
   *
   * @param classes of the endpoints
   * @param omega worth of a millisecond until the first token, in milliseconds after it; between 32
   *     and 144 means differ by a per cent
   * @param theta worth of a millisecond of prefill that a cache saves to later requests, where
   *     caches and time are free: it grows as they fill and as prompts wait, see {@link #missed}
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
      double inUse = columns.inUse() + goesOn * columns.resting();
      worth = missed(inUse, columns.computing(), columns.first(), size, anyHeld(cached, size));
      averages(worth, columns.perToken() / size, columns.perPair() / size);
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
    cheapest = leastBusyTie(candidates, scores, cheapest);
    int owner = owner(request, candidates, scores, cheapest);
    if (welcomed) {
      double lacks = cached[owner] - candidates.cachedTokens(owner);
      newcomers.charge(candidates.get(owner), lacks, speeds);
    }
    for (int i = 0; i < size; i++) {
      // Exact ties go to the owner too: below 1 is below it.
      scores[i] = Math.min(least / scores[i], BELOW_ONE);
    }
    scores[owner] = 1;
  }

  @Override
  public List<CostTerm> costTerms() {
    return CostTerms.ALL;
  }

  @Override
  public String preference() {
    return preference;
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

  /** The costs where not all of the pool's endpoints are candidates. */
  private void some(PoolCandidates candidates, double[] scores) {
    int size = candidates.size();
    double inUse = 0;
    int computing = 0;
    double first = 0;
    double perToken = 0;
    double perPair = 0;
    for (int i = 0; i < size; i++) {
      int place = candidates.place(i);
      inUse += columns.inUse(place) + goesOn * columns.resting(place);
      computing += columns.computing(place);
      first += columns.first(place);
      perToken += columns.perToken(place);
      perPair += columns.perPair(place);
      cachedThere[place] = cached[i];
    }
    worth = missed(inUse, computing, first, size, anyHeld(cached, size));
    averages(worth, perToken / size, perPair / size);
    // All of them nevertheless: in vectors that takes less than to leave some out.
    costs.fill(cachedThere, costsThere);
    for (int i = 0; i < size; i++) {
      scores[i] = costsThere[candidates.place(i)];
    }
  }

  /** Of the candidates' prefills. */
  private void averages(double millisecond, double perToken, double perPair) {
    costs.missedToken = millisecond * perToken;
    costs.missedPair = millisecond * perPair;
  }

  /**
   * What a millisecond of prefill that a cache could have saved costs the requests to come: its
   * time is taken from what prefills leave of the pool's, and its tokens drive others out.
   *
   * <p>Each of these is of use with a probability {@code p}, and whoever comes back for it then
   * drives out the next, {@code 1 + p + p^2 + ...} in all, or {@code 1 / (1 - p)}. With a victim
   * taken at random {@code p} is the share of the caches that the working set fills, what will be
   * used again (P. Denning, 1968): what those in flight keep, and the contexts of conversations
   * that rest as far as they are gone on with. What prompts share otherwise shows when it is gone:
   * {@code p} is no less than the share of stored blocks that drove out one that was asked for
   * again.
   *
   * <p>The time is taken from all who wait behind it, and from those who come before the line is
   * gone: as many as wait while these do (J. D. C. Little, "A proof for the queuing formula L =
   * lambda W", Operations Research 9(3), 1961), and while they wait others. {@code theta} stands
   * for few; where more wait, they count. They do so in the harmonic mean of the lines, which is
   * hardly above the shortest ones: where an endpoint is free, or a few are, what waits elsewhere
   * has somewhere to go. A prompt of which nobody holds anything is missed everywhere alike: the
   * more that counts, the smaller would all else look beside it.
   *
   * @param inUse sum of the shares of the endpoints' caches that will be used again
   * @param computing endpoints with a prompt to compute
   * @param first sum of the first prompts' shares of their lines
   * @param count of the endpoints
   * @param held whether any of them holds some of the prompt
   */
  private double missed(double inUse, int computing, double first, int count, boolean held) {
    double room = Math.max(LEAST_LEFT, 1 - Math.max(ghostHits, inUse / count));
    double time = Math.max(LEAST_LEFT, 1 - (double) computing / count);
    double behind = held ? Math.max(0, count / first - 1) : 0;
    double worth = settings.theta() * Math.max(1, DELAYED * behind) / (room * time);
    return Math.min(worth, MOST_WAITED * settings.omega());
  }

  private static boolean anyHeld(double[] tokens, int count) {
    for (int i = 0; i < count; i++) {
      if (tokens[i] > 0) {
        return true;
      }
    }
    return false;
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
    double inUse = 0;
    int computing = 0;
    double first = 0;
    double perToken = 0;
    double perPair = 0;
    int count = 0;
    for (int i = 0; i < all.size(); i++) {
      if (stage.prefills(i)) {
        int place = all.place(i);
        cachedThere[place] = heldByAll[i];
        inUse += columns.inUse(place) + goesOn * columns.resting(place);
        computing += columns.computing(place);
        first += columns.first(place);
        perToken += columns.perToken(place);
        perPair += columns.perPair(place);
        count++;
      }
    }
    if (count == 0) {
      costs.elsewhere = 0;
      costs.elsewhereTakes = 0;
      return;
    }
    double output = costs.output;
    double slowed = costs.slowed;
    costs.output = 0;
    costs.slowed = 0;
    worthElsewhere = missed(inUse, computing, first, count, anyHeld(heldByAll, all.size()));
    averages(worthElsewhere, perToken / count, perPair / count);
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
      near = new int[cached.length];
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

  /**
   * The candidate that wins: with several pickers and a prompt that is mostly new, the one that all
   * pickers agree on unless it costs {@linkplain #mostForAgreement more than that is worth}. Else,
   * of those that hold as much of the prompt as the cheapest and cost about the same, the one with
   * the fewest requests in flight, a request that it will fail counting as many: so small a
   * difference may be chance, and would send all that comes to one of equal servers. One request in
   * a hundred goes to any idle server that is not hopeless, so that what was learned of it can be
   * unlearned.
   */
  private int owner(
      InferenceRequest request, PoolCandidates candidates, double[] scores, int cheapest) {
    double least = scores[cheapest];
    if (settings.replicas(candidates) > 1 && mostlyNew(request, candidates)) {
      lookAt(scores, candidates.size(), Double.POSITIVE_INFINITY);
      int agreed = highest(request, candidates, 0, MANY);
      if (scores[agreed] - least <= mostForAgreement(candidates, cheapest, least)) {
        preference = AGREED;
        return agreed;
      }
    }
    double held = cached[cheapest];
    if (request.draw(EXPLORING, EXPLORE_ONE_IN) == 0) {
      lookAt(scores, candidates.size(), NOT_HOPELESS * least);
      int idle = highest(request, candidates, held, IDLE);
      if (idle != NONE) {
        preference = EXPLORED;
        return idle;
      }
    }
    double fewest = columns.load(candidates.place(cheapest));
    boolean atRest = fewest <= IDLE;
    lookAt(scores, candidates.size(), (atRest ? SAME_AT_REST : SAME) * least);
    if (!atRest) {
      fewest = leastLoad(candidates, held);
    }
    preference = nearCount == 1 ? "" : atRest ? DRAWN : LEAST_BUSY;
    return highest(request, candidates, held, fewest);
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
    double mostCached = 0;
    for (int i = 0; i < candidates.size(); i++) {
      mostCached = Math.max(mostCached, cached[i] * columns.trust[candidates.place(i)]);
    }
    double missedEverywhere = costs.missed(costs.prompt - mostCached);
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
  private double leastLoad(PoolCandidates candidates, double held) {
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
      InferenceRequest request, PoolCandidates candidates, double held, double load) {
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
