package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.Peers;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.core.view.Stage;
import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Prefills;
import io.fairlead.plugin.Scorer;
import io.fairlead.plugin.WaitingRequest;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.DoubleSupplier;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * What {@link WorkCostScorer} is held against: the same formula, worked out candidate by candidate
 * as it is written, with nothing kept from one decision to the next but what was learned, which is
 * the same for both.
 */
final class PlainWorkCost implements Scorer {

  private static final double BELOW_ONE = Math.nextDown(1.0);
  private static final double NANOS = 1e-6;
  private final WorkCostScorer.Settings settings;
  private final LearnedSpeeds speeds;
  private final DoubleSupplier missed;
  private final DoubleSupplier missedElsewhere;
  private final double criticalMore;
  private final double sheddableMore;
  private double expectedOutput;
  private double underWay;
  private double goesOn;
  private double ghostHits;
  private double slowed;
  private double elsewhereCosts;
  private double elsewhereTakes;

  /** Of the last cost: until the prompt is computed. */
  private double computed;

  /** Whether what the request asks for counts. */
  private boolean askedFor = true;

  private double meanToken;
  private double meanPair;

  /** By candidate: prompt tokens to be computed there. */
  private double leastInFlight;

  private double[] uncached = {};
  private double[] cached = {};
  private final Newcomers newcomers = new Newcomers();

  /**
   * What {@code missed} tells is of all endpoints of the pool, also where not all are candidates;
   * {@code missedElsewhere} of those that compute prompts for others.
   */
  PlainWorkCost(
      WorkCostScorer.Settings settings,
      LearnedSpeeds speeds,
      DoubleSupplier missed,
      DoubleSupplier missedElsewhere) {
    this.speeds = speeds;
    this.missedElsewhere = missedElsewhere;
    this.missed = missed;
    this.settings = settings;
    this.criticalMore = settings.criticalWeight() - 1;
    this.sheddableMore = settings.sheddableWeight() - 1;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    if (size == 0) {
      return;
    }
    expectedOutput = speeds.outputs().mean();
    underWay = speeds.outputs().underWay();
    goesOn = PoolCandidates.of(candidates).goesOn();
    ghostHits = PoolCandidates.of(candidates).ghostHits();
    double ofModel = speeds.outputs().of(request.targetModel());
    double output =
        request.maxOutputTokens() >= 0 ? Math.min(ofModel, request.maxOutputTokens()) : ofModel;
    Stage stage = Objects.requireNonNullElse(request.cycle().get(Peers.STAGE), Stage.WHOLE);
    boolean promptAlone = stage.promptAlone();
    slowed = promptAlone || request.maxOutputTokens() == 0 ? 0 : expectedOutput / 2;
    output = promptAlone ? 0 : output;
    if (uncached.length < size) {
      uncached = new double[size + size / 2];
      cached = new double[size + size / 2];
    }
    for (int i = 0; i < size; i++) {
      newcomers.changed(candidates.get(i));
      cached[i] = candidates.cachedTokens(i);
    }
    boolean welcomed =
        newcomers.welcome(request.now(), PoolCandidates.of(candidates), cached, speeds);
    double prompt = request.promptTokens();
    prefillElsewhere(request, stage);
    List<Endpoint> all = IntStream.range(0, size).mapToObj(candidates::get).toList();
    means(all);
    for (int i = 0; i < size; i++) {
      Endpoint there = candidates.get(i);
      int slot = PoolEndpoint.slot(there);
      EngineClass engine = speeds.engine(there);
      uncached[i] = prompt - cached[i] * speeds.trust(slot);
      double load = there.adapters().slots() > 0 ? load(request, there.adapters(), engine) : 0;
      leastInFlight = there.adapters().leastInFlight();
      boolean elsewhere = stage.promptElsewhere(request, candidates, i);
      double lacking = elsewhere ? uncached[i] : stage.lacking();
      double transfer = elsewhere || promptAlone ? transfer(request, there, elsewhere, lacking) : 0;
      uncached[i] = elsewhere ? 0 : uncached[i];
      scores[i] =
          cost(request, there, engine, slot, uncached[i], elsewhere, load, output, transfer);
    }
    double worth = missed.getAsDouble();
    boolean held = Arrays.stream(cached, 0, size).anyMatch(tokens -> tokens > 0);
    checkWorth(worth, all, settings.timesKnown(PoolCandidates.of(candidates)), held);
    double least = Double.POSITIVE_INFINITY;
    double mostHeld = mostHeld(candidates, i -> cached[i]);
    for (int i = 0; i < size; i++) {
      double holds = cached[i] * speeds.trust(PoolEndpoint.slot(candidates.get(i)));
      boolean elsewhere = stage.promptElsewhere(request, candidates, i);
      scores[i] += elsewhere ? 0 : missed(request, candidates.get(i), holds, mostHeld, worth);
      least = Math.min(least, scores[i]);
    }
    int owner = owner(request, candidates, scores, least);
    if (welcomed) {
      newcomers.charge(
          candidates.get(owner), cached[owner] - candidates.cachedTokens(owner), speeds);
    }
    for (int i = 0; i < size; i++) {
      // Exact ties go to the owner too: below 1 is below it.
      scores[i] = Math.min(least / scores[i], BELOW_ONE);
    }
    scores[owner] = 1;
  }

  private double mostHeld(Candidates candidates, IntToDoubleFunction held) {
    return IntStream.range(0, candidates.size())
        .mapToDouble(
            i -> held.applyAsDouble(i) * speeds.trust(PoolEndpoint.slot(candidates.get(i))))
        .max()
        .orElse(0);
  }

  /** What the requests to come lose: less where nobody has asked for anything for a while. */
  private double missed(
      InferenceRequest request, Endpoint there, double held, double mostHeld, double worth) {
    long since = PoolEndpoint.idleSince(there);
    double minutes = since == Long.MIN_VALUE ? 1 : (request.now() - since) / 60e9;
    double forgotten = there.inFlight() > 0 ? 0 : Math.clamp(minutes, 0, 1);
    double lacks = request.promptTokens() - held - forgotten * (mostHeld - held);
    double pairs = lacks * (request.promptTokens() - lacks / 2);
    return worth * (meanToken * lacks + meanPair * pairs);
  }

  /** Of a pair one end of which is chosen now, and the other perhaps before. */
  private double transfer(
      InferenceRequest request, Endpoint there, boolean decodes, double tokens) {
    Endpoint peer = request.cycle().get(Peers.PEER);
    if (decodes) {
      return there.equals(peer) ? 0 : speeds.transfer(tokens, there, peer);
    }
    return peer == null || peer.equals(there) ? 0 : speeds.transfer(tokens, peer, there);
  }

  private void means(List<Endpoint> of) {
    meanToken = 0;
    meanPair = 0;
    for (Endpoint there : of) {
      int slot = PoolEndpoint.slot(there);
      meanToken += speeds.psi(slot) * speeds.engine(there).b() / of.size();
      meanPair += speeds.psi(slot) * speeds.engine(there).c() / of.size();
    }
  }

  /** The cheapest of those that compute prompts for others, while that is open. */
  private void prefillElsewhere(InferenceRequest request, Stage stage) {
    elsewhereCosts = 0;
    elsewhereTakes = 0;
    Candidates all = stage.prefillers();
    if (all == null) {
      return;
    }
    int[] prefillers = IntStream.range(0, all.size()).filter(stage::prefills).toArray();
    List<Endpoint> endpoints = Arrays.stream(prefillers).mapToObj(all::get).toList();
    means(endpoints);
    double worth = missedElsewhere.getAsDouble();
    boolean held = IntStream.of(prefillers).anyMatch(i -> all.cachedTokens(i) > 0);
    checkWorth(worth, endpoints, settings.timesKnown(PoolCandidates.of(all)), held);
    double most = slowed;
    slowed = 0;
    askedFor = false;
    elsewhereCosts = Double.POSITIVE_INFINITY;
    double prompt = request.promptTokens();
    double mostHeld = mostHeld(all, i -> stage.prefills(i) ? all.cachedTokens(i) : 0);
    for (int i : prefillers) {
      Endpoint there = all.get(i);
      int slot = PoolEndpoint.slot(there);
      double holds = all.cachedTokens(i) * speeds.trust(slot);
      double cost =
          cost(request, there, speeds.engine(there), slot, prompt - holds, false, 0, 0, 0)
              + missed(request, there, holds, mostHeld, worth);
      if (cost < elsewhereCosts) {
        elsewhereCosts = cost;
        elsewhereTakes = computed;
      }
    }
    slowed = most;
    askedFor = true;
  }

  /** Kept as of each endpoint's last event, how long answers are having changed a little since. */
  private void checkWorth(double worth, List<Endpoint> of, double timesKnown, boolean held) {
    if (Math.abs(worth - worth(of, timesKnown, held)) > 0.1 * worth) {
      throw new AssertionError("worth " + worth + " instead of " + worth(of, timesKnown, held));
    }
  }

  private double worth(List<Endpoint> candidates, double timesKnown, boolean held) {
    double inUse = 0;
    double computing = 0;
    double first = 0;
    int size = candidates.size();
    for (Endpoint there : candidates) {
      double capacity =
          there.kvCapacityTokens() > 0 ? there.kvCapacityTokens() : speeds.engine(there).kvTokens();
      double kept = speeds.kept(there) * speeds.room(PoolEndpoint.slot(there));
      inUse += Math.min(1, kept / capacity) / size;
      inUse += goesOn * PoolEndpoint.restingTokens(there) / capacity / size;
      computing += there.prefills().count() > 0 ? 1.0 / size : 0;
      first += 1.0 / Math.max(1, timesKnown * there.prefills().count()) / size;
    }
    double left = Math.max(0.2, 1 - Math.max(ghostHits, inUse)) * Math.max(0.2, 1 - computing);
    double worth = settings.theta() * Math.max(1, held ? 4 * (1 / first - 1) : 0) / left;
    return Math.min(worth, 8 * settings.omega());
  }

  /** Milliseconds, above 0, but for what a missed cache costs the requests to come. */
  private double cost(
      InferenceRequest request,
      Endpoint there,
      EngineClass engine,
      int slot,
      double uncached,
      boolean elsewhere,
      double load,
      double output,
      double transfer) {
    double prompt = request.promptTokens();
    long now = request.now();
    Prefills line = there.prefills();
    double cached = prompt - uncached;
    double inFlight =
        there.inFlight()
            + criticalMore * there.criticalInFlight()
            + sheddableMore * there.sheddableInFlight();
    double kv = there.inFlightTokens() + there.decoding() * underWay;

    double own =
        elsewhere
            ? 0
            : speeds.psi(slot) * engine.prefill(1, uncached, uncached * (cached + uncached / 2));
    double backlog = 0;
    if (line.count() > 0) {
      double all = engine.prefill(line.count(), (double) line.uncachedTokens(), line.attention());
      double head = engine.prefill(1, line.headUncached(), line.headAttention());
      double had = (now - line.headSince()) * NANOS;
      backlog = Math.max(0, speeds.psi(slot) * all - Math.min(had, speeds.psi(slot) * head));
    }
    double step = speeds.phi(slot) * engine.decode(there.inFlight() + 1, kv + prompt);
    double room = there.kvCapacityTokens() > 0 ? there.kvCapacityTokens() : engine.kvTokens();
    double kept = (kv - there.repeatedInFlightTokens()) * speeds.room(slot);
    double excess = kept + prompt + output / 2 - room;
    // Room comes as the others end, with the tokens that they still have to produce.
    double wait = excess > 0 && kept > 0 ? excess * (underWay * step) / kept : 0;
    double standing = Math.max(0, there.inFlight() + 1 - engine.maxSequences());
    standing += Math.max(0, there.scrapedWaiting() - there.inFlight());
    if (standing > 0) {
      wait += standing * expectedOutput * step / engine.maxSequences();
    }
    if (load > 0) {
      wait += AdapterLoads.untilASlotIsFree((int) leastInFlight, expectedOutput * step);
    }
    double slower = speeds.phi(slot) * (engine.d1() + engine.d2() * (prompt + output / 2));
    double interference = engine.interference(there.decoding(), kv, slowness(slot));
    computed = (backlog + own) * interference;
    double before = elsewhere ? elsewhereTakes : 0;
    double first = before + computed + load + wait + transfer + step;
    double late = 0;
    if (askedFor && request.firstTokenBy() != WaitingRequest.NEVER) {
      double left = Math.max(0, (request.firstTokenBy() - now) * NANOS);
      late += Math.min(left, Math.max(0, first - left));
    }
    if (askedFor && request.timePerOutputToken() != WaitingRequest.NEVER) {
      double wanted = request.timePerOutputToken() * NANOS;
      late += output * Math.min(wanted, Math.max(0, step - wanted));
    }
    return (settings.omega() * backlog + own) * interference
        + settings.epsilon() * late
        + settings.omega() * (load + wait + transfer)
        + (elsewhere ? elsewhereCosts : 0)
        + inFlight * (own + load)
        + there.decoding() * slowed * slower
        + settings.lambda() * load
        + output * step;
  }

  private static double load(InferenceRequest request, Adapters adapters, EngineClass engine) {
    if (!adapters.needed(request.targetModel()) || adapters.resident(request.targetModel())) {
      return 0;
    }
    return adapters.loaded() < adapters.slots() ? engine.adapterLoad() : 2 * engine.adapterLoad();
  }

  /**
   * The candidate that wins: with several pickers and a prompt that is mostly new, the one that all
   * pickers agree on unless it costs half as much again; one time in a hundred any idle one up to
   * four times as costly; else of those that cost about the same the least busy one. Nobody who
   * holds less of the prompt than the cheapest, and ties by the order of the agreement.
   */
  private int owner(InferenceRequest request, Candidates candidates, double[] costs, double least) {
    if (settings.replicas(PoolCandidates.of(candidates)) > 1 && mostlyNew(request, candidates)) {
      int agreed = highest(request, candidates, costs, Double.POSITIVE_INFINITY);
      if (costs[agreed] <= 1.5 * least) {
        return agreed;
      }
    }
    int cheapest = leastBusy(candidates, costs, least * Winner.ROUNDING);
    double[] ofEqual = costs.clone();
    double[] ofIdle = costs.clone();
    double fewest = Double.POSITIVE_INFINITY;
    double same = weighed(candidates.get(cheapest)) > 1 ? 1.05 : 1.2;
    for (int i = 0; i < candidates.size(); i++) {
      if (cached[i] < cached[cheapest]) {
        ofEqual[i] = Double.POSITIVE_INFINITY;
      }
      if (ofEqual[i] <= same * least) {
        fewest = Math.min(fewest, weighed(candidates.get(i)));
      }
      ofIdle[i] = weighed(candidates.get(i)) > 1 ? Double.POSITIVE_INFINITY : ofEqual[i];
    }
    if (request.draw(0x6578706c, 100) == 0) {
      int idle = highest(request, candidates, ofIdle, 4 * least);
      if (idle >= 0) {
        return idle;
      }
    }
    for (int i = 0; i < candidates.size(); i++) {
      if (weighed(candidates.get(i)) > fewest) {
        ofEqual[i] = Double.POSITIVE_INFINITY;
      }
    }
    return highest(request, candidates, ofEqual, same * least);
  }

  private int leastBusy(Candidates candidates, double[] costs, double most) {
    int winner = -1;
    for (int i = 0; i < candidates.size(); i++) {
      if (costs[i] <= most
          && (winner < 0 || weighed(candidates.get(i)) < weighed(candidates.get(winner)))) {
        winner = i;
      }
    }
    return winner;
  }

  /** Requests in flight as they count and one more, times what they cost for those that fail. */
  private double weighed(Endpoint endpoint) {
    double inFlight =
        endpoint.inFlight()
            + criticalMore * endpoint.criticalInFlight()
            + sheddableMore * endpoint.sheddableInFlight();
    return (inFlight + 1) * endpoint.risk();
  }

  private static boolean mostlyNew(InferenceRequest request, Candidates candidates) {
    for (int i = 0; i < candidates.size(); i++) {
      if (candidates.matchedBlocks(i) * 2 >= Math.max(1, request.blockCount())) {
        return false;
      }
    }
    return true;
  }

  /** Rendezvous: of those that cost no more, the highest hash of prompt and endpoint. */
  private static int highest(
      InferenceRequest request, Candidates candidates, double[] costs, double most) {
    long key = request.blockCount() == 0 ? request.seed() : request.prefixKey();
    int winner = -1;
    long highest = 0;
    for (int i = 0; i < candidates.size(); i++) {
      if (costs[i] <= most) {
        long hash = mix(key ^ candidates.get(i).identity());
        if (winner < 0 || Long.compareUnsigned(hash, highest) > 0) {
          winner = i;
          highest = hash;
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

  private double slowness(int slot) {
    return speeds.phi(slot) / speeds.psi(slot);
  }
}
