package io.fairlead.core.plugins.cost;

/**
 * What a request costs at each endpoint, in milliseconds:
 *
 * <pre>
 * own prefill      Tp = psi (a + b u + c u (h + u/2))          u uncached, h cached prompt tokens
 * on average       M  = the same without a, of the candidates' mean psi b and psi c, but where
 *                       nobody has asked for anything lately u is less, see {@link #lacking}
 * backlog          Q  = psi sum of prefills there - time that the first of them has had
 * decode's share   i  = 1 + phi (d1 B + d2 K) / (psi (a + b mbt))     B decoding, K tokens in flight
 * adapter          L  = load time, twice when one must go for it
 * step time        S  = phi (d0 + d1 (n + 1) + d2 (K + N))     n in flight, N prompt tokens
 * wait for KV      V  = tokens too many * (r S) / K'           r output tokens to come of who decodes
 * wait for a seat  W  = sequences too many * (o S) / most sequences of a batch
 * cost to others   X  = n (Tp + L) + B o/2 phi (d1 + d2 (N + o/2))
 * first token      F  = (Q + Tp) i + L + V + W + P + S
 * transfer         P  = the prompt's tokens that another endpoint computes, from there to here
 * prefill there    D  = what the prompt costs whoever computes it for this one, where it costs least
 * late             E  = min(max(0, F - f), f) + o min(max(0, S - s), s)       f and s are asked for
 * cost = (omega Q + Tp) i + omega (L + V + W + P) + X + theta M + lambda L + o S + D + epsilon E
 * </pre>
 *
 * All of it is known from what this picker sent; polled are sizes, and a queue beyond what it sent.
 * {@code K'} counts a prefix that requests share once, as the engine keeps it, and {@code K} for
 * each, as a step reads it; and it is corrected by the use of the cache that was scraped. {@code
 * phi} and {@code psi} are how much slower than its {@link EngineClass} an endpoint has proved to
 * be at decoding and at prefills. {@code X} is what the request takes from those already there, a
 * longer prefill and longer steps; {@code lambda} weighs what a loaded adapter costs the requests
 * to come, {@code omega} the wait for a first token, which those who come later share while there
 * is a queue, and {@code theta}, more so the fuller caches and servers are and the more prompts
 * wait, what a missed cache costs those to come. The latter as it would be on average: with each
 * server's own speed it would crowd requests onto the fastest ones. {@code E} is there only where
 * the request says within what time it wants its first token, {@code f} being what is left of it,
 * or in what pace the others. It is bounded: who comes too late by far is served no better by
 * coming less late, so that in an overload, when all are late everywhere, the other terms decide.
 *
 * <p>Where two endpoints serve a request, the one that decodes has {@code P} and {@code D} and no
 * {@code Tp} and {@code M}; and the one that computes the prompt has {@code P} and, of what comes
 * after the first token, nothing: {@code o} is 0 there, for the steps of others too. Without {@code
 * D} an endpoint that holds the prompt would look dearer than one for which all of it has to be
 * computed.
 *
 * <p>The halves in it are means and no weights: each new token of a prompt sees half of the new
 * ones before it, and while the request decodes half of its answer is there. What others have still
 * to produce is {@code r}, see {@link io.fairlead.core.plugins.learn.OutputLengths}; in {@code X}
 * half of {@code o} stands in its place, with which bursts had a tail that was a tenth shorter in
 * simulations. What are weights nobody can derive: see {@link WorkCostScorer.Settings}.
 *
 * <p>What does not depend on the request lies in {@link CostColumns}, as factors of what does. So a
 * decision is the same arithmetic for every place, without a branch or a look at an object, and the
 * compiler makes vector instructions of it. Adapters, which few pools have, are added by the
 * scorer.
 */
final class WorkCost {

  /** Milliseconds of a nanosecond. */
  static final double NANOS = 1e-6;

  /** After so many nanoseconds nobody comes for what an idle endpoint's cache holds; chosen. */
  private static final double FORGOTTEN_AFTER = 60e9;

  /** Changes no number of tokens but 0, by which nothing can be divided. */
  private static final double NO_TOKENS = 1e-100;

  private final CostColumns columns;
  private final double omega;

  /** By place: the prefill of its own. */
  private double[] own = {};

  /** Whether the request may be served by two endpoints: then the next two count, by place. */
  boolean inTwo;

  /** 1 where the endpoint itself computes the prompt, else 0. */
  double[] computes = {};

  /** Milliseconds that the prompt takes there from where it is computed. */
  double[] transfer = {};

  /** {@code D}, and how long it takes until the prompt is computed; milliseconds. */
  double elsewhere;

  double elsewhereTakes;

  /** Prompt tokens of the request. */
  double prompt;

  /** Output tokens that are expected of any request, and of this one. */
  double expectedOutput;

  double output;

  /** Steps of others that this request's tokens make longer. */
  double slowed;

  /** Those that a request that is decoding has produced, and has still to produce. */
  double underWay;

  /** When the request is decided, in nanoseconds. */
  long now;

  /** Prompt tokens that whoever holds most of them is believed to hold. */
  double mostHeld;

  /** What each token that is not cached costs the requests to come, and each pair. */
  double missedToken;

  double missedPair;

  /** Milliseconds until the first token, and from token to token, that the request asks for. */
  double firstTokenWithin;

  double eachTokenWithin;

  WorkCost(CostColumns columns, double omega) {
    this.columns = columns;
    this.omega = omega;
  }

  /** Milliseconds of a decode step there, this request in it. */
  double step(int place) {
    return columns.step[place] + columns.stepPerKv[place] * (kv(place) + prompt);
  }

  /** The request is one that two endpoints may serve. */
  void inTwo() {
    inTwo = true;
    if (computes.length < columns.places()) {
      computes = new double[columns.places() * 3 / 2];
      transfer = new double[computes.length];
    }
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
    if (own.length < columns.places()) {
      own = new double[columns.places() * 3 / 2];
    }
    prefill(cached);
    missed(cached, into);
    if (inTwo) {
      part(into);
    }
    addOthers(into);
    addWork(into);
    addDecode(into);
  }

  /** Whether the request says what would be late. */
  boolean hasObjective() {
    return firstTokenWithin < Double.POSITIVE_INFINITY
        || eachTokenWithin < Double.POSITIVE_INFINITY;
  }

  /**
   * {@code E}, in milliseconds.
   *
   * @param cached prompt tokens that the endpoint in this place is said to hold
   * @param adapter milliseconds until its adapter is there
   */
  double late(int place, double cached, double adapter) {
    double oneStep = step(place);
    double each = tooMuch(oneStep, eachTokenWithin);
    if (firstTokenWithin == Double.POSITIVE_INFINITY) {
      return output * each;
    }
    double uncached = prompt - cached * columns.trust[place];
    double first =
        prefilled(place, uncached)
            + (1 - part(place)) * elsewhereTakes
            + adapter
            + (waitForKv(place) + waitForSeat(place)) * oneStep
            + (inTwo ? transfer[place] : 0)
            + oneStep;
    return tooMuch(first, firstTokenWithin) + output * each;
  }

  /** Milliseconds until a prompt of so many tokens that are not cached is computed there. */
  private double prefilled(int place, double uncached) {
    return (before(place) + own(place, uncached) * part(place)) * interference(place);
  }

  /**
   * From now on whoever does not compute the prompt has it computed by this one.
   *
   * @param cached prompt tokens that it is said to hold
   * @param cost what it comes to there
   */
  void elsewhere(int place, double cached, double cost) {
    elsewhere = cost;
    elsewhereTakes = prefilled(place, prompt - cached * columns.trust[place]);
  }

  /** Of the prefill, that is done there. */
  private double part(int place) {
    return inTwo ? computes[place] : 1;
  }

  private static double tooMuch(double time, double wanted) {
    return wanted == Double.POSITIVE_INFINITY ? 0 : Math.min(Math.max(0, time - wanted), wanted);
  }

  /** {@code Tp}. */
  private double own(int place, double uncached) {
    return columns.perPrefill[place]
        + columns.perToken[place] * uncached
        + columns.perPair[place] * pairs(uncached);
  }

  /** What the request would wait there for those before it, as much as it counts. */
  double waited(int place) {
    double steps = waitForKv(place) + waitForSeat(place);
    return omega * (before(place) * interference(place) + steps * step(place));
  }

  /**
   * How many of the prompt's tokens count as missing there for the requests to come. One that has
   * been idle is credited little by little with what whoever holds most has, and after a minute
   * with all of that: nobody comes for what its cache holds, and a beginning that many prompts
   * share will be used there too. Else conversations that share their instructions would all go to
   * the few endpoints that the first of them went to.
   *
   * @param held prompt tokens that it is believed to hold
   */
  private double lacking(int place, double held) {
    double idle = columns.time(now) - columns.idleSince[place];
    double forgotten = Math.min(1, Math.max(0, idle * (1 / FORGOTTEN_AFTER)));
    return prompt - held - forgotten * (mostHeld - held);
  }

  /** {@code theta M} of a prompt of which so many tokens are not cached. */
  double missed(double uncached) {
    return missedToken * uncached + missedPair * pairs(uncached);
  }

  private double pairs(double uncached) {
    return uncached * (prompt - 0.5 * uncached);
  }

  /** {@code Q}. */
  private double before(int place) {
    double drained = (columns.time(now) - columns.headSince[place]) * NANOS;
    return Math.max(columns.backlog[place] - drained, columns.behindHead[place]);
  }

  /** {@code K}, which grows as those there decode. */
  private double kv(int place) {
    return columns.tokens[place] + columns.decoding[place] * underWay;
  }

  /** {@code i}. */
  private double interference(int place) {
    return columns.share[place] + columns.sharePerKv[place] * kv(place);
  }

  /** {@code V}, in steps. */
  private double waitForKv(int place) {
    double kept = (kv(place) - columns.repeated[place]) * columns.roomPerToken[place];
    double excess = Math.max(0, kept + prompt + 0.5 * output - columns.room[place]);
    return underWay * excess / (kept + NO_TOKENS);
  }

  /** {@code W}, in steps. */
  private double waitForSeat(int place) {
    return expectedOutput * columns.standing[place];
  }

  /**
   * The cost at one place without adapters and without what is late, term by term, as {@link #fill}
   * has it in one sum.
   *
   * @param cached prompt tokens that it is said to hold
   * @param worth what a millisecond of prefill counts that a cache could have saved
   */
  void itemize(int place, double cached, double worth, double[] millis, double[] weights) {
    double uncached = prompt - cached * columns.trust[place];
    double own = own(place, uncached) * part(place);
    double interference = interference(place);
    double oneStep = step(place);
    double slower =
        columns.stepPerSequence[place] + columns.stepPerKv[place] * (prompt + output / 2);

    set(CostTerms.BACKLOG, before(place) * interference, omega, millis, weights);
    set(CostTerms.PREFILL, own * interference, 1, millis, weights);
    set(CostTerms.KV_CACHE, waitForKv(place) * oneStep, omega, millis, weights);
    set(CostTerms.SEAT, waitForSeat(place) * oneStep, omega, millis, weights);
    set(CostTerms.DECODE, output * oneStep, 1, millis, weights);
    double others = columns.inFlight[place] * own + columns.decoding[place] * slowed * slower;
    set(CostTerms.OTHERS, others, 1, millis, weights);
    double lacks = lacking(place, prompt - uncached);
    double missed = worth == 0 ? 0 : missed(lacks) / worth;
    boolean byAnother = part(place) == 0;
    double takes = byAnother ? elsewhereTakes : 0;
    set(CostTerms.ELSEWHERE, takes, takes == 0 ? 0 : elsewhere / takes, millis, weights);
    set(CostTerms.TRANSFER, inTwo ? transfer[place] : 0, omega, millis, weights);
    set(CostTerms.MISSED, missed * part(place), worth, millis, weights);
  }

  private static void set(int term, double time, double weight, double[] millis, double[] weights) {
    millis[term] = time;
    weights[term] = weight;
  }

  /** {@code Tp}. */
  private void prefill(double[] cached) {
    double[] perPrefill = columns.perPrefill;
    double[] perToken = columns.perToken;
    double[] perPair = columns.perPair;
    double[] trust = columns.trust;
    double[] own = this.own;
    double prompt = this.prompt;
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      double uncached = prompt - cached[i] * trust[i];
      double pairs = uncached * (prompt - 0.5 * uncached);
      own[i] = perPrefill[i] + perToken[i] * uncached + perPair[i] * pairs;
    }
  }

  /** {@code theta M}. */
  private void missed(double[] cached, double[] into) {
    double[] trust = columns.trust;
    double[] idleSince = columns.idleSince;
    double prompt = this.prompt;
    double mostHeld = this.mostHeld;
    double missedToken = this.missedToken;
    double missedPair = this.missedPair;
    double time = columns.time(now);
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      double held = cached[i] * trust[i];
      double forgotten = Math.min(1, Math.max(0, (time - idleSince[i]) * (1 / FORGOTTEN_AFTER)));
      double lacks = prompt - held - forgotten * (mostHeld - held);
      into[i] = missedToken * lacks + missedPair * (lacks * (prompt - 0.5 * lacks));
    }
  }

  /**
   * No {@code Tp} and no {@code M} where the prompt is computed elsewhere; {@code P}, {@code D}.
   */
  private void part(double[] into) {
    double[] own = this.own;
    double[] computes = this.computes;
    double[] transfer = this.transfer;
    double weight = omega;
    double elsewhere = this.elsewhere;
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      own[i] *= computes[i];
      into[i] = into[i] * computes[i] + (1 - computes[i]) * elsewhere + weight * transfer[i];
    }
  }

  /** {@code X} without adapters. */
  private void addOthers(double[] into) {
    double[] own = this.own;
    double[] inFlight = columns.inFlight;
    double[] decoding = columns.decoding;
    double[] stepPerSequence = columns.stepPerSequence;
    double[] stepPerKv = columns.stepPerKv;
    double held = prompt + output / 2;
    double slowed = this.slowed;
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      double slower = stepPerSequence[i] + stepPerKv[i] * held;
      into[i] += inFlight[i] * own[i] + decoding[i] * slowed * slower;
    }
  }

  /** {@code (omega Q + Tp) i}. */
  private void addWork(double[] into) {
    double[] own = this.own;
    double[] backlog = columns.backlog;
    double[] behindHead = columns.behindHead;
    double[] headSince = columns.headSince;
    double[] tokens = columns.tokens;
    double[] decoding = columns.decoding;
    double[] share = columns.share;
    double[] sharePerKv = columns.sharePerKv;
    double weight = omega;
    double time = columns.time(now);
    double underWay = this.underWay;
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      double before = Math.max(backlog[i] - (time - headSince[i]) * NANOS, behindHead[i]);
      double interference = share[i] + sharePerKv[i] * (tokens[i] + decoding[i] * underWay);
      into[i] += (weight * before + own[i]) * interference;
    }
  }

  /** {@code omega (V + W) + o S}. */
  private void addDecode(double[] into) {
    double[] repeated = columns.repeated;
    double[] roomPerToken = columns.roomPerToken;
    double[] tokens = columns.tokens;
    double[] decoding = columns.decoding;
    double[] step = columns.step;
    double[] stepPerKv = columns.stepPerKv;
    double[] standing = columns.standing;
    double[] room = columns.room;
    double prompt = this.prompt;
    double expected = expectedOutput;
    double underWay = this.underWay;
    double weight = omega;
    double output = this.output;
    int count = columns.places();
    for (int i = 0; i < count; i++) {
      double kv = tokens[i] + decoding[i] * underWay;
      double oneStep = step[i] + stepPerKv[i] * (kv + prompt);
      double kept = (kv - repeated[i]) * roomPerToken[i];
      double excess = Math.max(0, kept + prompt + 0.5 * output - room[i]);
      // Room and seats come as the others end, with the tokens that they still have to produce.
      double wait = underWay * excess / (kept + NO_TOKENS) + expected * standing[i];
      into[i] += (weight * wait + output) * oneStep;
    }
  }
}
