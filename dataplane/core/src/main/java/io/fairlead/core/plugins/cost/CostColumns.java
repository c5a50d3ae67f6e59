package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.Prefills;
import java.util.Arrays;

/**
 * What of the {@link WorkCost} does not depend on the request, by place: worked out when an
 * endpoint changes, so that a decision looks at no endpoint that has not.
 */
final class CostColumns {

  private final double criticalMore;
  private final double sheddableMore;
  private boolean begun;
  private long epoch;
  private double timesKnown = 1;
  private int places;
  private int adapterPlaces;
  private int computingPlaces;
  private double firstOfAll;
  private double perTokenOfAll;
  private double perPairOfAll;
  private double inUseOfAll;
  private double restingOfAll;

  /** Own prefill: psi a, psi b and psi c. */
  double[] perPrefill = {};

  double[] perToken = {};
  double[] perPair = {};

  /** How far the prefix index is believed. */
  double[] trust = {};

  /** Backlog: psi times all prefills, what is left of that without the first, and its start. */
  double[] backlog = {};

  double[] behindHead = {};
  double[] headSince = {};

  /** Prompt tokens in flight; those that are decoding have produced some too. */
  double[] tokens = {};

  double[] decoding = {};

  /** Those of them that take no room, as they are kept for others too. */
  double[] repeated = {};

  /** Share of the cache that those in flight keep, at most 1. */
  private double[] inUse = {};

  /** Share of the cache that is of conversations between two requests. */
  private double[] resting = {};

  /**
   * When the last request that is known of there ended, as {@link #time} counts it: {@link
   * Double#POSITIVE_INFINITY} while one is in flight, {@link Double#NEGATIVE_INFINITY} where none
   * is known.
   */
  double[] idleSince = {};

  /** Room that a token takes that is kept. */
  double[] roomPerToken = {};

  /** Decode's share of a prefill step: with an empty cache, and per token in it. */
  double[] share = {};

  double[] sharePerKv = {};

  /** A decode step: with an empty cache, and per token in it. */
  double[] step = {};

  double[] stepPerKv = {};

  /** What one more sequence adds to a decode step, but for its tokens. */
  double[] stepPerSequence = {};

  /** Sequences that have no seat in a batch, this one with them, in batches. */
  double[] standing = {};

  /** Tokens that the cache has room for. */
  double[] room = {};

  /** Requests in flight as they count: critical ones more, sheddable ones less. */
  double[] inFlight = {};

  /** The same and one more, times what they cost for the failures among them. */
  private double[] load = {};

  private boolean[] adapters = {};

  /** Milliseconds to load one. */
  private double[] adapterLoad = {};

  /** 1 where there is a prompt to compute, else 0. */
  private int[] computing = {};

  /** Share of the prompts in line that the first is: 1 where none waits for another. */
  private double[] first = {};

  /** Hashes of the endpoints' names. */
  private long[] identity = {};

  /** Columns without places. */
  CostColumns(WorkCostScorer.Settings settings) {
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
      perPairOfAll -= perPair[place];
      perPair[place] = 0;
      inUseOfAll -= inUse[place];
      inUse[place] = 0;
      restingOfAll -= resting[place];
      resting[place] = 0;
      adapters(place, false);
      computing(place, false);
      firstOfAll -= first[place];
      first[place] = 0;
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
    headSince = Arrays.copyOf(headSince, length);
    tokens = Arrays.copyOf(tokens, length);
    decoding = Arrays.copyOf(decoding, length);
    repeated = Arrays.copyOf(repeated, length);
    roomPerToken = Arrays.copyOf(roomPerToken, length);
    inUse = Arrays.copyOf(inUse, length);
    resting = Arrays.copyOf(resting, length);
    idleSince = Arrays.copyOf(idleSince, length);
    share = Arrays.copyOf(share, length);
    sharePerKv = Arrays.copyOf(sharePerKv, length);
    step = Arrays.copyOf(step, length);
    stepPerKv = Arrays.copyOf(stepPerKv, length);
    stepPerSequence = Arrays.copyOf(stepPerSequence, length);
    standing = Arrays.copyOf(standing, length);
    room = Arrays.copyOf(room, length);
    inFlight = Arrays.copyOf(inFlight, length);
    load = Arrays.copyOf(load, length);
    adapters = Arrays.copyOf(adapters, length);
    adapterLoad = Arrays.copyOf(adapterLoad, length);
    computing = Arrays.copyOf(computing, length);
    first = Arrays.copyOf(first, length);
    identity = Arrays.copyOf(identity, length);
  }

  /** What the account of the endpoint that has this place, and this slot, comes to. */
  void write(int place, Endpoint there, EngineClass engine, LearnedSpeeds speeds, int slot) {
    double phi = speeds.phi(slot);
    double psi = speeds.psi(slot);
    perPrefill[place] = psi * engine.a();
    double token = psi * engine.b();
    // What rounding leaves behind goes up and down: it stays far below what matters.
    perTokenOfAll += token - perToken[place];
    perToken[place] = token;
    double pair = psi * engine.c();
    perPairOfAll += pair - perPair[place];
    perPair[place] = pair;
    trust[place] = speeds.trust(slot);
    roomPerToken[place] = speeds.room(slot);
    double share = Math.min(1, speeds.kept(there) * speeds.room(slot) / capacity(there, engine));
    inUseOfAll += share - inUse[place];
    inUse[place] = share;
    double rests = PoolEndpoint.restingTokens(there) / capacity(there, engine);
    restingOfAll += rests - resting[place];
    resting[place] = rests;
    idleSince[place] = idleSince(there);
    writeBacklog(place, there.prefills(), engine, psi);
    writeDecode(place, there, engine, phi, psi);
    inFlight[place] =
        there.inFlight()
            + criticalMore * there.criticalInFlight()
            + sheddableMore * there.sheddableInFlight();
    load[place] = (inFlight[place] + 1) * there.risk();
    identity[place] = there.identity();
    adapters(place, there.adapters().slots() > 0);
    adapterLoad[place] = engine.adapterLoad();
  }

  private double idleSince(Endpoint there) {
    if (there.inFlight() > 0) {
      return Double.POSITIVE_INFINITY;
    }
    long since = PoolEndpoint.idleSince(there);
    return since == Long.MIN_VALUE ? Double.NEGATIVE_INFINITY : time(since);
  }

  private void writeBacklog(int place, Prefills line, EngineClass engine, double psi) {
    double all = engine.prefill(line.count(), (double) line.uncachedTokens(), line.attention());
    double head = engine.prefill(1, line.headUncached(), line.headAttention());
    boolean waits = line.count() > 0;
    computing(place, waits);
    // Of those that each picker sends this one sees a part.
    double isFirst = 1.0 / Math.max(1, timesKnown * line.count());
    firstOfAll += isFirst - first[place];
    first[place] = isFirst;
    // None is less than any: what has drained of it makes no difference.
    backlog[place] = waits ? psi * all : Double.NEGATIVE_INFINITY;
    behindHead[place] = waits ? Math.max(0, psi * (all - head)) : 0;
    headSince[place] = waits ? line.headSince() - epoch : 0;
  }

  private void writeDecode(int place, Endpoint there, EngineClass engine, double phi, double psi) {
    double decoding = there.decodingSequences();
    double sent = there.sequences();
    tokens[place] = there.inFlightTokens();
    this.decoding[place] = decoding;
    repeated[place] = there.repeatedInFlightTokens();
    share[place] = engine.interference(decoding, 0, phi / psi);
    sharePerKv[place] = engine.d2() * (phi / psi) * engine.perFullStep();
    step[place] = phi * engine.decode(sent + 1, 0);
    stepPerKv[place] = phi * engine.d2();
    stepPerSequence[place] = phi * engine.d1();
    double seats = engine.maxSequences();
    // Whoever waits there and was not sent from here stands in line before this one.
    double strangers = Math.max(0, there.scrapedWaiting() - sent);
    standing[place] = (Math.max(0, sent + 1 - seats) + strangers) / seats;
    double capacity = capacity(there, engine);
    // Where nothing is in flight nothing will end, so a prompt that is too long waits for nobody.
    // Elsewhere nobody waits before the last block is taken: prompts that nobody uses give theirs.
    boolean empty = tokens[place] <= 0 && decoding <= 0;
    room[place] = empty ? Double.POSITIVE_INFINITY : capacity;
  }

  private void computing(int place, boolean is) {
    int now = is ? 1 : 0;
    computingPlaces += now - computing[place];
    computing[place] = now;
  }

  private static double capacity(Endpoint there, EngineClass engine) {
    return there.kvCapacityTokens() > 0 ? there.kvCapacityTokens() : engine.kvTokens();
  }

  private void adapters(int place, boolean has) {
    if (adapters[place] != has) {
      adapters[place] = has;
      adapterPlaces += has ? 1 : -1;
    }
  }

  /** How many times as many requests go there as are known of: places are to be written anew. */
  void timesKnown(double times) {
    timesKnown = times;
  }

  double timesKnown() {
    return timesKnown;
  }

  /** How many places there are. */
  int places() {
    return places;
  }

  /** A time as {@link #headSince} counts it, in nanoseconds: no more than a double holds. */
  double time(long now) {
    return now - epoch;
  }

  /** Milliseconds of prefill per new prompt token, all places together. */
  double perToken() {
    return perTokenOfAll;
  }

  /** Milliseconds of prefill per new prompt token. */
  double perToken(int place) {
    return perToken[place];
  }

  /** What whoever holds most of a prompt holds, of what each place is said to; in tokens. */
  double mostHeld(double[] cached) {
    double most = 0;
    for (int place = 0; place < places; place++) {
      most = Math.max(most, cached[place] * trust[place]);
    }
    return most;
  }

  /** Shares of their caches that those in flight keep, all places together. */
  double inUse() {
    return inUseOfAll;
  }

  /** Share of the cache there that those in flight keep, at most 1. */
  double inUse(int place) {
    return inUse[place];
  }

  /** Shares of their caches that are of conversations between two requests, all places together. */
  double resting() {
    return restingOfAll;
  }

  /** The same of the cache there. */
  double resting(int place) {
    return resting[place];
  }

  /** Places that have a prompt to compute. */
  int computing() {
    return computingPlaces;
  }

  /** 1 where there is a prompt to compute, else 0. */
  int computing(int place) {
    return computing[place];
  }

  /** Shares of the prompts in line that the first ones are, all places together. */
  double first() {
    return firstOfAll;
  }

  /** Share of the prompts in line there that the first is: 1 where none waits for another. */
  double first(int place) {
    return first[place];
  }

  /** Milliseconds of prefill per pair of tokens, all places together. */
  double perPair() {
    return perPairOfAll;
  }

  /** Milliseconds of prefill per pair of tokens. */
  double perPair(int place) {
    return perPair[place];
  }

  /** Requests in flight as they count. */
  double inFlight(int place) {
    return inFlight[place];
  }

  /** Requests there with one more, those that it will fail counting many times. */
  double load(int place) {
    return load[place];
  }

  /** Hash of the name of the endpoint in this place. */
  long identity(int place) {
    return identity[place];
  }

  /** Milliseconds that the endpoint in this place takes to load an adapter. */
  double adapterLoad(int place) {
    return adapterLoad[place];
  }

  /** Whether there is a place with adapters. */
  boolean anyAdapters() {
    return adapterPlaces > 0;
  }
}
