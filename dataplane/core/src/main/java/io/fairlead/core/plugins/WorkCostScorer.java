package io.fairlead.core.plugins;

import io.fairlead.plugin.Adapters;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Observer;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import io.fairlead.plugin.Workload;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Scores by the time that a request costs at an endpoint, its own and that of others, in
 * milliseconds: the least cost gets 1, the others the least over their own.
 *
 * <pre>
 * own prefill      Tp = psi (a + b u + c u (h + u/2))          u uncached, h cached prompt tokens
 * backlog          Q  = psi sum of prefills there - time that the first of them has had
 * decode's share   i  = 1 + (d1 B + d2 K) / (a + b mbt)        B decoding, K tokens in flight
 * adapter          L  = load time, twice when one must go for it
 * step time        S  = phi (d0 + d1 (n + 1) + d2 (K + N))     n in flight, N prompt tokens
 * wait for KV      V  = tokens too many * (o/2 S) / K          o expected output tokens
 * wait for a seat  W  = sequences too many * (o S) / most sequences of a batch
 * cost to others   X  = n (Tp + L) + B o/2 phi (d1 + d2 (N + o/2))
 * cost = omega ((Q + Tp) i + L + V + W) + X + theta b u + lambda L + o S
 * </pre>
 *
 * All of it is known from what this picker sent; nothing is polled but sizes. {@code phi} and
 * {@code psi} are how much slower than its {@link EngineClass} an endpoint has proved to be at
 * decoding and at prefills. {@code X} is what the request takes from those already there, a longer
 * prefill and longer steps; {@code theta} and {@code lambda} weigh what a missed cache and a loaded
 * adapter cost the requests to come, and {@code omega} the wait for a first token, which those who
 * come later share while there is a queue.
 */
final class WorkCostScorer implements Scorer, Observer {

  private static final double BELOW_ONE = Math.nextDown(1.0);
  private static final double NANOS = 1e-6;
  private static final double LEARNING = 0.03;

  /** Of the speed of an endpoint, which is a constant of its hardware: noise would unbalance. */
  private static final double SPEED_LEARNING = 0.003;
  private static final double OUTPUT_LEARNING = 0.02;
  private static final double FIRST_OUTPUT = 200;
  private static final double SLOWEST = 10;
  private static final double FASTEST = 0.1;

  /** An observation this far off is none: a response that came in one piece, or a stall. */
  private static final double ABSURD = 20;

  /** Events of a stream that carry no token: the one with the role, and the end. */
  private static final int EVENTS_AROUND = 2;

  private static final int TOO_SHORT_TO_TELL = 8;

  private final Settings settings;
  private final double criticalMore;
  private final double sheddableMore;
  private double expectedOutput = FIRST_OUTPUT;

  /** By slot. */
  private @Nullable EngineClass[] classes = {};

  private double[] phi = {};
  private double[] psi = {};

  /** By slot: running means of what prefills took, and of what they should have. */
  private double[] prefillTaken = {};

  private double[] prefillExpected = {};

  /** By slot: how many requests have told. */
  private int[] prefillsSeen = {};

  private int[] decodesSeen = {};
  private double[] trust = {};

  /** Of the candidate that is looked at. */
  private final Workload there = new Workload();

  /** By candidate: prompt tokens to be computed there. */
  private double[] uncached = {};

  /**
   * How it weighs.
   *
   * @param classes of the endpoints
   * @param omega worth of a millisecond until the first token, in milliseconds after it
   * @param theta worth of a cached token to later requests, in prefill times of it
   * @param lambda worth of not loading an adapter to later requests, in load times
   * @param criticalWeight what a critical request in flight counts in {@code n}
   * @param sheddableWeight what a sheddable one counts
   * @param replicas pickers that share the pool
   */
  record Settings(
      EngineClasses classes,
      double omega,
      double theta,
      double lambda,
      double criticalWeight,
      double sheddableWeight,
      int replicas) {}

  WorkCostScorer(Settings settings) {
    this.settings = settings;
    this.criticalMore = settings.criticalWeight() - 1;
    this.sheddableMore = settings.sheddableWeight() - 1;
  }

  @Override
  public void joined(Endpoint endpoint) {
    int slot = endpoint.slot();
    if (slot >= classes.length) {
      int length = Math.max(16, slot * 2);
      classes = Arrays.copyOf(classes, length);
      phi = Arrays.copyOf(phi, length);
      psi = Arrays.copyOf(psi, length);
      prefillTaken = Arrays.copyOf(prefillTaken, length);
      prefillExpected = Arrays.copyOf(prefillExpected, length);
      prefillsSeen = Arrays.copyOf(prefillsSeen, length);
      decodesSeen = Arrays.copyOf(decodesSeen, length);
      trust = Arrays.copyOf(trust, length);
    }
    classes[slot] = settings.classes().of(endpoint);
    phi[slot] = 1;
    psi[slot] = 1;
    prefillTaken[slot] = 0;
    prefillExpected[slot] = 0;
    prefillsSeen[slot] = 0;
    decodesSeen[slot] = 0;
    trust[slot] = 1;
  }

  private EngineClass engine(Endpoint endpoint) {
    int slot = endpoint.slot();
    EngineClass known = slot < classes.length ? classes[slot] : null;
    if (known == null) {
      joined(endpoint);
      known = settings.classes().of(endpoint);
    }
    return known;
  }

  @Override
  public void score(InferenceRequest request, Candidates candidates, double[] scores) {
    int size = candidates.size();
    if (size == 0) {
      return;
    }
    double output =
        request.maxOutputTokens() > 0
            ? Math.min(expectedOutput, request.maxOutputTokens())
            : expectedOutput;
    if (uncached.length < size) {
      uncached = new double[size + size / 2];
    }
    double prompt = request.promptTokens();
    long now = request.now();
    double tokenTime = 0;
    for (int i = 0; i < size; i++) {
      int slot = candidates.slot(i);
      EngineClass engine = slot < classes.length ? classes[slot] : null;
      if (engine == null) {
        engine = engine(candidates.get(i));
      }
      candidates.workload(i, there);
      tokenTime += psi[slot] * engine.b();
      uncached[i] = prompt - candidates.cachedTokens(i) * trust[slot];
      double load =
          there.adapterSlots > 0 ? load(request, candidates.get(i).adapters(), engine) : 0;
      scores[i] = cost(prompt, now, engine, slot, uncached[i], load, output);
    }
    double missed = settings.theta() * tokenTime / size;
    double least = Double.POSITIVE_INFINITY;
    for (int i = 0; i < size; i++) {
      scores[i] += missed * uncached[i];
      least = Math.min(least, scores[i]);
    }
    int owner = owner(request, candidates, scores, least);
    for (int i = 0; i < size; i++) {
      // Exact ties go to the owner too: below 1 is below it.
      scores[i] = Math.min(least / scores[i], BELOW_ONE);
    }
    scores[owner] = 1;
  }

  /** Milliseconds, above 0, but for what a missed cache costs the requests to come. */
  private double cost(
      double prompt,
      long now,
      EngineClass engine,
      int slot,
      double uncached,
      double load,
      double output) {
    double cached = prompt - uncached;
    double inFlight =
        there.inFlight
            + criticalMore * there.criticalInFlight
            + sheddableMore * there.sheddableInFlight;
    double kv = there.inFlightTokens + there.decoding * expectedOutput / 2;

    double own = psi[slot] * engine.prefill(1, uncached, uncached * (cached + uncached / 2));
    double backlog = 0;
    if (there.prefills > 0) {
      double all = engine.prefill(there.prefills, there.prefillTokens, there.prefillAttention);
      double head = engine.prefill(1, there.headTokens, there.headAttention);
      double had = (now - there.headSince) * NANOS;
      backlog = Math.max(0, psi[slot] * all - Math.min(had, psi[slot] * head));
    }
    double step = phi[slot] * engine.decode(there.inFlight + 1, kv + prompt);
    double room = 0.9 * (there.kvCapacityTokens > 0 ? there.kvCapacityTokens : engine.kvTokens());
    double excess = kv + prompt + output / 2 - room;
    // Room comes as the others end, with the tokens that they still have to produce.
    double wait = excess > 0 && kv > 0 ? excess * (expectedOutput / 2 * step) / kv : 0;
    double standing = there.inFlight + 1 - engine.maxSequences();
    if (standing > 0) {
      wait += standing * expectedOutput * step / engine.maxSequences();
    }
    double slower = phi[slot] * (engine.d1() + engine.d2() * (prompt + output / 2));
    return settings.omega()
            * ((backlog + own) * engine.interference(there.decoding, kv) + load + wait)
        + inFlight * (own + load)
        + there.decoding * expectedOutput / 2 * slower
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
   * pickers agree on unless it costs half as much again; else the cheapest, ties by the same order.
   */
  private int owner(InferenceRequest request, Candidates candidates, double[] costs, double least) {
    if (settings.replicas() > 1 && mostlyNew(request, candidates)) {
      int agreed = highest(request, candidates, costs, Double.POSITIVE_INFINITY);
      if (costs[agreed] <= 1.5 * least) {
        return agreed;
      }
    }
    return highest(request, candidates, costs, least);
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
    int winner = -1;
    long highest = 0;
    for (int i = 0; i < candidates.size(); i++) {
      if (costs[i] <= most) {
        long hash = mix(request.prefixKey() ^ candidates.get(i).identity());
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

  @Override
  public void completed(Completion completion) {
    EngineClass engine = engine(completion.endpoint());
    int slot = completion.endpoint().slot();
    if (completion.cachedTokens() >= 0
        && completion.promptTokens() > 0
        && completion.expectedCachedTokens() > 0
        && !completion.prefilledElsewhere()) {
      // Shares, since the server counts in tokens of its own and the estimate goes by bytes.
      double expected =
          (double) completion.expectedCachedTokens() / completion.estimatedPromptTokens();
      double found = (double) completion.cachedTokens() / completion.promptTokens();
      trust[slot] += LEARNING * (Math.min(1, found / expected) - trust[slot]);
    }
    learnPrefill(completion, engine, slot);
    learnDecode(completion, engine, slot);
  }

  /**
   * Sums before ratios: of prefills that were done in one step, the first takes all of the time and
   * the others none.
   */
  private void learnPrefill(Completion completion, EngineClass engine, int slot) {
    double prompt = completion.estimatedPromptTokens();
    if (completion.prefillTime() < 0 || completion.prefilledElsewhere() || prompt <= 0) {
      return;
    }
    double cached =
        completion.cachedTokens() >= 0 && completion.promptTokens() > 0
            ? prompt * completion.cachedTokens() / completion.promptTokens()
            : completion.expectedCachedTokens() * trust[slot];
    double uncached = Math.max(0, prompt - cached);
    double batch = completion.meanDecoding();
    double kv = completion.meanInFlightTokens() + batch * expectedOutput / 2;
    double expected =
        engine.prefill(1, uncached, uncached * (cached + uncached / 2))
            * engine.interference(batch, kv);
    double taken = completion.prefillTime() * NANOS;
    if (batch > 1 && completion.prefillTime() == completion.timeToFirstToken()) {
      // It came into the middle of a step.
      taken = Math.max(0, taken - phi[slot] * engine.decode(batch, kv) / 2);
    }
    if (taken > ABSURD * expected) {
      return;
    }
    if (prefillsSeen[slot] == 0) {
      prefillExpected[slot] = expected;
      prefillTaken[slot] = expected;
    }
    double rate = rate(++prefillsSeen[slot]);
    prefillExpected[slot] += rate * (expected - prefillExpected[slot]);
    prefillTaken[slot] += rate * (taken - prefillTaken[slot]);
    psi[slot] = Math.clamp(prefillTaken[slot] / prefillExpected[slot], FASTEST, SLOWEST);
  }

  private void learnDecode(Completion completion, EngineClass engine, int slot) {
    int output = completion.outputTokens();
    if (output < 0) {
      output = completion.streamedEvents() - EVENTS_AROUND;
    }
    if (output < 1 || !completion.succeeded()) {
      return;
    }
    expectedOutput += OUTPUT_LEARNING * (output - expectedOutput);
    if (output < TOO_SHORT_TO_TELL || completion.decodeTime() <= 0) {
      return;
    }
    double batch = completion.meanDecoding();
    double kv = completion.meanInFlightTokens() + batch * expectedOutput / 2;
    double observed = completion.decodeTime() * NANOS / (output - 1);
    double ratio = observed / engine.decode(batch, kv);
    if (ratio >= 1 / ABSURD && ratio <= ABSURD) {
      double rate = rate(++decodesSeen[slot]);
      phi[slot] = Math.clamp(phi[slot] + rate * (ratio - phi[slot]), FASTEST, SLOWEST);
    }
  }

  /** A mean of all that were seen, with the guess as one of them, until there are many. */
  private static double rate(int seen) {
    return Math.max(1.0 / (seen + 1), SPEED_LEARNING);
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
              parameters.number("omega", 8, 0, 1_000),
              parameters.number("theta", 40, 0, 1_000),
              parameters.number("lambda", 30, 0, 1_000),
              parameters.number("criticalWeight", 2, 0, 100),
              parameters.number("sheddableWeight", 0.5, 0, 100),
              parameters.integer("replicas", 1, 1, 1_000)));
    }
  }
}
