package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.plugins.TestCandidates;
import io.fairlead.core.plugins.TestCompletion;
import io.fairlead.core.plugins.TestEndpoint;
import io.fairlead.core.plugins.TestRequest;
import io.fairlead.core.view.Objectives;
import io.fairlead.core.view.Peers;
import io.fairlead.core.view.Stage;
import io.fairlead.plugin.Candidates;
import io.fairlead.plugin.Completion;
import io.fairlead.plugin.EndpointAttributes;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkCostScorerTest {

  private static final long MILLI = 1_000_000;

  /** Milliseconds, of the class that is assumed where nothing is told. */
  private static final EngineClass ASSUMED = EngineClass.builtIn(EngineClass.DEFAULT);

  private static final double A = ASSUMED.a();
  private static final double B = ASSUMED.b();
  private static final double C = ASSUMED.c();
  private static final double D0 = ASSUMED.d0();
  private static final double D1 = ASSUMED.d1();
  private static final double D2 = ASSUMED.d2();

  @Test
  void equalsTheFormulaWorkedOutByHand() {
    WorkCostScorer scorer = scorer(Map.of("omega", 3L, "theta", 10L));
    TestEndpoint idle = endpoint("idle", 0);
    TestEndpoint busy = endpoint("busy", 1);
    busy.matched = 50;
    busy.inFlight = 3;
    busy.awaiting = 1;
    busy.tokens = 3_000;
    busy.resting = 30_000;
    busy.uncached = 1_000;
    busy.attention = 500_000;
    busy.headUncached = 1_000;
    busy.headAttention = 500_000;
    busy.headSince = 10 * MILLI;
    TestRequest request = new TestRequest(1, 100);
    request.now = 15 * MILLI;
    idle.idleSince = request.now - 15_000 * MILLI;

    // 8192 is the token budget of a step.
    double idleOwn = A + B * 1600 + C * 1600 * 800;
    double idleStep = D0 + D1 + D2 * 1600;
    // One of two has a prompt to compute; of one's cache 3,200 tokens are in use, and half of what
    // rests will be.
    double inUse = (3_000 + 2 * 100 + 0.5 * 30_000) / ASSUMED.kvTokens() / 2;
    double theta = 10 / (1 - inUse) / (1 - 0.5);
    // A quarter of a minute is over: a quarter of the 800 tokens that the other holds is not
    // lacking.
    double lacking = B * 1400 + C * 1400 * (1600 - 700);
    double idleCost = idleOwn + theta * lacking + 200 * idleStep;
    double own = A + B * 800 + C * 800 * (800 + 400);
    double backlog = A + B * 1000 + C * 500_000 - 5;
    double kv = 3_000 + 2 * 200 / 2.0;
    double share = 1 + (D1 * 2 + D2 * kv) / (A + B * 8192);
    double step = D0 + D1 * 4 + D2 * (kv + 1600);
    double slower = 2 * 200 / 2.0 * (D1 + D2 * (1600 + 200 / 2.0));
    double wait = 3 * backlog + own;
    double busyCost = wait * share + 3 * own + slower + theta * (own - A) + 200 * step;

    TestCandidates candidates = new TestCandidates();
    candidates.goesOn = 0.5;
    candidates.add(idle);
    candidates.add(busy);
    double[] scores = new double[2];
    scorer.score(request, candidates, scores);
    double least = Math.min(idleCost, busyCost);
    assertThat(scores[0]).isCloseTo(least / idleCost, within(1e-9));
    assertThat(scores[1]).isCloseTo(least / busyCost, within(1e-9));
  }

  /**
   * One holds the prompt's first half and has a line, the other is idle: as long as what a prompt
   * drives out is of no use the line decides, and the cache where conversations come back for it.
   */
  @Test
  void aMissedPromptIsDearerWhereConversationsComeBackForWhatItDrivesOut() {
    TestEndpoint idle = endpoint("idle", 0);
    TestEndpoint holds = endpoint("holds", 1);
    holds.matched = 50;
    holds.inFlight = 1;
    holds.awaiting = 1;
    holds.uncached = 400;
    holds.headUncached = 400;
    assertThat(winner(scores(scorer(Map.of()), new TestRequest(1, 100), idle, holds))).isZero();
    for (TestEndpoint each : List.of(idle, holds)) {
      each.kvTokens = 20_000;
      each.resting = 18_000;
    }
    TestCandidates candidates = new TestCandidates();
    candidates.add(idle);
    candidates.add(holds);
    double[] scores = new double[2];
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).describedAs("nobody comes back").isZero();
    candidates.goesOn = 0.9;
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).describedAs("most come back").isOne();
  }

  /** The same where what prompts share is lost and asked for again. */
  @Test
  void aMissedPromptIsDearerWhereLostBlocksAreAskedForAgain() {
    TestEndpoint idle = endpoint("idle", 0);
    TestEndpoint holds = inLine("holds", 1, 400, 1);
    holds.matched = 50;
    TestCandidates candidates = new TestCandidates();
    candidates.add(idle);
    candidates.add(holds);
    double[] scores = new double[2];
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).isZero();
    candidates.ghostHits = 0.75;
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).isOne();
  }

  /**
   * Caches are full of what comes again, and everybody has a line: who holds half of the prompt is
   * worth some wait, and not any.
   */
  @Test
  void noCacheIsWorthALineOfAnyLength() {
    TestEndpoint holds = inLine("holds", 0, 8_000, 10);
    holds.matched = 50;
    TestEndpoint other = inLine("other", 1, 8_000, 10);
    TestCandidates candidates = new TestCandidates();
    candidates.add(holds);
    candidates.add(other);
    candidates.ghostHits = 1;
    double[] scores = new double[2];
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).isZero();
    holds.inFlight = holds.awaiting = 100;
    holds.uncached = 80_000;
    scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
    assertThat(winner(scores)).isOne();
  }

  /**
   * Caches are full of what comes again, so that a prompt which nobody holds is dear everywhere,
   * and lines look alike beside it. That is worth no wait to pickers that tell one another what
   * they send; to others it is, as nothing else makes them find the prompt again.
   */
  @Test
  void pickersThatTellAgreeOnNobodyWithALine() {
    assertThat(toTheBusyOne(true)).isZero();
    assertThat(toTheBusyOne(false)).isBetween(5, 15);
  }

  /** How often of twenty pools' the server with a line is preferred to the idle one. */
  private static int toTheBusyOne(boolean othersTell) {
    int times = 0;
    for (int pool = 0; pool < 20; pool++) {
      TestCandidates candidates = new TestCandidates();
      candidates.add(endpoint("idle" + pool, 0));
      candidates.add(inLine("busy" + pool, 1, 1_600, 2));
      candidates.ghostHits = 1;
      candidates.replicas = 3;
      candidates.othersTell = othersTell;
      double[] scores = new double[2];
      scorer(Map.of()).score(new TestRequest(1, 100), candidates, scores);
      times += winner(scores);
    }
    return times;
  }

  /**
   * One holds half of the prompt and has more to compute than the other: that is a shorter way for
   * this request while few wait, and takes the time of many where many do.
   */
  @Test
  void aMissedPromptIsDearerWhereManyPromptsWait() {
    TestEndpoint holds = inLine("holds", 0, 2_400, 1);
    holds.matched = 50;
    TestEndpoint other = inLine("other", 1, 400, 1);
    assertThat(winner(scores(scorer(Map.of()), new TestRequest(1, 100), holds, other))).isOne();
    holds.inFlight = holds.awaiting = 12;
    other.inFlight = other.awaiting = 12;
    assertThat(winner(scores(scorer(Map.of()), new TestRequest(1, 100), holds, other))).isZero();
  }

  /** However long a line is, what waits there has somewhere to go while others have none. */
  @Test
  void oneLongLineBesideFreeEndpointsDoesNotMakeItDearerToLeave() {
    TestEndpoint holds = inLine("holds", 0, 6_000, 1);
    holds.matched = 50;
    TestEndpoint[] endpoints = new TestEndpoint[8];
    endpoints[0] = holds;
    for (int i = 1; i < endpoints.length; i++) {
      endpoints[i] = endpoint("free-" + i, i);
    }
    TestRequest request = new TestRequest(1, 100);
    assertThat(winner(scores(scorer(Map.of()), request, endpoints))).isNotZero();
    holds.inFlight = holds.awaiting = 1_000;
    assertThat(winner(scores(scorer(Map.of()), request, endpoints))).isNotZero();
  }

  /** A picker of three sees a third of a line, and weighs a missed prompt as one that sees all. */
  @Test
  void linesCountAsManyTimesAsThereArePickers() {
    TestEndpoint holds = inLine("holds", 0, 2_400, 2);
    holds.matched = 50;
    TestEndpoint other = inLine("other", 1, 400, 2);
    TestRequest request = new TestRequest(1, 100);
    WorkCostScorer alone = scorer(Map.of("replicas", 1L));
    WorkCostScorer ofThree = scorer(Map.of("replicas", 3L));
    scores(ofThree, request, holds, other);
    double seen = ofThree.worth();
    holds.inFlight = holds.awaiting = 6;
    other.inFlight = other.awaiting = 6;
    scores(alone, request, holds, other);
    assertThat(seen).isCloseTo(alone.worth(), within(1e-9));
  }

  /**
   * What all prompts begin with is no reason to leave endpoints alone, and what nobody has asked
   * for lately is no loss.
   */
  @Test
  void whatOthersHoldIsNotMissedWhereNobodyHasAskedForAnythingForAMinute() {
    TestEndpoint holds = endpoint("holds", 0);
    holds.inFlight = 4;
    holds.tokens = 20_000;
    holds.matched = 60;
    TestEndpoint idle = endpoint("idle", 1);
    TestRequest request = new TestRequest(1, 100);
    request.now = 100_000_000_000L;
    idle.idleSince = request.now - 1_000_000_000L;
    assertThat(winner(scores(scorer(Map.of()), request, holds, idle))).isZero();
    idle.idleSince = request.now - 60_000_000_000L;
    assertThat(winner(scores(scorer(Map.of()), request, holds, idle))).isOne();
    idle.idleSince = Long.MIN_VALUE;
    assertThat(winner(scores(scorer(Map.of()), request, holds, idle))).isOne();
    // Who is as busy lacks what it lacks, whenever it was idle.
    idle.inFlight = 4;
    idle.tokens = 20_000;
    assertThat(winner(scores(scorer(Map.of()), request, holds, idle))).isZero();
  }

  /** It is missed everywhere alike, so that lines would look alike beside it. */
  @Test
  void whoWaitsMakesNoPromptDearerOfWhichNobodyHoldsAnything() {
    TestEndpoint one = inLine("one", 0, 400, 1);
    TestEndpoint two = inLine("two", 1, 400, 1);
    TestRequest request = new TestRequest(1, 100);
    WorkCostScorer scorer = scorer(Map.of());
    scores(scorer, request, one, two);
    double worth = scorer.worth();
    one.awaiting = one.inFlight = 20;
    two.awaiting = two.inFlight = 20;
    scores(scorer, request, one, two);
    assertThat(scorer.worth()).isCloseTo(worth, within(1e-9));
    two.matched = 1;
    scores(scorer, request, one, two);
    assertThat(scorer.worth()).isGreaterThan(5 * worth);
  }

  /** Whoever can't be asked, as it fails, say, is no room for what waits elsewhere. */
  @Test
  void onlyCandidatesAreRoomForWhatWaits() {
    TestEndpoint one = inLine("one", 0, 400, 6);
    one.matched = 1;
    TestEndpoint two = inLine("two", 1, 400, 6);
    TestEndpoint out = endpoint("out", 2);
    TestRequest request = new TestRequest(1, 100);
    WorkCostScorer scorer = scorer(Map.of());
    scores(scorer, request, one, two);
    double worth = scorer.worth();
    TestCandidates candidates = new TestCandidates();
    candidates.add(one);
    candidates.add(two);
    candidates.others.add(out);
    scorer.score(request, candidates, new double[2]);
    assertThat(scorer.worth()).isCloseTo(worth, within(1e-9));
  }

  /**
   * An embedding, say: it decodes nothing, and is in nobody's batch once its prompt is computed.
   */
  @Test
  void whatHasNoOutputCostsItsPrompt() {
    WorkCostScorer scorer = scorer(Map.of("omega", 1L, "theta", 0L));
    TestEndpoint idle = endpoint("idle", 0);
    TestEndpoint caching = endpoint("caching", 1);
    caching.matched = 50;
    TestRequest request = new TestRequest(1, 100);
    request.maxOutputTokens = 0;
    double[] scores = scores(scorer, request, idle, caching);
    double all = A + B * 1600 + C * 1600 * 800;
    double half = A + B * 800 + C * 800 * 1200;
    assertThat(scores[0]).isCloseTo(half / all, within(1e-9));
    assertThat(scores[1]).isEqualTo(1);
  }

  @Test
  void waitsForRoomInTheCache() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint roomy = endpoint("roomy", 0);
    TestEndpoint full = endpoint("full", 1);
    roomy.kvTokens = 1_000_000;
    full.kvTokens = 10_000;
    for (TestEndpoint each : List.of(roomy, full)) {
      each.inFlight = 4;
      each.tokens = 9_000;
    }
    double[] scores = scores(scorer, new TestRequest(1, 100), roomy, full);
    assertThat(scores[0]).isEqualTo(1);
    assertThat(scores[1]).isLessThan(0.95);
  }

  /** The cached prompt is worth more, but the request would be late behind others' prefills. */
  @Test
  void goesWhereItsFirstTokenIsInTime() {
    WorkCostScorer scorer = scorer(Map.of("omega", 1L));
    TestEndpoint caching = endpoint("caching", 0);
    TestEndpoint idle = endpoint("idle", 1);
    caching.matched = 99;
    caching.inFlight = 1;
    caching.awaiting = 1;
    caching.tokens = 8_000;
    caching.uncached = 8_000;
    caching.headUncached = 8_000;
    TestRequest request = new TestRequest(1, 100);
    double before = A + B * 8_000;
    double idleFirst = A + B * 1_600 + C * 1_600 * 800 + D0 + D1 + D2 * 1_600;
    assertThat(before).as("the case").isGreaterThan(2 * idleFirst);
    assertThat(scores(scorer, request, caching, idle)[0]).as("no objective").isEqualTo(1);

    request.firstTokenBy = Math.round(1.2 * idleFirst * MILLI);
    assertThat(scores(scorer, request, caching, idle)[1]).isEqualTo(1);

    request.firstTokenBy = Math.round(2 * before * MILLI);
    assertThat(scores(scorer, request, caching, idle)[0]).as("both are in time").isEqualTo(1);

    assertThat(request.cycle().get(Objectives.LEAST_LATE)).isZero();

    request.firstTokenBy = Math.round(idleFirst / 3 * MILLI);
    assertThat(scores(scorer, request, caching, idle)[0]).as("both are too late").isEqualTo(1);
    assertThat(request.cycle().get(Objectives.LEAST_LATE)).as("whoever gets it").isPositive();

    request.now = 1_000 * MILLI;
    caching.headSince = request.now;
    request.firstTokenBy = MILLI;
    assertThat(scores(scorer, request, caching, idle)[0]).as("past already").isEqualTo(1);
  }

  /** Who decodes has the prompt come from elsewhere, and who computes it does no more than that. */
  @Test
  void eachEndOfAPairIsChargedWhatItDoes() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint holder = endpoint("holder", 0);
    TestEndpoint empty = endpoint("empty", 1);
    holder.matched = 50;
    TestCandidates candidates = new TestCandidates().add(holder).add(empty);
    TestRequest request = new TestRequest(1, 100);

    request.put(Peers.STAGE, elsewhere());
    double[] decodes = terms(scorer, request, candidates, 0);
    assertThat(decodes[CostTerms.PREFILL]).isZero();
    assertThat(decodes[CostTerms.MISSED]).isZero();
    assertThat(decodes[CostTerms.TRANSFER]).isCloseTo(800 * ASSUMED.transfer(), within(1e-9));
    assertThat(decodes[CostTerms.DECODE]).isPositive();
    assertThat(terms(scorer, request, candidates, 1)[CostTerms.TRANSFER])
        .isCloseTo(1_600 * ASSUMED.transfer(), within(1e-9));

    request.put(Peers.STAGE, promptOf(800));
    request.put(Peers.PEER, holder);
    double[] computes = terms(scorer, request, candidates, 1);
    double own = A + B * 1600 + C * 1600 * 800;
    assertThat(computes[CostTerms.PREFILL]).isCloseTo(own, within(1e-9));
    assertThat(computes[CostTerms.DECODE]).isZero();
    assertThat(computes[CostTerms.TRANSFER]).isCloseTo(800 * ASSUMED.transfer(), within(1e-9));
    assertThat(terms(scorer, request, candidates, 0)[CostTerms.TRANSFER])
        .as("the way to itself")
        .isZero();
  }

  private static Stage elsewhere() {
    return new Stage() {
      @Override
      public boolean promptElsewhere(InferenceRequest request, Candidates among, int index) {
        return true;
      }
    };
  }

  private static Stage promptOf(int lacking) {
    return new Stage() {
      @Override
      public boolean promptAlone() {
        return true;
      }

      @Override
      public int lacking() {
        return lacking;
      }
    };
  }

  private static double[] terms(
      WorkCostScorer scorer, TestRequest request, TestCandidates candidates, int index) {
    double[] millis = new double[CostTerms.ALL.size()];
    scorer.score(request, candidates, new double[candidates.size()]);
    scorer.itemize(request, candidates, index, millis, new double[millis.length]);
    return millis;
  }

  /** A batch that is full already takes longer for each step. */
  @Test
  void goesWhereTokensComeInItsPace() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint caching = endpoint("caching", 0);
    TestEndpoint idle = endpoint("idle", 1);
    caching.matched = 999;
    caching.inFlight = 60;
    caching.tokens = 60_000;
    TestRequest request = new TestRequest(1, 1_000);
    assertThat(scores(scorer, request, caching, idle)[0]).as("no objective").isEqualTo(1);

    double idleStep = D0 + D1 + D2 * 16_000;
    request.timePerOutputToken = Math.round(1.1 * idleStep * MILLI);
    assertThat(scores(scorer, request, caching, idle)[1]).isEqualTo(1);

    request.timePerOutputToken = Math.round(10 * idleStep * MILLI);
    assertThat(scores(scorer, request, caching, idle)[0]).as("both keep it").isEqualTo(1);
  }

  /** By what was sent there is room, as nobody has seen yet how long the answers are. */
  @Test
  void waitsForRoomInTheCacheWhereOthersDo() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint free = endpoint("free", 0);
    TestEndpoint full = endpoint("full", 1);
    for (TestEndpoint each : List.of(free, full)) {
      each.kvTokens = 190_000;
      each.inFlight = 80;
      each.tokens = 40_000;
      each.kvUsage = 0.8;
    }
    full.kvUsage = 0.998;
    full.waiting = 27;
    full.awaiting = 12;
    double[] scores = {};
    for (int page = 1; page <= 25; page++) {
      free.scrapedAt = full.scrapedAt = page * 200_000_000L;
      scores = scores(scorer, new TestRequest(1, 100), free, full);
    }
    assertThat(scores[0]).isEqualTo(1);
    assertThat(scores[1]).isLessThan(0.95);
  }

  @Test
  void countsAPrefixThatRequestsShareOnce() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint shared = endpoint("shared", 0);
    TestEndpoint full = endpoint("full", 1);
    for (TestEndpoint each : List.of(shared, full)) {
      each.kvTokens = 10_000;
      each.inFlight = 4;
      each.tokens = 9_000;
    }
    shared.repeated = 6_000;
    double[] scores = scores(scorer, new TestRequest(1, 100), shared, full);
    assertThat(scores[0]).isEqualTo(1);
    assertThat(scores[1]).isLessThan(0.95);
  }

  /** A prompt that fits into what is left takes blocks that nobody uses, and waits for none. */
  @Test
  void waitsForNoRoomBeforeTheCacheIsFull() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint roomy = endpoint("roomy", 0);
    TestEndpoint near = endpoint("near", 1);
    for (TestEndpoint each : List.of(roomy, near)) {
      each.inFlight = 4;
      each.tokens = 9_000;
    }
    roomy.kvTokens = 1_000_000;
    near.kvTokens = 9_000 + 4 * 100 + 1_600 + 100;
    double[] scores = scores(scorer, new TestRequest(1, 100), roomy, near);
    assertThat(Math.min(scores[0], scores[1])).isGreaterThan(0.9999999);
  }

  @Test
  void seesAQueueThatOthersHaveSent() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint queued = endpoint("queued", 0);
    TestEndpoint free = endpoint("free", 1);
    queued.waiting = 200;
    TestRequest request = new TestRequest(1, 100);
    assertThat(scores(scorer, request, queued, free)[0]).isLessThan(0.5);

    // Its own requests are no others', however long ago it was asked.
    for (TestEndpoint each : List.of(queued, free)) {
      each.inFlight = 200;
    }
    double[] scores = scores(scorer, request, queued, free);
    assertThat(Math.min(scores[0], scores[1])).isGreaterThan(0.9999999);
  }

  @Test
  void waitsForASeatInTheBatch() {
    WorkCostScorer scorer =
        scorer(
            Map.of(
                "omega",
                1L,
                "theta",
                0L,
                "engineClasses",
                List.of(
                    Map.of("accelerator", "small", "maxSequences", 4L, "decodeKvTokenMs", 0L))));
    TestEndpoint full = endpoint("full", 0);
    TestEndpoint free = endpoint("free", 1);
    for (TestEndpoint each : List.of(full, free)) {
      each.attributes = new EndpointAttributes("", "small", "", "", "", "");
      scorer.joined(each);
    }
    full.inFlight = 6;
    free.inFlight = 3;

    double own = A + B * 16 + C * 16 * 8;
    double full7 = D0 + D1 * 7;
    double free4 = D0 + D1 * 4;
    double share = 1 / (A + B * 8192);
    double seat = 3 * 200 * full7 / 4;
    double fullCost = own * (1 + D1 * 6 * share) + seat + 6 * own + 6 * 100 * D1 + 200 * full7;
    double freeCost = own * (1 + D1 * 3 * share) + 3 * own + 3 * 100 * D1 + 200 * free4;
    assertThat(scores(scorer, new TestRequest(1, 1), full, free)[0])
        .isCloseTo(freeCost / fullCost, within(1e-9));
  }

  @Test
  void prefersALoadedAdapterThenAFreeSlot() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint loaded = endpoint("loaded", 0);
    TestEndpoint free = endpoint("free", 1);
    TestEndpoint taken = endpoint("taken", 2);
    for (TestEndpoint each : List.of(loaded, free, taken)) {
      each.adapterSlots = 2;
      each.baseModel = "base";
    }
    loaded.resident.add("m");
    taken.resident.addAll(List.of("other", "third"));
    double[] scores = scores(scorer, new TestRequest(1, 10), taken, free, loaded);
    assertThat(scores[2]).isEqualTo(1);
    assertThat(scores[1]).isLessThan(1).isGreaterThan(scores[0]);

    TestRequest base = new TestRequest(1, 10);
    base.model = "base";
    assertThat(scores(scorer, base, taken, free, loaded))
        .as("the base model needs no adapter")
        .containsOnly(1, Math.nextDown(1.0));
  }

  @Test
  void prefersASlotThatWillSoonBeFree() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint hot = endpoint("hot", 0);
    TestEndpoint mild = endpoint("mild", 1);
    TestEndpoint idle = endpoint("idle", 2);
    for (TestEndpoint each : List.of(hot, mild, idle)) {
      each.adapterSlots = 2;
      each.baseModel = "base";
      each.resident.addAll(List.of("other", "third"));
      each.inFlight = 8;
    }
    hot.adapterLeastInFlight = 4;
    mild.adapterLeastInFlight = 1;
    assertThat(scores(scorer, new TestRequest(1, 10), hot, mild, idle))
        .isSorted()
        .doesNotHaveDuplicates();
    assertThat(AdapterLoads.untilASlotIsFree(1, 100)).isCloseTo(171.8, within(0.1));
    assertThat(AdapterLoads.untilASlotIsFree(0, 100)).isZero();
  }

  @Test
  void criticalRequestsAreDearToDisturb() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint critical = endpoint("critical", 0);
    TestEndpoint standard = endpoint("standard", 1);
    TestEndpoint sheddable = endpoint("sheddable", 2);
    for (TestEndpoint each : List.of(critical, standard, sheddable)) {
      each.inFlight = 2;
    }
    critical.critical = 2;
    sheddable.sheddable = 2;
    double[] scores = scores(scorer, new TestRequest(1, 100), critical, standard, sheddable);
    assertThat(scores[0]).isLessThan(scores[1]);
    assertThat(scores[1]).isLessThan(scores[2]);
  }

  @Test
  void takesTheHardwareFromTheAcceleratorLabel() {
    WorkCostScorer scorer =
        scorer(
            Map.of(
                "omega",
                0L,
                "theta",
                0L,
                "engineClasses",
                List.of(Map.of("accelerator", "Own", "base", "8b-l4", "decodeStepMs", 1.0))));
    String[] slowestFirst = {"NVIDIA-L4", "nvidia-l40", "NVIDIA-A100-SXM4-80GB", "H100"};
    TestEndpoint[] endpoints = new TestEndpoint[slowestFirst.length];
    for (int i = 0; i < endpoints.length; i++) {
      endpoints[i] = new TestEndpoint("e" + i);
      endpoints[i].slot = i;
      endpoints[i].attributes = new EndpointAttributes("", slowestFirst[i], "", "", "", "");
      scorer.joined(endpoints[i]);
    }
    double[] scores = scores(scorer, new TestRequest(1, 100), endpoints);
    assertThat(scores).isSorted().doesNotHaveDuplicates();

    TestEndpoint own = new TestEndpoint("own");
    own.slot = 0;
    own.attributes = new EndpointAttributes("", "own", "", "", "", "");
    scorer.joined(own);
    assertThat(scores(scorer, new TestRequest(1, 100), own, endpoints[1])[1]).isLessThan(0.5);
  }

  @Test
  void learnsAnEndpointsSpeed() {
    WorkCostScorer scorer = scorer(Map.of("theta", 0L, "omega", 0L));
    TestEndpoint slow = endpoint("slow", 0);
    TestEndpoint asExpected = endpoint("as-expected", 1);
    for (int i = 0; i < 300; i++) {
      scorer.completed(done(slow, 3 * (D0 + D1 + D2 * 100)));
      scorer.completed(done(asExpected, D0 + D1 + D2 * 100));
    }
    double[] scores = scores(scorer, new TestRequest(1, 0), slow, asExpected);
    assertThat(scores[1]).isEqualTo(1);
    assertThat(scores[0]).isCloseTo(1 / 3.0, within(0.05));

    scorer.joined(slow);
    assertThat(scores(scorer, new TestRequest(1, 0), slow, asExpected)[0])
        .as("another process in its place starts as fast as its class has shown to be")
        .isBetween(0.45, 0.7);
  }

  @Test
  void aNewcomerAmongFastServersIsTakenForAFastOne() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint[] fast = {endpoint("one", 0), endpoint("two", 1)};
    for (int i = 0; i < 300; i++) {
      scorer.completed(done(fast[0], 0.7));
      scorer.completed(done(fast[1], 0.7));
    }
    TestEndpoint newcomer = endpoint("new", 2);
    scorer.joined(newcomer);
    int won = 0;
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < 300; i++) {
      TestRequest request = new TestRequest(random.nextLong(), 0);
      won += winner(scores(scorer, request, fast[0], fast[1], newcomer)) == 2 ? 1 : 0;
    }
    assertThat(won).isBetween(70, 130);
  }

  @Test
  void aFirstRequestThatCompilesDoesNotMakeAServerASlowOne() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint[] all = {endpoint("one", 0), endpoint("two", 1), endpoint("new", 2)};
    for (int i = 0; i < 100; i++) {
      scorer.completed(done(all[0], D0));
      scorer.completed(done(all[1], D0));
    }
    scorer.completed(done(all[2], 19 * D0));
    scorer.completed(done(all[2], 10 * D0));
    int won = 0;
    SplittableRandom random = new SplittableRandom(8);
    for (int i = 0; i < 300; i++) {
      TestRequest request = new TestRequest(random.nextLong(), 0);
      won += winner(scores(scorer, request, all)) == 2 ? 1 : 0;
    }
    assertThat(won).isBetween(70, 130);
  }

  @Test
  void learnsFromStreamsThatDoNotSayHowManyTokensTheyHad() {
    WorkCostScorer scorer = scorer(Map.of("theta", 0L, "omega", 0L));
    TestEndpoint slow = endpoint("slow", 0);
    TestEndpoint other = endpoint("other", 1);
    double expected = D0 + D1 + D2 * 100;
    for (int i = 0; i < 300; i++) {
      scorer.completed(done(slow, -1, 102, Math.round(99 * 3 * expected * MILLI)));
      scorer.completed(done(other, -1, 102, Math.round(99 * expected * MILLI)));
    }
    assertThat(scores(scorer, new TestRequest(1, 0), slow, other)[0])
        .isCloseTo(1 / 3.0, within(0.05));
  }

  @Test
  void learnsHowLongPrefillsTake() {
    WorkCostScorer scorer = scorer(Map.of("theta", 0L, "omega", 0L));
    TestEndpoint slow = endpoint("slow", 0);
    TestEndpoint other = endpoint("other", 1);
    double expected = A + B * 1600 + C * 1600 * 800;
    for (int i = 0; i < 300; i++) {
      // Two that were computed in one step: the second one took no time of its own.
      scorer.completed(prefilled(slow, 8 * expected));
      scorer.completed(prefilled(slow, 0));
      scorer.completed(prefilled(other, expected));
    }
    TestRequest longPrompt = new TestRequest(1, 100);
    longPrompt.maxOutputTokens = 1;
    double step = D0 + D1 + D2 * 1600;
    assertThat(scores(scorer, longPrompt, slow, other)[0])
        .isCloseTo((expected + step) / (4 * expected + step), within(0.05));
  }

  @Test
  void takesAResponseInOnePieceForNoSpeed() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint one = endpoint("one", 0);
    TestEndpoint other = endpoint("other", 1);
    for (int i = 0; i < 300; i++) {
      scorer.completed(done(one, 0.001));
    }
    assertThat(scores(scorer, new TestRequest(1, 100), one, other))
        .containsOnly(1, Math.nextDown(1.0));
  }

  @Test
  void learnsThatAnEndpointCachesNothing() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint liar = endpoint("liar", 0);
    TestEndpoint other = endpoint("other", 1);
    liar.matched = 100;
    TestRequest request = new TestRequest(1, 100);
    assertThat(scores(scorer, request, liar, other)[1]).isLessThan(0.95);
    for (int i = 0; i < 300; i++) {
      scorer.completed(new TestCompletion(liar, 1, 100, 0, 1600, 0, -1, 1000 * MILLI));
    }
    assertThat(scores(scorer, request, liar, other)[1]).isGreaterThan(0.99);
  }

  @Test
  void aServerThatCountsOtherTokensIsTrustedNevertheless() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint honest = endpoint("honest", 0);
    TestEndpoint other = endpoint("other", 1);
    honest.matched = 100;
    TestRequest request = new TestRequest(1, 100);
    double before = scores(scorer, request, honest, other)[1];
    for (int i = 0; i < 300; i++) {
      scorer.completed(new TestCompletion(honest, 1, 200, 0, 1600, 800, -1, 1000 * MILLI));
    }
    assertThat(scores(scorer, request, honest, other)[1]).isLessThanOrEqualTo(before + 0.02);
  }

  @Test
  void promptsBelowABlockAreSpreadOverAnIdlePool() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint[] idle = {endpoint("a", 0), endpoint("b", 1), endpoint("c", 2)};
    int[] won = new int[idle.length];
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 300; i++) {
      won[winner(scores(scorer, new TestRequest(random.nextLong(), 0), idle))]++;
    }
    assertThat(won[0]).isBetween(70, 130);
    assertThat(won[1]).isBetween(70, 130);
    assertThat(won[2]).isBetween(70, 130);
  }

  @Test
  void anIdleEndpointThatLooksALittleSlowerIsAskedToo() {
    WorkCostScorer scorer = scorer(Map.of());
    TestEndpoint slower = endpoint("slower", 0);
    TestEndpoint other = endpoint("other", 1);
    for (int i = 0; i < 300; i++) {
      scorer.completed(done(slower, 1.2 * (D0 + D1 + D2 * 100)));
      scorer.completed(done(other, D0 + D1 + D2 * 100));
    }
    int asked = 0;
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 300; i++) {
      asked += winner(scores(scorer, new TestRequest(random.nextLong(), 0), slower, other)) ^ 1;
    }
    assertThat(asked).isBetween(100, 200);

    slower.inFlight = 1;
    other.inFlight = 1;
    assertThat(winner(scores(scorer, new TestRequest(1, 0), slower, other))).isEqualTo(1);
  }

  @Test
  void severalPickersAgreeOnWhoGetsANewPrompt() {
    TestEndpoint[] endpoints = new TestEndpoint[8];
    WorkCostScorer one = scorer(Map.of("replicas", 3L));
    WorkCostScorer other = scorer(Map.of("replicas", 3L));
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < endpoints.length; i++) {
      endpoints[i] = new TestEndpoint("e" + i);
      endpoints[i].slot = i;
      one.joined(endpoints[i]);
      other.joined(endpoints[i]);
    }
    for (int prompt = 0; prompt < 200; prompt++) {
      TestRequest request = new TestRequest(random.nextLong(), 64);
      request.model = "m" + prompt;
      for (TestEndpoint each : endpoints) {
        each.inFlight = random.nextInt(2);
      }
      int first = winner(scores(one, request, endpoints));
      for (TestEndpoint each : endpoints) {
        each.inFlight = random.nextInt(2);
      }
      assertThat(winner(scores(other, request, endpoints))).isEqualTo(first);
    }
  }

  @Test
  void whatIsSetCountsForMorePickersThanWhatThePoolIsToldOf() {
    TestEndpoint busy = endpoint("busy", 0);
    TestEndpoint idle = endpoint("idle", 1);
    busy.inFlight = 1;
    TestCandidates candidates = new TestCandidates().add(busy).add(idle);
    List<WorkCostScorer> scorers =
        List.of(scorer(Map.of()), scorer(Map.of("replicas", 1L)), scorer(Map.of("replicas", 3L)));
    int[][] toTheBusyOne = new int[scorers.size()][4];
    SplittableRandom random = new SplittableRandom(5);
    double[] scores = new double[2];
    for (int prompt = 0; prompt < 100; prompt++) {
      TestRequest request = new TestRequest(random.nextLong(), 64);
      request.model = "m" + prompt; // prompts that nobody has seen, each with another key
      for (int scorer = 0; scorer < scorers.size(); scorer++) {
        for (int replicas = 1; replicas <= 3; replicas++) {
          candidates.replicas = replicas;
          scorers.get(scorer).score(request, candidates, scores);
          toTheBusyOne[scorer][replicas] += winner(scores) ^ 1;
        }
      }
    }
    assertThat(toTheBusyOne[0][1]).as("alone").isZero();
    assertThat(toTheBusyOne[0][2]).as("one of two agrees on about half").isBetween(30, 70);
    assertThat(toTheBusyOne[0][3]).isEqualTo(toTheBusyOne[0][2]);
    assertThat(toTheBusyOne[1]).as("set to 1").containsOnly(0);
    assertThat(toTheBusyOne[2])
        .as("set to 3")
        .containsExactly(0, toTheBusyOne[0][2], toTheBusyOne[0][2], toTheBusyOne[0][2]);
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3})
  void moreWorkNeverMakesAnEndpointBetter(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    WorkCostScorer scorer =
        scorer(Map.of("theta", 0L)); // which grows with the pool's work, for all
    TestEndpoint one = endpoint("one", 0);
    TestEndpoint other = endpoint("other", 1);
    for (int i = 0; i < 2_000; i++) {
      TestRequest request = new TestRequest(random.nextLong(), 1 + random.nextInt(2_000));
      request.now = random.nextLong(1_000) * MILLI;
      randomize(one, random, request);
      randomize(other, random, request);
      double before = scores(scorer, request, one, other)[0];
      switch (random.nextInt(4)) {
        case 0 -> one.inFlight += 1 + random.nextInt(5);
        case 1 -> one.tokens += random.nextInt(100_000);
        case 2 -> {
          one.uncached += 1_000;
          one.attention += 1e6;
        }
        default -> one.matched /= 2;
      }
      double[] after = scores(scorer, request, one, other);
      assertThat(after[0]).as("case %s", i).isLessThanOrEqualTo(before).isPositive();
      assertThat(Math.max(after[0], after[1])).isEqualTo(1);
    }
  }

  @Test
  void refusesSettingsOutOfRange() {
    assertThatExceptionOfType(InvalidParameterException.class)
        .isThrownBy(() -> scorer(Map.of("engineClass", "9b-h100")))
        .withMessageContaining("8b-h100");
    assertThatExceptionOfType(InvalidParameterException.class)
        .isThrownBy(() -> scorer(Map.of("engineClasses", List.of(Map.of("base", "8b-l4")))))
        .matches(e -> e.field().equals("engineClasses[0].accelerator"));
  }

  private static void randomize(TestEndpoint endpoint, SplittableRandom random, TestRequest to) {
    endpoint.awaiting = random.nextInt(4);
    endpoint.inFlight = endpoint.awaiting + random.nextInt(50);
    endpoint.tokens = endpoint.inFlight * (long) random.nextInt(10_000);
    endpoint.headUncached = endpoint.awaiting == 0 ? 0 : random.nextInt(5_000);
    endpoint.uncached = (long) endpoint.awaiting * endpoint.headUncached;
    endpoint.headAttention = endpoint.headUncached * 100.0;
    endpoint.attention = endpoint.awaiting * endpoint.headAttention;
    endpoint.headSince = random.nextLong(to.now + 1);
    endpoint.matched = random.nextInt(to.blockCount() + 1);
  }

  private static int winner(double[] scores) {
    int winner = 0;
    for (int i = 1; i < scores.length; i++) {
      winner = scores[i] > scores[winner] ? i : winner;
    }
    return winner;
  }

  /** Knows the endpoints of slots 0 to 3. */
  private static WorkCostScorer scorer(Map<String, Object> parameters) {
    WorkCostScorer scorer =
        (WorkCostScorer) new WorkCostScorer.Factory().create(new Parameters(parameters));
    for (int slot = 0; slot < 4; slot++) {
      scorer.joined(endpoint("joined", slot));
    }
    return scorer;
  }

  private static TestEndpoint endpoint(String name, int slot) {
    TestEndpoint endpoint = new TestEndpoint(name);
    endpoint.slot = slot;
    return endpoint;
  }

  /** One where so many prompts wait, which lack so many tokens together. */
  private static TestEndpoint inLine(String name, int slot, int uncached, int prompts) {
    TestEndpoint endpoint = endpoint(name, slot);
    endpoint.uncached = uncached;
    endpoint.headUncached = 200;
    endpoint.inFlight = prompts;
    endpoint.awaiting = prompts;
    return endpoint;
  }

  private static double[] scores(
      WorkCostScorer scorer, TestRequest request, TestEndpoint... endpoints) {
    TestCandidates candidates = new TestCandidates();
    for (TestEndpoint endpoint : endpoints) {
      candidates.add(endpoint);
    }
    double[] scores = new double[endpoints.length];
    scorer.score(request, candidates, scores);
    return scores;
  }

  /** A hundred output tokens of a request that decoded alone. */
  private static Completion done(TestEndpoint endpoint, double millisPerToken) {
    return done(endpoint, 100, 0, Math.round(99 * millisPerToken * MILLI));
  }

  private static Completion done(TestEndpoint endpoint, int tokens, int events, long decodeTime) {
    return new TestCompletion(endpoint, 1, tokens, events, 0, -1, -1, decodeTime);
  }

  /** A request whose prompt took so long; of its answer nothing is known. */
  private static Completion prefilled(TestEndpoint endpoint, double millis) {
    return new TestCompletion(endpoint, 0, -1, 0, 0, 0, Math.round(millis * MILLI), 0);
  }
}
