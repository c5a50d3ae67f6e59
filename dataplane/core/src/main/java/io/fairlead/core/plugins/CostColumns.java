package io.fairlead.core.plugins;

import io.fairlead.plugin.Workload;
import java.util.Arrays;

/**
 * What a request costs at each endpoint, in milliseconds:
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
 *
 * <p>What does not depend on the request is worked out when an endpoint changes and kept in columns
 * by place, as factors of what does. So a decision is the same arithmetic for every place, without
 * a branch or a look at an object, and the compiler makes vector instructions of it. Adapters,
 * which few pools have, are added by the scorer.
 */
final class CostColumns {

  private static final double NANOS = 1e-6;

  /** Changes no number of tokens but 0, by which nothing can be divided. */
  private static final double NO_TOKENS = 1e-100;

  private final double omega;
  private final double criticalMore;
  private final double sheddableMore;
  private boolean begun;
  private long epoch;
  private int places;
  private int adapterPlaces;
  private double perTokenOfAll;

  /** Own prefill: psi a, psi b and psi c. */
  private double[] perPrefill = {};

  private double[] perToken = {};
  private double[] perPair = {};

  /** How far the prefix index is believed. */
  private double[] trust = {};

  /** Backlog: psi times all prefills, what is left of that without the first, and its start. */
  private double[] backlog = {};

  private double[] behindHead = {};
  private double[] headSince = {};

  /** Tokens in flight, to which half of the expected output comes with each that decodes. */
  private double[] tokens = {};

  private double[] halfDecoding = {};

  /** Decode's share of a prefill step: with an empty cache, and per token in it. */
  private double[] share = {};

  private double[] sharePerKv = {};

  /** A decode step: with an empty cache, and per token in it. */
  private double[] step = {};

  private double[] stepPerKv = {};

  /** What one more sequence adds to a decode step, but for its tokens. */
  private double[] stepPerSequence = {};

  /** Sequences that have no place in a batch, this one with them, in batches. */
  private double[] standing = {};

  /** Tokens that the cache has room for. */
  private double[] room = {};

  /** Requests in flight as they count: critical ones more, sheddable ones less. */
  private double[] inFlight = {};

  private boolean[] adapters = {};

  /** Of the request being decided: its own prefill. */
  private double[] own = {};

  /** Prompt tokens of the request. */
  double prompt;

  /** Output tokens that are expected of any request, and of this one. */
  double expectedOutput;

  double output;

  /** When the request is decided, in nanoseconds. */
  long now;

  /** What each token that is not cached costs the requests to come. */
  double missed;

  /** Columns without places. */
  CostColumns(WorkCostScorer.Settings settings) {
    omega = settings.omega();
    criticalMore = settings.criticalWeight() - 1;
    sheddableMore = settings.sheddableWeight() - 1;
  }

  /** Makes room for so many places; to be called before they are written or asked for. */
  void places(int count, long time) {
    if (!begun) {
      begun = true;
      epoch = time;
    }
    for (int place = count; place < places; place++) {
      perTokenOfAll -= perToken[place];
      perToken[place] = 0;
      adapters(place, false);
    }
    places = count;
    if (count > perToken.length) {
      grow(count + count / 2);
    }
  }

  private void grow(int length) {
    perPrefill = Arrays.copyOf(perPrefill, length);
    perToken = Arrays.copyOf(perToken, length);
    perPair = Arrays.copyOf(perPair, length);
    trust = Arrays.copyOf(trust, length);
    backlog = Arrays.copyOf(backlog, length);
    behindHead = Arrays.copyOf(behindHead, length);
    own = Arrays.copyOf(own, length);
    headSince = Arrays.copyOf(headSince, length);
    tokens = Arrays.copyOf(tokens, length);
    halfDecoding = Arrays.copyOf(halfDecoding, length);
    share = Arrays.copyOf(share, length);
    sharePerKv = Arrays.copyOf(sharePerKv, length);
    step = Arrays.copyOf(step, length);
    stepPerKv = Arrays.copyOf(stepPerKv, length);
    stepPerSequence = Arrays.copyOf(stepPerSequence, length);
    standing = Arrays.copyOf(standing, length);
    room = Arrays.copyOf(room, length);
    inFlight = Arrays.copyOf(inFlight, length);
    adapters = Arrays.copyOf(adapters, length);
  }

  /** The endpoint that has this place, and this slot. */
  void write(int place, Workload there, EngineClass engine, LearnedSpeeds speeds, int slot) {
    double phi = speeds.phi(slot);
    double psi = speeds.psi(slot);
    perPrefill[place] = psi * engine.a();
    double token = psi * engine.b();
    // What rounding leaves behind goes up and down: it stays far below what matters.
    perTokenOfAll += token - perToken[place];
    perToken[place] = token;
    perPair[place] = psi * engine.c();
    trust[place] = speeds.trust(slot);
    double all = engine.prefill(there.prefills, there.prefillTokens, there.prefillAttention);
    double head = engine.prefill(1, there.headTokens, there.headAttention);
    boolean waits = there.prefills > 0;
    // None is less than any: what has drained of it makes no difference.
    backlog[place] = waits ? psi * all : Double.NEGATIVE_INFINITY;
    behindHead[place] = waits ? Math.max(0, psi * (all - head)) : 0;
    headSince[place] = waits ? there.headSince - epoch : 0;
    tokens[place] = there.inFlightTokens;
    halfDecoding[place] = there.decoding / 2;
    share[place] = engine.interference(there.decoding, 0);
    sharePerKv[place] = engine.d2() * engine.perFullStep();
    step[place] = phi * engine.decode(there.inFlight + 1, 0);
    stepPerKv[place] = phi * engine.d2();
    stepPerSequence[place] = phi * engine.d1();
    double seats = engine.maxSequences();
    standing[place] = Math.max(0, there.inFlight + 1 - seats) / seats;
    double capacity = there.kvCapacityTokens > 0 ? there.kvCapacityTokens : engine.kvTokens();
    // Where nothing is in flight nothing will end, so a prompt that is too long waits for nobody.
    boolean empty = there.inFlightTokens <= 0 && there.decoding <= 0;
    room[place] = empty ? Double.POSITIVE_INFINITY : 0.9 * capacity;
    inFlight[place] =
        there.inFlight
            + criticalMore * there.criticalInFlight
            + sheddableMore * there.sheddableInFlight;
    adapters(place, there.adapterSlots > 0);
  }

  /** Milliseconds of a decode step there, this request in it. */
  double step(int place) {
    double kv = tokens[place] + halfDecoding[place] * expectedOutput;
    return step[place] + stepPerKv[place] * (kv + prompt);
  }

  private void adapters(int place, boolean has) {
    if (adapters[place] != has) {
      adapters[place] = has;
      adapterPlaces += has ? 1 : -1;
    }
  }

  /** Milliseconds of prefill per new prompt token, all places together. */
  double perToken() {
    return perTokenOfAll;
  }

  /** Milliseconds of prefill per new prompt token. */
  double perToken(int place) {
    return perToken[place];
  }

  /** Requests in flight as they count. */
  double inFlight(int place) {
    return inFlight[place];
  }

  boolean hasAdapters(int place) {
    return adapters[place];
  }

  /** Whether there is a place with adapters. */
  boolean anyAdapters() {
    return adapterPlaces > 0;
  }

  /**
   * Works out the costs at all places.
   *
   * @param cached prompt tokens that each is said to hold
   * @param into where the costs go, by place
   */
  void fill(double[] cached, double[] into) {
    // The compiler makes no vectors of a loop that is longer than each of these, or that does not
    // begin at a constant; and fields may change with each write to an array, as far as it knows.
    prefill(cached, into);
    addOthers(into);
    addWork(into);
    addDecode(into);
  }

  /** The prefill of its own, and {@code theta b u}. */
  private void prefill(double[] cached, double[] into) {
    double[] perPrefill = this.perPrefill;
    double[] perToken = this.perToken;
    double[] perPair = this.perPair;
    double[] trust = this.trust;
    double[] own = this.own;
    double prompt = this.prompt;
    double missed = this.missed;
    int count = places;
    for (int i = 0; i < count; i++) {
      double uncached = prompt - cached[i] * trust[i];
      double pairs = uncached * (prompt - 0.5 * uncached);
      own[i] = perPrefill[i] + perToken[i] * uncached + perPair[i] * pairs;
      into[i] = missed * uncached;
    }
  }

  /** {@code X} without adapters. */
  private void addOthers(double[] into) {
    double[] own = this.own;
    double[] inFlight = this.inFlight;
    double[] halfDecoding = this.halfDecoding;
    double[] stepPerSequence = this.stepPerSequence;
    double[] stepPerKv = this.stepPerKv;
    double held = prompt + output / 2;
    double expected = expectedOutput;
    int count = places;
    for (int i = 0; i < count; i++) {
      double slower = stepPerSequence[i] + stepPerKv[i] * held;
      into[i] += inFlight[i] * own[i] + halfDecoding[i] * expected * slower;
    }
  }

  /** {@code omega (Q + Tp) i}. */
  private void addWork(double[] into) {
    double[] own = this.own;
    double[] backlog = this.backlog;
    double[] behindHead = this.behindHead;
    double[] headSince = this.headSince;
    double[] tokens = this.tokens;
    double[] halfDecoding = this.halfDecoding;
    double[] share = this.share;
    double[] sharePerKv = this.sharePerKv;
    double weight = omega;
    double time = now - epoch;
    double expected = expectedOutput;
    int count = places;
    for (int i = 0; i < count; i++) {
      double before = Math.max(backlog[i] - (time - headSince[i]) * NANOS, behindHead[i]);
      double interference = share[i] + sharePerKv[i] * (tokens[i] + halfDecoding[i] * expected);
      into[i] += weight * ((before + own[i]) * interference);
    }
  }

  /** {@code omega (V + W) + o S}. */
  private void addDecode(double[] into) {
    double[] tokens = this.tokens;
    double[] halfDecoding = this.halfDecoding;
    double[] step = this.step;
    double[] stepPerKv = this.stepPerKv;
    double[] standing = this.standing;
    double[] room = this.room;
    double prompt = this.prompt;
    double expected = expectedOutput;
    double weight = omega * expected;
    double output = this.output;
    int count = places;
    for (int i = 0; i < count; i++) {
      double kv = tokens[i] + halfDecoding[i] * expected;
      double oneStep = step[i] + stepPerKv[i] * (kv + prompt);
      double excess = Math.max(0, kv + prompt + 0.5 * output - room[i]);
      // Room and seats come as the others end, with the tokens that they still have to produce.
      double wait = 0.5 * excess / (kv + NO_TOKENS) + standing[i];
      into[i] += (weight * wait + output) * oneStep;
    }
  }
}
