package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointLabels;
import io.fairlead.core.plugins.TestCompletion;
import io.fairlead.core.plugins.TestEndpoint;
import io.fairlead.plugin.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is learned of endpoints that no label tells apart. */
class LearnedSpeedsTest {

  private static final double MILLI = 1e6;
  private static final long SECOND = 1_000_000_000L;

  /** Milliseconds for a token, and for a prompt of 1,600. */
  private static final double STEP = 8;

  private static final double PROMPT = 40;

  private final LearnedSpeeds speeds =
      new LearnedSpeeds(EngineClasses.read(new Parameters(Map.of())));
  private final List<TestEndpoint> joined = new ArrayList<>();
  private long now = SECOND;

  /** A hundred times as many requests go to fast servers as to one that is ten times slower. */
  @Test
  void whoIsFarSlowerIsFoundToBeSoByTenRequests() {
    TestEndpoint[] fast = {endpoint(0), endpoint(1)};
    TestEndpoint slow = endpoint(2);
    for (int i = 0; i < 10; i++) {
      for (int j = 0; j < 50; j++) {
        ended(fast[0], 1);
        ended(fast[1], 1);
      }
      ended(slow, 10);
    }
    look(fast[0]);

    assertThat(speeds.phi(2) / speeds.phi(0)).isBetween(5.0, 11.0);
    assertThat(speeds.psi(2) / speeds.psi(0)).isBetween(5.0, 11.0);
  }

  /** A pod may be labelled once its node is known. */
  @Test
  void whoIsLabelledAnewIsOfAnotherClass() {
    TestEndpoint late = endpoint(0);
    EngineClass unlabelled = speeds.engine(late);
    late.attributes = EndpointLabels.attributes(Map.of("fairlead.io/accelerator", "NVIDIA-L4"));
    TestEndpoint labelled = new TestEndpoint("labelled");
    labelled.slot = 1;
    labelled.attributes = late.attributes;
    assertThat(speeds.engine(late)).isNotEqualTo(unlabelled).isEqualTo(speeds.engine(labelled));
  }

  /** It is the same process, with the same labels for all that tells how fast it is. */
  @Test
  void whoIsLabelledAnewAsTheSameIsKnownAsBefore() {
    TestEndpoint slow = endpoint(0);
    TestEndpoint fast = endpoint(1);
    for (int i = 0; i < 50; i++) {
      ended(slow, 10);
      ended(fast, 1);
    }
    double before = speeds.phi(0);
    assertThat(before).isGreaterThan(2);
    slow.attributes = EndpointLabels.attributes(Map.of("llm-d.ai/role", "decode"));
    var _ = speeds.engine(slow);
    assertThat(speeds.phi(0)).isEqualTo(before);
  }

  /** What was sent since then is not in it: told with each of these, it would count each time. */
  @Test
  void aPageCountsOnceHoweverOftenItIsTold() {
    TestEndpoint there = endpoint(0);
    there.kvTokens = 100_000;
    there.kvUsage = 0.1;
    there.tokens = 20_000;
    there.scrapedAt = SECOND;
    speeds.scraped(0, there);
    there.scrapedAt += SECOND / 20;
    for (int i = 0; i < 50; i++) {
      speeds.scraped(0, there);
    }
    assertThat(speeds.room(0)).isBetween(0.97, 0.999);
    pages(there);
    assertThat(speeds.room(0)).isLessThan(0.52);
  }

  /** Long answers are under way, and none of them has ended: only short ones are known. */
  @Test
  void whereRequestsWaitForRoomInTheCacheThereIsNone() {
    TestEndpoint there = endpoint(0);
    there.kvTokens = 100_000;
    there.inFlight = 80;
    there.tokens = 40_000;
    there.kvUsage = 0.99;
    there.awaiting = 10;
    there.waiting = 15;
    pages(there);
    assertThat(speeds.kept(there) * speeds.room(0)).isGreaterThan(100_000);

    there.kvUsage = 0.8;
    there.awaiting = 0;
    there.waiting = 0;
    pages(there);
    assertThat(speeds.kept(there) * speeds.room(0)).isBetween(79_000.0, 81_000.0);
  }

  /** Ten of them have been sent by others. */
  @Test
  void whatOthersSentTakesRoomToo() {
    TestEndpoint there = endpoint(0);
    there.kvTokens = 100_000;
    there.inFlight = 10;
    there.foreign = 10;
    there.tokens = 30_000;
    there.kvUsage = 0.99;
    there.awaiting = 5;
    there.waiting = 10;
    pages(there);
    assertThat(speeds.kept(there) * speeds.room(0)).isGreaterThan(100_000);
  }

  /** What those want that wait for room is not in it. */
  @Test
  void aFullCacheDoesNotMakeWhatWasSentLookSmaller() {
    TestEndpoint there = endpoint(0);
    there.kvTokens = 100_000;
    there.kvUsage = 1;
    there.inFlight = 50;
    there.tokens = 200_000;
    pages(there);
    assertThat(speeds.room(0)).isEqualTo(1);
  }

  /** The longest of eight answers takes as long as 272 tokens where they are 100 in the mean. */
  @Test
  void whoIsAskedForSeveralAnswersIsNoSlowerOrFaster() {
    TestEndpoint[] usual = {endpoint(0), endpoint(1), endpoint(2)};
    TestEndpoint several = endpoint(3);
    for (int i = 0; i < 100; i++) {
      for (TestEndpoint each : usual) {
        ended(each, 1);
      }
      ended(several, 1);
      endedOfEight(several, 272, 100);
      endedOfEight(several, 100, 800);
    }
    look(usual[0]);

    assertThat(speeds.phi(3) / speeds.phi(0)).isBetween(0.9, 1.1);
    assertThat(speeds.psi(3) / speeds.psi(0)).isBetween(0.9, 1.1);
  }

  /** It is asked again after a while, and nothing has changed. */
  @Test
  void whoIsFoundToBeAsBeforeIsAsKnownAsBefore() {
    TestEndpoint fast = endpoint(0);
    TestEndpoint slow = endpoint(1);
    knownAndThenIdle(slow, fast);
    assertThat(speeds.phi(1) / speeds.phi(0)).as("it is to be tried").isLessThan(1.5);

    ended(slow, 10);
    look(fast);

    assertThat(speeds.phi(1) / speeds.phi(0)).isGreaterThan(5);
  }

  /** Clients leave who wait for a slow server, and answers may be too short to tell. */
  @Test
  void whatTellsNothingMakesNobodyForget() {
    TestEndpoint fast = endpoint(0);
    TestEndpoint slow = endpoint(1);
    knownAndThenIdle(slow, fast);
    long version = speeds.version();
    for (int i = 0; i < 2; i++) {
      speeds.completed(new TestCompletion(now, slow, 1, 0, 0, 0, 0, -1, -1, -1));
      assertThat(speeds.version()).as("others' costs are as they were").isEqualTo(version);
      for (int j = 0; j < 45; j++) {
        ended(fast, 1);
      }
      version = speeds.version();
    }
    joined.add(slow);
    look(fast);
    assertThat(speeds.phi(1) / speeds.phi(0)).as("while it is tried again").isGreaterThan(3);

    ended(slow, 10);
    look(fast);
    assertThat(speeds.phi(1) / speeds.phi(0)).isGreaterThan(5);
  }

  @Test
  void whoIsFoundToBeAnotherIsSoonBelieved() {
    TestEndpoint fast = endpoint(0);
    TestEndpoint slow = endpoint(1);
    knownAndThenIdle(slow, fast);
    joined.add(slow);
    for (int i = 0; i < 3; i++) {
      ended(slow, 1);
    }
    look(fast);

    assertThat(speeds.phi(1) / speeds.phi(0)).isLessThan(1.5);
  }

  @Test
  void whoIsFarFasterIsFoundToBeSo() {
    TestEndpoint[] usual = {endpoint(0), endpoint(1)};
    TestEndpoint fast = endpoint(2);
    for (int i = 0; i < 20; i++) {
      for (int j = 0; j < 5; j++) {
        ended(usual[0], 1);
        ended(usual[1], 1);
      }
      ended(fast, 0.2);
    }
    look(fast);

    assertThat(speeds.phi(0) / speeds.phi(2)).isBetween(3.0, 6.0);
    assertThat(speeds.psi(0) / speeds.psi(2)).isBetween(2.0, 6.0);
  }

  /** Its first request compiles, or it stalls once. */
  @Test
  void oneSlowRequestAmongEqualsSaysLittle() {
    TestEndpoint[] usual = {endpoint(0), endpoint(1), endpoint(2)};
    TestEndpoint fresh = endpoint(3);
    for (int i = 0; i < 50; i++) {
      for (TestEndpoint each : usual) {
        ended(each, 1);
      }
    }
    ended(fresh, 100);
    look(usual[0]);

    assertThat(speeds.phi(3) / speeds.phi(0)).isLessThan(1.1);
    assertThat(speeds.psi(3) / speeds.psi(0)).isLessThan(1.1);
  }

  /** Where hardware differs a first request may tell the truth: it says more, and not all. */
  @Test
  void oneSlowRequestWhereServersDifferSaysThatItMayBeASlowOne() {
    TestEndpoint fast = endpoint(0);
    TestEndpoint slow = endpoint(1);
    TestEndpoint fresh = endpoint(2);
    for (int i = 0; i < 50; i++) {
      ended(fast, 1);
      ended(slow, 10);
    }
    ended(fresh, 100);
    look(fast);

    assertThat(speeds.phi(2) / speeds.phi(0)).isBetween(1.2, 3.0);
  }

  @Test
  void equalOnesStayEqual() {
    TestEndpoint[] all = {endpoint(0), endpoint(1), endpoint(2)};
    for (int i = 0; i < 200; i++) {
      for (int j = 0; j < all.length; j++) {
        ended(all[j], 0.9 + 0.05 * ((i + j) % 5));
      }
    }
    look(all[0]);

    assertThat(speeds.phi(1) / speeds.phi(0)).isBetween(0.99, 1.01);
    assertThat(speeds.phi(2) / speeds.phi(0)).isBetween(0.99, 1.01);
  }

  @Test
  void whoAnswersInOnePieceIsFoundToBeSlowToo() {
    TestEndpoint[] fast = {endpoint(0), endpoint(1)};
    TestEndpoint slow = endpoint(2);
    for (int i = 0; i < 20; i++) {
      for (int j = 0; j < 5; j++) {
        endedWhole(fast[0], 100, 1, 1);
        endedWhole(fast[1], 100, 1, 1);
      }
      endedWhole(slow, 100, 5, 5);
    }
    look(fast[0]);

    assertThat(speeds.phi(2) / speeds.phi(0)).isBetween(3.5, 6.0);
  }

  /** Nothing tells what was the prompt's and what the tokens' but requests of other proportions. */
  @Test
  void ofAnswersInOnePieceShortOnesTellOfPromptsAndLongOnesOfTokens() {
    TestEndpoint endpoint = endpoint(0);
    for (int i = 0; i < 300; i++) {
      endedWhole(endpoint, i % 2 == 0 ? 8 : 200, 5, 1);
    }

    double prompts = speeds.psi(0) * speeds.engine(endpoint).prefill(1, 1600, 1600.0 * 800);
    double tokens = speeds.phi(0) * speeds.engine(endpoint).decode(1, 0);
    assertThat(prompts).as("ms for a prompt").isBetween(4 * PROMPT, 6 * PROMPT);
    assertThat(tokens).as("ms for a token").isBetween(0.8 * STEP, 1.2 * STEP);
  }

  /** Something between server and client waits for the end of the stream. */
  @Test
  void aStreamThatComesInOnePieceIsTakenForOne() {
    TestEndpoint fast = endpoint(0);
    TestEndpoint slow = endpoint(1);
    for (int i = 0; i < 50; i++) {
      endedHeldUp(fast, 1);
      endedHeldUp(slow, 5);
    }
    look(fast);

    assertThat(speeds.phi(1) / speeds.phi(0)).isBetween(3.0, 6.0);
    double prompt = speeds.psi(0) * speeds.engine(fast).prefill(1, 1600, 1600.0 * 800);
    assertThat(prompt).as("ms for a prompt").isLessThan(10 * PROMPT);
  }

  private TestEndpoint endpoint(int slot) {
    TestEndpoint endpoint = new TestEndpoint("endpoint-" + slot);
    endpoint.slot = slot;
    speeds.joined(endpoint);
    joined.add(endpoint);
    return endpoint;
  }

  /** Five seconds of pages that say the same. */
  private void pages(TestEndpoint there) {
    for (int i = 0; i < 25; i++) {
      there.scrapedAt += SECOND / 5;
      speeds.scraped(there.slot, there);
    }
  }

  /** One is found to be ten times slower than the other, and gets nothing for 20 s. */
  private void knownAndThenIdle(TestEndpoint slow, TestEndpoint fast) {
    for (int i = 0; i < 30; i++) {
      ended(fast, 1);
      ended(slow, 10);
    }
    joined.remove(slow);
    for (int i = 0; i < 100; i++) {
      ended(fast, 1);
    }
  }

  /** A prompt and a hundred tokens took so many times longer than usual. */
  private void ended(TestEndpoint at, double slower) {
    now += SECOND / 5;
    joined.forEach(each -> speeds.atWork(each.slot)); // what is learned of none fades
    long decoding = Math.round(99 * STEP * slower * MILLI);
    long prefill = Math.round(PROMPT * slower * MILLI);
    speeds.completed(new TestCompletion(now, at, 1, 100, 0, 0, 0, prefill, decoding, -1));
  }

  private void endedOfEight(TestEndpoint at, int longest, int tokens) {
    now += SECOND / 5;
    joined.forEach(each -> speeds.atWork(each.slot));
    long decoding = Math.round((longest - 1) * STEP * MILLI);
    long prefill = Math.round(PROMPT * MILLI);
    speeds.completed(new TestCompletion(now, at, 8, tokens, 0, 0, 0, prefill, decoding, -1, 8));
  }

  /** A prompt and so many tokens, which took so many times longer than usual, came in one piece. */
  private void endedWhole(TestEndpoint at, int tokens, double slowerPrompt, double slower) {
    now += SECOND / 5;
    joined.forEach(each -> speeds.atWork(each.slot));
    long whole = Math.round((PROMPT * slowerPrompt + tokens * STEP * slower) * MILLI);
    speeds.completed(new TestCompletion(now, at, 1, tokens, 0, 0, 0, -1, -1, whole));
  }

  private void endedHeldUp(TestEndpoint at, double slower) {
    now += SECOND / 5;
    joined.forEach(each -> speeds.atWork(each.slot));
    long whole = Math.round((PROMPT + 99 * STEP) * slower * MILLI);
    speeds.completed(new TestCompletion(now, at, 1, 100, 102, 0, 0, whole, 1000, -1));
  }

  /** What is learned is looked at every two seconds, by whose request ends then. */
  private void look(TestEndpoint by) {
    now += 3 * SECOND;
    ended(by, 1);
  }
}
