package io.fairlead.core.plugins.cost;

import io.fairlead.core.plugins.learn.OutputLengths;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What completed requests have taught about endpoints: how fast each is compared with its class,
 * how much of the expected cache hits it really has, and how long answers are.
 */
final class LearnedSpeeds {

  private static final double NANOS = 1e-6;
  private static final double LEARNING = 0.03;

  /** Of the speed of an endpoint, as long as it is no other: noise would unbalance. */
  private static final double SPEED_LEARNING = 0.003;

  private static final double SLOWEST = 10;
  private static final double FASTEST = 0.1;

  /** Milliseconds per token: what is quicker came in one piece, through something that waits. */
  private static final double IN_ONE_PIECE = 0.1;

  /**
   * Beyond these a scrape is too old to be of the same requests. What those in flight have produced
   * can be far more than is believed: while none of the long answers has ended, only short ones are
   * known.
   */
  private static final double LEAST_ROOM = 0.5;

  private static final double MOST_ROOM = 4;

  /**
   * Milliseconds in which two thirds of a change in the room are found. Some pages come in that
   * time, each of which is late by a step; a full cache needs longer to make room.
   */
  private static final double ROOM_FOUND_IN = 1_000;

  /** Share of a cache in use. */
  private static final double NEARLY_FULL = 0.97;

  private static final int TOO_SHORT_TO_TELL = 8;

  /** Nanoseconds: fewer tell, too, if they took so long. */
  private static final long LONG_FOR_FEW = 10_000_000_000L;

  /** Share of an answer in one piece. Where its tokens are less of it, it tells nothing of them. */
  private static final double LEAST_PART = 0.3;

  /**
   * Milliseconds. What a shorter prefill takes is mostly what surrounds it, of which an idle server
   * has more than one whose steps are under way anyhow: it would look slow beside others, and stay
   * idle. Of a class it tells something nevertheless.
   */
  private static final double TOO_QUICK_TO_TELL = 10;

  /**
   * Observations that stand for the belief that an endpoint is as fast as its class, while those of
   * its class differ by no more than noise.
   */
  private static final double AS_ITS_CLASS = 20;

  /** The same where they differ by far: a single slow request still does not say much. */
  private static final double LEAST_AS_ITS_CLASS = 2;

  /** A logarithm: differences of that much between endpoints of a class are noise. */
  private static final double NOISE = 0.1;

  /**
   * One observation says no more than that an endpoint is so many times slower or faster than is
   * known of it and of its class: a stall does not count for more, and one that is ten times slower
   * is found to be that nevertheless.
   */
  private static final double MOST_TOLD = 4;

  /** A logarithm: what lies beyond is the first to fade. */
  private static final double FAR = Math.log(MOST_TOLD);

  /** A logarithm: an endpoint whose speed has changed by two is to be found out. */
  private static final double CHANGE = Math.log(2);

  /** Sum of logarithms. */
  private static final double NO_NOISE = 2;

  /** In nanoseconds. */
  private static final long APART = 100_000_000;

  /** In nanoseconds. So long without a request, and what an endpoint has shown begins to fade. */
  private static final long FRESH = 5_000_000_000L;

  /** In nanoseconds: after so long beyond that it counts half. */
  private static final double FADING = 3e9;

  /** In nanoseconds, between two looks at what has faded. */
  private static final long LOOK = 2_000_000_000L;

  private final EngineClasses known;
  private final Map<EngineClass, LearnedClass> ofClasses = new HashMap<>();
  private long version;
  private final OutputLengths outputs = new OutputLengths();
  private final Transfers transfers = new Transfers();

  /** Up to when what is known has faded: costs are kept, so it fades in steps. */
  private long lookedAt;

  /** By slot. */
  private @Nullable Speed[] speeds = {};

  private @Nullable LearnedClass[] learnedClasses = {};

  /** By slot, what its class was found by. */
  private @Nullable EndpointAttributes[] attributes = {};

  private double[] trust = {};

  private double[] room = {};

  /** By slot, when the page was asked for that {@link #room} was corrected by last. */
  private long[] pages = {};

  /** Of a class, or of one endpoint: what was observed over what the class's numbers say. */
  private static final class Speed {
    private double decode = 1;

    /** Observations that its mean is of. */
    private double decodesSeen;

    /** Observations that its belief rests on: one that has changed is no less known for that. */
    private double decodesKnown;

    private final LevelChange change = new LevelChange(CHANGE / 2, NO_NOISE);
    private long changeSeenAt = Long.MIN_VALUE;

    private final PrefillSums prefills = new PrefillSums(1);

    /** When it was seen last. */
    private long seenAt;

    /** What still counted of what was seen when it was tried again; 1 without that. */
    private double faded = 1;

    /** The same of prefills alone, of which fewer answers tell. */
    private double prefillsFaded = 1;

    /** What still counts of what was seen: others that look better would leave it out for ever. */
    private double left(long now) {
      long idle = now - seenAt - FRESH;
      return idle <= 0 ? 1 : Math.exp(-Math.log(2) * idle / FADING);
    }

    /**
     * It has requests: nothing fades meanwhile, so that who is tried again gets one request, and
     * not all of them until that has told something.
     */
    private void atWork(long now) {
      if (now - seenAt > 0) {
        faded *= left(now);
        prefillsFaded *= left(now);
        seenAt = now;
      }
    }

    /** Something new is seen; returns what still counts of what was seen before. */
    private double wake(long now) {
      double left = faded * left(now);
      prefillsFaded *= left(now);
      faded = 1;
      seenAt = now;
      return left;
    }

    /** Only so much of what was seen counts any more, for good. */
    private void forget(double left) {
      decodesSeen *= left;
      decodesKnown *= left;
      prefills.fade(left);
      prefillsFaded = 1;
      if (left < 0.5) {
        change.forget();
      }
    }

    /**
     * An observation after a while agrees with what was known: there is nothing to be forgotten.
     */
    private boolean isAsBefore(double ratio) {
      return Math.abs(Math.log(ratio / decode)) < CHANGE / 2;
    }

    /**
     * A prefill after a while that is notably another than those before: of these only what has not
     * faded counts. Answers without tokens tell of nothing else.
     */
    private void prefilledAgain(double ratio) {
      double before = prefills.slowness();
      if (prefillsFaded < 1 && !(ratio > before / 2 && ratio < before * 2)) {
        prefills.fade(prefillsFaded);
      }
      prefillsFaded = 1;
    }

    /** How much slower than its class it has been at prefills; 1 for one that has been faster. */
    private double slowerPrefills() {
      return Math.clamp(prefills.slowness(), 1, SLOWEST);
    }

    private void decoded(double ratio) {
      decodesSeen++;
      decodesKnown++;
      decode += rate(decodesSeen, 1) * (ratio - decode);
    }

    /** When it has become another, what was seen before would only stand in the way. */
    private void decodedAlone(double ratio, long now) {
      // Answers that end together may all have been held up by one stall: they count once.
      boolean apart = changeSeenAt == Long.MIN_VALUE || now - changeSeenAt >= APART;
      int since = 0;
      if (apart) {
        changeSeenAt = now;
        since = change.observe(Math.log(ratio), Math.log(decode));
      }
      decoded(ratio);
      if (since > 0) {
        decode = Math.exp(change.level());
        decodesSeen = since;
        decodesKnown = Math.max(since, Math.min(decodesKnown, AS_ITS_CLASS));
      }
    }
  }

  LearnedSpeeds(EngineClasses known) {
    this.known = known;
  }

  /**
   * The endpoint in this slot has requests: it may not show anything new for long, and is not idle.
   */
  void atWork(int slot) {
    speeds(slot).atWork(lookedAt);
  }

  /** Forgets what was learned of the endpoint that had this slot before. */
  void joined(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    if (slot >= learnedClasses.length) {
      int length = Math.max(16, slot * 2);
      speeds = Arrays.copyOf(speeds, length);
      learnedClasses = Arrays.copyOf(learnedClasses, length);
      attributes = Arrays.copyOf(attributes, length);
      trust = Arrays.copyOf(trust, length);
      room = Arrays.copyOf(room, length);
      pages = Arrays.copyOf(pages, length);
    }
    speeds[slot] = new Speed();
    learnedClasses[slot] = ofClass(endpoint);
    attributes[slot] = endpoint.attributes();
    trust[slot] = 1;
    room[slot] = 1;
    pages[slot] = Long.MIN_VALUE;
  }

  /** The endpoint's class, with its decode steps as they have proved to be. */
  EngineClass engine(Endpoint endpoint) {
    int slot = PoolEndpoint.slot(endpoint);
    if (slot >= learnedClasses.length
        || learnedClasses[slot] == null
        || isOfAnotherClass(slot, endpoint)) {
      joined(endpoint);
    }
    return learnedClass(slot).engine();
  }

  /** Whether it is labelled anew, and of another class by that. */
  private boolean isOfAnotherClass(int slot, Endpoint endpoint) {
    EndpointAttributes now = endpoint.attributes();
    if (now.equals(attributes[slot])) {
      return false;
    }
    attributes[slot] = now;
    return ofClass(endpoint) != learnedClass(slot);
  }

  private LearnedClass ofClass(Endpoint endpoint) {
    return ofClasses.computeIfAbsent(known.of(endpoint), LearnedClass::new);
  }

  /** Changes when a class has proved notably faster or slower than before. */
  long version() {
    return version;
  }

  /** How much slower than its class the endpoint in this slot is at decoding. */
  double phi(int slot) {
    Speed own = speeds(slot);
    double asItsClass = asItsClass(learnedClass(slot).decodeSpread());
    return believed(own.decode, own.decodesKnown, own.left(lookedAt), asItsClass);
  }

  /** How much slower than its class's numbers the endpoint in this slot is at prefills. */
  double psi(int slot) {
    return learnedClass(slot).slowness() * besideItsClass(slot);
  }

  /** The same as of the last completion. */
  private double psiNow(int slot) {
    return learnedClass(slot).slownessNow() * besideItsClass(slot);
  }

  private double besideItsClass(int slot) {
    Speed own = speeds(slot);
    double asItsClass = asItsClass(learnedClass(slot).prefillSpread());
    return believed(own.prefills.slowness(), own.prefills.seen(), own.left(lookedAt), asItsClass);
  }

  /**
   * An endpoint is as fast as its class has shown to be, and only as far otherwise as its own
   * requests have told and chance can't explain: so one that is new, or whose first request was
   * slow, is not left out for it, and equal ones stay equal.
   *
   * @param own how much slower than its class it was, by so many observations
   * @param left what still counts of them
   * @param asItsClass observations that stand for its being as its class
   */
  private static double believed(double own, double seen, double left, double asItsClass) {
    // However sure and however far off it was, it fades as fast: who is well again is tried soon.
    double faded = left * (seen + AS_ITS_CLASS) / (left * seen + AS_ITS_CLASS);
    double all = logarithm(own);
    double near = Math.clamp(all, -FAR, FAR);
    double told = faded * seen / (seen + asItsClass) * (near + left * (all - near));
    // As Wiener's filter has it: what is far above the noise stays, what is below it goes.
    double beyondNoise = told * told * told / (told * told + NOISE * NOISE);
    return Math.clamp(Math.exp(beyondNoise), FASTEST, SLOWEST);
  }

  private static double logarithm(double slowness) {
    return Math.log(Math.clamp(slowness, FASTEST, SLOWEST));
  }

  /**
   * That an endpoint is as its class is worth the less, the more those of its class have proved to
   * differ: an empirical Bayes estimate (H. Robbins, 1956), of a normal mean whose prior's variance
   * is that of the others.
   *
   * @param spread of the logarithms of their speeds
   */
  private static double asItsClass(Spread spread) {
    double noise = NOISE * NOISE;
    return Math.max(LEAST_AS_ITS_CLASS, AS_ITS_CLASS * noise / Math.max(noise, spread.variance()));
  }

  /** Looks how far the endpoints of each class differ. */
  private void compare(long now) {
    ofClasses.values().forEach(LearnedClass::clearSpreads);
    for (int slot = 0; slot < speeds.length; slot++) {
      Speed own = speeds[slot];
      if (own != null) {
        double left = own.left(now);
        LearnedClass all = learnedClass(slot);
        add(all.decodeSpread(), own.decode, own.decodesKnown * left);
        add(all.prefillSpread(), own.prefills.slowness(), own.prefills.seen() * left);
      }
    }
  }

  private static void add(Spread spread, double slowness, double seen) {
    if (seen > 0) {
      // As many observations as stand for an equal have the variance of equals.
      double chance = NOISE * NOISE * AS_ITS_CLASS / seen;
      spread.add(logarithm(slowness), seen / (seen + AS_ITS_CLASS), chance);
    }
  }

  private Speed speeds(int slot) {
    return Objects.requireNonNull(speeds[slot]);
  }

  private LearnedClass learnedClass(int slot) {
    return Objects.requireNonNull(learnedClasses[slot]);
  }

  /** Share of the tokens held, by the prefix index, that the endpoint in this slot really holds. */
  double trust(int slot) {
    return trust[slot];
  }

  /** Room that a token in flight takes in the KV cache of the endpoint in this slot, in tokens. */
  double room(int slot) {
    return room[slot];
  }

  /**
   * Corrects the room that tokens in flight are believed to take by what the endpoint in this slot
   * said last that is taken: estimates of tokens may be off, so is what prompts are found to share,
   * and how old the answers under way are is known of the mean alone. A scrape is late, so no
   * single one counts for all.
   */
  void scraped(int slot, Endpoint there) {
    long scrapedAt = PoolEndpoint.scrapedAt(there);
    if (scrapedAt == pages[slot]) {
      return; // what was sent since then is not in it
    }
    // The first one has none before it, and only tells from when on the next one counts.
    long since = pages[slot] == Long.MIN_VALUE ? 0 : scrapedAt - pages[slot];
    pages[slot] = scrapedAt;
    boolean full = there.scrapedWaiting() > 0 || there.kvUsage() > NEARLY_FULL;
    double used = there.kvUsage() * there.kvCapacityTokens();
    double kept = full ? held(there) : kept(there);
    if (kept > 0 && used > 0) {
      double found = Math.clamp(used / kept, LEAST_ROOM, MOST_ROOM);
      // A full cache doesn't tell how much more those want that wait for room in it. So what is in
      // it is the least that it may be.
      if (!full || found > room[slot]) {
        double rate = 1 - Math.exp(-Math.max(0, since) * NANOS / ROOM_FOUND_IN);
        room[slot] += rate * (found - room[slot]);
      }
    }
  }

  /**
   * The same as {@link #kept} without those that wait for room in the cache: requests that have not
   * begun, and those that the engine has taken out to begin them anew.
   */
  private double held(Endpoint there) {
    double all = Math.max(1, there.sequences() + there.foreignInFlight());
    double running = 1 - Math.min(1, there.scrapedWaiting() / all);
    double prompts = (double) there.inFlightTokens() - there.repeatedInFlightTokens();
    double decoding = Math.min(there.decodingSequences(), running * there.sequences());
    return running * prompts + decoding * outputs.underWay();
  }

  /** Tokens that those in flight there keep in its KV cache, by what was sent. */
  double kept(Endpoint there) {
    return there.inFlightTokens()
        + there.decodingSequences() * outputs.underWay()
        - there.repeatedInFlightTokens();
  }

  /**
   * Milliseconds that so many tokens of a prompt take to the endpoint that decodes.
   *
   * @param from who computes it; null where that isn't known yet
   */
  double transfer(double tokens, Endpoint to, @Nullable Endpoint from) {
    return transfers.millis(tokens, engine(to), to, from);
  }

  /** How long answers are. */
  OutputLengths outputs() {
    return outputs;
  }

  /** Learns from a request that is over. */
  void completed(Completion completion) {
    EngineClass engine = engine(completion.endpoint());
    int slot = PoolEndpoint.slot(completion.endpoint());
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
    long now = completion.now();
    if (now - lookedAt >= LOOK) {
      lookedAt = now;
      compare(now);
      version++;
    }
    Speed own = speeds(slot);
    double left = own.wake(now);
    double step = decodeStep(completion, engine, slot);
    if (step == 0) {
      // It says neither that what was known holds nor that it does not: the next one may.
      own.faded = left;
    } else if (left < 1 && !own.isAsBefore(step / decode(completion, slot))) {
      own.forget(left);
    }
    if (wholeTime(completion) > 0) {
      learnWhole(completion, engine, slot);
    } else {
      learnPrefill(completion, engine, slot);
    }
    learnPair(completion, engine, slot);
    learnDecode(completion, slot, step);
  }

  /**
   * Sums before ratios: of prefills that were done in one step, the first takes all of the time and
   * the others none.
   */
  private void learnPrefill(Completion completion, EngineClass engine, int slot) {
    if (completion.prefillTime() < 0
        || completion.prefilledElsewhere()
        || completion.estimatedPromptTokens() <= 0) {
      return;
    }
    double uncached = uncached(completion, slot);
    double batch = completion.meanDecoding();
    double kv = keptBeside(completion);
    double own = phi(slot);
    double expected = prefill(completion, engine, slot);
    double beside = own * engine.beside(batch, kv);
    double taken = completion.prefillTime() * NANOS;
    if (batch > 1 && completion.prefillTime() == completion.timeToFirstToken()) {
      // It came into the middle of a step.
      taken -= own * engine.decode(batch, kv) / 2;
    }
    // Those that decode have had their part of its steps, of which there is at least one; whoever
    // shared a step with one before took no time, and has none to give away.
    taken = Math.max(0, taken - beside * Math.max(1, uncached / engine.maxBatchedTokens()));
    prefilled(slot, taken, expected);
  }

  /** Tokens of the prompt that were computed, as they were estimated. */
  private double uncached(Completion completion, int slot) {
    double prompt = completion.estimatedPromptTokens();
    double cached =
        completion.cachedTokens() >= 0 && completion.promptTokens() > 0
            ? prompt * completion.cachedTokens() / completion.promptTokens()
            : completion.expectedCachedTokens() * trust[slot];
    return Math.max(0, prompt - cached);
  }

  /** Milliseconds that the prefill should have taken by the numbers its class began with. */
  private double prefill(Completion completion, EngineClass engine, int slot) {
    double uncached = uncached(completion, slot);
    double cached = completion.estimatedPromptTokens() - uncached;
    return engine.prefill(1, uncached, uncached * (cached + uncached / 2));
  }

  /**
   * Of an answer in one piece only the sum is known of what its prompt and its tokens took. Each is
   * taken to have been off by as much, and what was the smaller part of it says the less: requests
   * of other proportions tell them apart (expectation maximisation, A. P. Dempster et al., 1977).
   */
  private void learnWhole(Completion completion, EngineClass engine, int slot) {
    if (OutputLengths.tokens(completion) < 1
        || completion.answers() > 1
        || completion.estimatedPromptTokens() <= 0) {
      return;
    }
    double expected = prefill(completion, engine, slot);
    double prefill = psiNow(slot) * expected;
    double both = prefill + decodeAll(completion, slot);
    double share = prefill / both;
    double off = wholeTime(completion) * NANOS / both;
    prefilled(slot, share * off * prefill, share * expected);
  }

  /** Milliseconds that its tokens should have taken in the slot's endpoint. */
  private double decodeAll(Completion completion, int slot) {
    return OutputLengths.tokens(completion) * phi(slot) * decode(completion, slot);
  }

  private void prefilled(int slot, double taken, double expected) {
    LearnedClass all = learnedClass(slot);
    double usual = expected * all.slownessNow();
    // What is far slower may be a stall or the truth: it counts as so many times slower, no more.
    Speed own = speeds(slot);
    double told = Math.min(taken, MOST_TOLD * usual * own.slowerPrefills());
    all.prefilled(told, expected);
    if (usual >= TOO_QUICK_TO_TELL) {
      own.prefilledAgain(told / usual);
      own.prefills.add(told, expected * all.slownessNow());
    }
    version += all.tells() ? 1 : 0;
  }

  /**
   * Of a prompt that another endpoint computed. Behind another one's the time since that was there
   * is its prefill's, as transfers go on beside prefills; with nobody before it there is the
   * transfer in it, too.
   */
  private void learnPair(Completion completion, EngineClass engine, int at) {
    Endpoint by = completion.prefiller();
    double prompt = completion.estimatedPromptTokens();
    if (by == null || completion.prefillTime() < 0 || prompt <= 0) {
      return;
    }
    EngineClass computing = engine(by);
    int slot = PoolEndpoint.slot(by);
    Speed prefiller = speeds(slot);
    double left = prefiller.wake(completion.now());
    if (left < 1) {
      prefiller.forget(left);
    }
    double cached = completion.expectedCachedTokens() * trust[slot];
    double uncached = Math.max(0, prompt - cached);
    double expected = computing.prefill(1, uncached, uncached * (cached + uncached / 2));
    double taken = completion.prefillTime() * NANOS;
    if (completion.prefillTime() == completion.timeToFirstToken()) {
      double step = phi(at) * engine.decode(completion.meanDecoding(), 0);
      double both = Math.max(0, taken - step);
      int tokens = completion.transferredTokens();
      double slowness = learnedClass(slot).slownessNow();
      double usual = expected * slowness * prefiller.slowerPrefills();
      double most = MOST_TOLD * (usual + tokens * engine.transfer());
      transfers.observe(
          expected * slowness, tokens, engine, completion.endpoint(), by, Math.min(both, most));
      taken = Math.max(0, both - transfers.millis(tokens, engine, completion.endpoint(), by));
    }
    prefilled(slot, taken, expected);
  }

  private void learnDecode(Completion completion, int slot, double observed) {
    int output = OutputLengths.tokens(completion);
    if (output >= 1) {
      outputs.add(completion.targetModel(), output);
    }
    if (observed == 0) {
      return;
    }
    double batch = completion.meanDecoding();
    double kv = keptBeside(completion);
    LearnedClass all = learnedClass(slot);
    double most = MOST_TOLD * all.decode(batch, kv);
    // What its class would have taken in its place: else fast servers, which have large batches,
    // would make large batches look fast.
    all.decoded(batch, kv, Math.min(observed / phi(slot), most));
    Speed own = speeds(slot);
    own.decodedAlone(
        Math.clamp(
            observed / all.decode(batch, kv),
            Math.clamp(own.decode, FASTEST, 1) / MOST_TOLD,
            MOST_TOLD * Math.clamp(own.decode, 1, SLOWEST)),
        completion.now());
    version += all.tells() ? 1 : 0;
  }

  /** Milliseconds that each token after the first took; 0 where that is not known. */
  private double decodeStep(Completion completion, EngineClass engine, int slot) {
    int output = OutputLengths.produced(completion);
    boolean few = output < TOO_SHORT_TO_TELL && completion.decodeTime() < LONG_FOR_FEW;
    if (few || output < 2 || completion.answers() > 1) {
      return 0;
    }
    double whole = wholeTime(completion) * NANOS;
    if (whole > 0) {
      double decode = decodeAll(completion, slot);
      double both = psiNow(slot) * prefill(completion, engine, slot) + decode;
      return decode < LEAST_PART * both ? 0 : whole / both * decode / output;
    }
    double observed = completion.decodeTime() * NANOS / (output - 1);
    return observed < IN_ONE_PIECE ? 0 : observed;
  }

  /**
   * What an answer in one piece took; -1 of others. What was streamed may come so, too, through
   * something that waits for its end.
   */
  private static long wholeTime(Completion completion) {
    long decode = completion.decodeTime();
    int output = OutputLengths.tokens(completion);
    boolean held =
        completion.timeToFirstToken() > 0
            && decode >= 0
            && output >= TOO_SHORT_TO_TELL
            && decode * NANOS < IN_ONE_PIECE * (output - 1)
            && !completion.prefilledElsewhere();
    return held ? completion.timeToFirstToken() + decode : completion.wholeTime();
  }

  /** Milliseconds that its class would have taken for a token of it. */
  private double decode(Completion completion, int slot) {
    return learnedClass(slot).decode(completion.meanDecoding(), keptBeside(completion));
  }

  /** Tokens in the server's cache while it decoded this, of those that decoded with it. */
  private double keptBeside(Completion completion) {
    return completion.meanInFlightTokens() + completion.meanDecoding() * outputs.underWay();
  }

  /** A mean of all that were seen, with the guess as one of them, until there are many. */
  static double rate(double seen, double guess) {
    return Math.max(1.0 / (seen + guess), SPEED_LEARNING);
  }

  private static final String OUTPUT = "output/";
  private static final String CLASS = "class/";

  /** Tells what is of no single endpoint. */
  void tell(BiConsumer<String, double[]> to) {
    outputs.tell((model, told) -> to.accept(OUTPUT + model, told));
    ofClasses.forEach((engine, learned) -> to.accept(CLASS + engine, learned.tell()));
  }

  /** Another has learned this. */
  void take(String key, double[] told) {
    if (key.startsWith(OUTPUT)) {
      outputs.take(key.substring(OUTPUT.length()), told);
    }
    ofClasses.forEach(
        (engine, learned) -> {
          if (key.equals(CLASS + engine)) {
            learned.take(told);
            var _ = learned.tells();
          }
        });
    version++;
  }

  /** Tells what was learned of the endpoint; null where that is nothing. */
  double @Nullable [] tell(Endpoint endpoint, long now) {
    int slot = PoolEndpoint.slot(endpoint);
    if (slot >= speeds.length || speeds[slot] == null) {
      return null;
    }
    Speed own = speeds(slot);
    double[] prefills = own.prefills.tell();
    return new double[] {
      own.decode,
      own.decodesSeen,
      own.decodesKnown,
      prefills[0],
      prefills[1],
      prefills[2],
      Math.max(0, now - own.seenAt),
      trust[slot],
      room[slot]
    };
  }

  /** Another has learned this of the endpoint; what makes no sense is passed over. */
  void take(Endpoint endpoint, long now, double[] told) {
    var _ = engine(endpoint);
    int slot = PoolEndpoint.slot(endpoint);
    for (double number : told) {
      if (!(number >= 0 && number < Long.MAX_VALUE)) {
        return;
      }
    }
    if (told.length != 9 || told[0] <= 0 || told[3] <= 0 || told[4] <= 0) {
      return;
    }
    Speed own = speeds(slot);
    own.decode = told[0];
    own.decodesSeen = told[1];
    own.decodesKnown = told[2];
    own.prefills.take(told[3], told[4], told[5]);
    own.seenAt = now - (long) told[6];
    trust[slot] = Math.min(1, told[7]);
    room[slot] = Math.clamp(told[8], LEAST_ROOM, MOST_ROOM);
    lookedAt = Math.max(lookedAt, now);
    version++;
  }
}
