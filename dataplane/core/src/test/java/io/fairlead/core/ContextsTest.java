package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.view.PoolCandidates;
import io.fairlead.core.view.PoolEndpoint;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Conversations on one server that computes a thousand uncached tokens a second: after a warm-up,
 * six of them are open that go on every few seconds.
 */
class ContextsTest implements RequestListener {

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;
  private static final int BLOCK = 16;
  private static final int FIRST = 100;
  private static final int TURN = 10;
  private static final int OPEN = 6;
  private static final String RESTING = "resting-seen";

  private final PoolCore core = new PoolCore();
  private final List<Long> sent = new ArrayList<>();
  private final List<Long> waiting = new ArrayList<>();
  private final List<Rejection> rejections = new ArrayList<>();
  private final int[] blocks = new int[OPEN];
  private long now;
  private int nextConversation = OPEN;

  /** Of the request sent last. */
  private int cached;

  /** In the last decision. */
  private long restingSeen;

  private double goesOnSeen;

  @Override
  public void send(long request, Route route) {
    sent.add(request);
    cached = route.expectedCachedTokens();
  }

  @Override
  public void waits(long request, Criticality criticality) {
    waiting.add(request);
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }

  private void start(int tokens, Map<String, Object> detector) {
    start(tokens, detector, "conversation-ordering-policy");
  }

  private void start(int tokens, Map<String, Object> detector, String ordering) {
    FlowControlConfig.Band bands = new FlowControlConfig.Band(null, null, null, null, "order");
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig("room", "expected-wait-detector", detector),
                new PluginConfig("queue", "queue-scorer", Map.of()),
                new PluginConfig("resting", RESTING, Map.of()),
                new PluginConfig("order", ordering, Map.of())),
            List.of(),
            "room",
            Map.of(),
            new FlowControlConfig(null, null, null, null, null, null, null, bands, null, List.of()),
            null,
            List.of());
    core.configure(
        now,
        new ConfigCompiler(List.of(resting()))
            .compile(
                Pool.config(
                    scheduler,
                    Pool.model("m", Criticality.STANDARD),
                    Pool.model("critical", Criticality.CRITICAL))));
    core.endpoints(now, List.of(Pool.endpoint("a")));
    scrape(tokens);
  }

  /** Shows what a scorer sees. */
  private PluginFactory resting() {
    return new PluginFactory() {
      @Override
      public String type() {
        return RESTING;
      }

      @Override
      public Plugin create(Parameters parameters) {
        return (Scorer)
            (request, candidates, scores) -> {
              restingSeen = PoolEndpoint.restingTokens(candidates.get(0));
              goesOnSeen = PoolCandidates.of(candidates).goesOn();
            };
      }
    };
  }

  /** Told twice: one odd page is not believed. */
  private void scrape(int tokens) {
    for (int i = 0; i < 2; i++) {
      core.scraped(
          now, Pool.endpoint("a"), now, new EndpointMetrics(0, 0, 0.1, BLOCK, tokens / BLOCK));
    }
  }

  private static RequestFacts prompt(String model, int conversation, int count) {
    long[] blocks = new long[count];
    for (int i = 0; i < count; i++) {
      blocks[i] = (conversation + 1L) * 1_000_003 + i * 7_919L;
    }
    return Pool.request(model, conversation, blocks);
  }

  private long ask(String model, int conversation, int count) {
    return core.arrive(now, prompt(model, conversation, count), this);
  }

  /** A request that is served: its uncached tokens take a millisecond each. */
  private void serve(int conversation, int count) {
    long ticket = ask("m", conversation, count);
    assertThat(sent).contains(ticket);
    finish(ticket, count);
  }

  private void finish(long ticket, int count) {
    int uncached = count * BLOCK - cached;
    elapse(uncached * MILLI);
    core.firstByte(now, ticket);
    core.ended(now, ticket, Outcome.COMPLETED, new Usage(count * BLOCK, BLOCK, cached, 2));
  }

  /** Time passes, with ticks. */
  private void elapse(long nanos) {
    long end = now + nanos;
    while (end - now > 100 * MILLI) {
      now += 100 * MILLI;
      core.tick(now);
    }
    now = end;
    core.tick(now);
  }

  /** Each conversation begins anew once it is long. */
  private void rounds(int count) {
    for (int round = 0; round < count; round++) {
      for (int i = 0; i < OPEN; i++) {
        blocks[i] = blocks[i] == 0 ? FIRST : blocks[i] + TURN;
        serve(i, blocks[i]);
        elapse(200 * MILLI);
      }
    }
  }

  /** Its tries would else count as those of as many who begin something, of whom few go on. */
  @Test
  void whoIsNotServedAndTriesAtOnceAgainDrivesOutNoContext() {
    start(20_000, Map.of());
    rounds(12);
    scrape(15_000);
    int begins = nextConversation++;
    for (int i = 0; i < 200; i++) {
      long ticket = ask("m", begins, FIRST);
      assertThat(sent).as("at try %s", i).doesNotContain(ticket);
      core.ended(now, ticket, Outcome.DISCONNECTED, Usage.UNKNOWN);
    }
  }

  /** Prompts that many send alike, such as those of probes, are not forgotten for one refusal. */
  @Test
  void whoWasNotServedOnceCountsAgainFromWhenItIs() {
    EndpointState endpoint =
        new EndpointState(Pool.endpoint("a"), 0, new PrefillPace(), new PoolAdapters(), now);
    Contexts contexts = new Contexts();
    Contexts.Context before = context(endpoint);
    for (int i = 0; i < 200; i++) {
      contexts.came(1_000 + i, before);
    }
    for (int i = 0; i < 200; i++) {
      contexts.came(7, null);
      contexts.unsent(7);
    }
    assertThat(contexts.matter(1)).as("one that was never sent").isTrue();
    for (int i = 0; i < 200; i++) {
      contexts.came(7, null);
      contexts.sent(now, 7, new Attempt(), endpoint, null);
    }
    assertThat(contexts.matter(1)).as("200 that were").isFalse();
  }

  @Test
  void whoBeginsAConversationWaitsAsLongAsThoseThatAreOpenNeedTheCache() {
    start(20_000, Map.of());
    rounds(12);
    scrape(15_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(waiting).containsExactly(begins);

    // Those that are open go on nevertheless, before it.
    long goesOn = ask("m", 0, blocks[0] + TURN);
    assertThat(sent.getLast()).isEqualTo(goesOn);
    finish(goesOn, blocks[0] + TURN);

    // They go on no more: three times as long as they took before, and their room is free.
    elapse(30 * SECOND);
    assertThat(sent.getLast()).isEqualTo(begins);
    assertThat(rejections).isEmpty();
  }

  /** However a flow is ordered, and though the one that begins is the first of it. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "conversation-ordering-policy",
        "fcfs-ordering-policy",
        "edf-ordering-policy",
        "slo-deadline-ordering-policy"
      })
  void whoGoesOnWaitsForNobodyWhoBegins(String ordering) {
    start(20_000, Map.of(), ordering);
    rounds(12);
    scrape(15_000);
    long first = ask("m", nextConversation++, FIRST);
    long second = ask("m", nextConversation++, FIRST);
    assertThat(waiting).containsExactly(first, second);

    long goesOn = ask("m", 0, blocks[0] + TURN);
    assertThat(sent.getLast()).isEqualTo(goesOn);
    finish(goesOn, blocks[0] + TURN);
    assertThat(sent).doesNotContain(first, second);

    elapse(30 * SECOND);
    assertThat(sent).endsWith(first, second);
  }

  @Test
  void noRoomForNewConversationsIsTold() {
    start(60_000, Map.of());
    rounds(12);
    assertThat(core.queues(now).full()).isFalse();
    scrape(15_000);
    assertThat(core.queues(now).full()).isTrue();
  }

  @Test
  void criticalRequestsDontWaitForConversationsThatAreNot() {
    start(20_000, Map.of());
    rounds(12);
    scrape(15_000);
    long critical = ask("critical", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(critical);
  }

  @Test
  void nobodyWaitsWhereThereIsRoomForAll() {
    start(20_000, Map.of());
    rounds(12);
    scrape(60_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  @Test
  void whatRestsIsNotCountedForEachPicker() {
    core.replicas(2);
    start(35_000, Map.of());
    rounds(12);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  @Test
  void nobodyWaitsWhereConversationsDontGoOn() {
    start(20_000, Map.of());
    for (int i = 0; i < 100; i++) {
      serve(1_000 + i, FIRST);
    }
    scrape(8_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  /** Questions about one document after the other go on with nothing, each of another length. */
  @Test
  void nobodyWaitsWherePromptsOnlyBeginAlike() {
    start(20_000, Map.of());
    for (int i = 0; i < 100; i++) {
      RequestFacts question = prompt("m", i % OPEN, FIRST + i % 7);
      Arrays.fill(question.blocks(), FIRST - 2, question.blocks().length, 1_000_000_007L * i);
      long ticket = core.arrive(now, question, this);
      assertThat(sent).contains(ticket);
      finish(ticket, question.blocks().length);
    }
    scrape(8_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  /** Whoever asks so seldom that all prompts could be computed anew loses nothing. */
  @Test
  void nobodyWaitsForServersThatHaveTimeToComputeAllOfIt() {
    start(20_000, Map.of());
    for (int round = 0; round < 12; round++) {
      for (int i = 0; i < OPEN; i++) {
        blocks[i] = blocks[i] == 0 ? FIRST : blocks[i] + TURN;
        serve(i, blocks[i]);
        elapse(6 * SECOND);
      }
    }
    scrape(15_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  /** Less than computing all anew needs is lost, so that less room is worth the wait for it. */
  @ParameterizedTest
  @CsvSource({"0, 3", "0.5, 3", "0.8, 3", "0.8, 0.1", "1, 3", "1, 6"})
  void roomIsKeptForTheMoreContextsTheMoreServersNeedThem(double goOn, double gaps) {
    assertThat(Contexts.kept(0, goOn, gaps)).isZero();
    assertThat(Contexts.kept(0.65, goOn, gaps)).isZero();
    double before = 0;
    for (double whole = 0.66; whole < 1; whole += 0.01) {
      double kept = Contexts.kept(whole, goOn, gaps);
      assertThat(kept).as("%f", whole).isBetween(before, 1.0).isNotEqualTo(before);
      before = kept;
    }
    assertThat(Contexts.kept(1, goOn, gaps)).isEqualTo(1);
    assertThat(Contexts.kept(100, goOn, gaps)).isEqualTo(1);
  }

  /** Those that go on soon are most of those that go on: a third of the window has more of them. */
  @Test
  void whoGoesOnIsAtRestForAShorterTimeThanWhoDoesNot() {
    assertThat(Contexts.kept(0.75, 1, 3)).isGreaterThan(1.5 * Contexts.kept(0.75, 0, 3));
  }

  /** Its readiness failed once, say: neither its prompts nor its contexts are gone. */
  @Test
  void theSameProcessThatIsBackAtOnceHasItsCache() {
    start(60_000, Map.of());
    rounds(2);
    ask("m", nextConversation++, FIRST);
    core.endpoints(now, List.of());
    elapse(SECOND);
    core.endpoints(now, List.of(Pool.endpoint("a")));
    ask("m", 0, blocks[0] + TURN);
    assertThat(cached).isEqualTo(blocks[0] * BLOCK);
    assertThat(restingSeen).isPositive();
  }

  /** A request may end in the moment in which its server is found to be another process. */
  @Test
  void whatRestedAsItsCacheWasEmptiedIsTakenOffNoMore() {
    EndpointState endpoint =
        new EndpointState(Pool.endpoint("a"), 0, new PrefillPace(), new PoolAdapters(), now);
    now += SECOND;
    Contexts.Context before = context(endpoint);
    endpoint.rests(before);
    endpoint.restarted(now, EndpointMetrics.UNKNOWN);
    Contexts.Context after = context(endpoint);
    endpoint.rests(after);
    double alone = endpoint.contextTokens(1, false, 1);
    endpoint.restsNoMore(before);
    assertThat(endpoint.contextTokens(1, false, 1)).isPositive().isEqualTo(alone);
    endpoint.restsNoMore(after);
    assertThat(endpoint.contextTokens(1, false, 1)).isZero();
  }

  /** The next request can go on with one alone. */
  @Test
  void ofSeveralAnswersOneIsPartOfTheContext() {
    EndpointState endpoint =
        new EndpointState(Pool.endpoint("a"), 0, new PrefillPace(), new PoolAdapters(), now);
    assertThat(rested(endpoint, 8, 800)).isEqualTo(rested(endpoint, 1, 100));
  }

  /** What is kept for a request that was answered so often, with so many tokens. */
  private double rested(EndpointState at, int answers, int outputTokens) {
    double before = at.contextTokens(1, false, 1);
    assertThat(before).isZero();
    Flight flight = new Flight(0, 1);
    flight.start(now, prompt("m", answers, FIRST), this);
    flight.attempt.blocks = FIRST;
    flight.attempt.answers = answers;
    flight.ownTokens = FIRST * BLOCK;
    new Contexts().rests(now, flight, at, outputTokens);
    double rested = at.contextTokens(1, false, 1);
    at.restarted(now, EndpointMetrics.UNKNOWN);
    return rested;
  }

  private Contexts.Context context(EndpointState at) {
    return new Contexts.Context(new Contexts.Key(), 1, 1, at, 500, false, now, at.filling());
  }

  /** Six that go on every few seconds, as long as it takes to believe that nearly all do. */
  @Test
  void scorersSeeWhatRestsAndHowMuchOfItIsComeBackFor() {
    start(60_000, Map.of());
    rounds(40);
    ask("m", nextConversation++, FIRST);
    long tokens = 0;
    for (int count : blocks) {
      tokens += (count + 1L) * BLOCK;
    }
    assertThat(restingSeen).isBetween((long) (0.9 * tokens), (long) (1.1 * tokens));
    assertThat(goesOnSeen).isBetween(0.8, 1.0);
  }

  @Test
  void whatNobodyComesBackForIsNoneThatIsGoneOnWith() {
    start(60_000, Map.of());
    for (int i = 0; i < 100; i++) {
      serve(1_000 + i, FIRST);
    }
    ask("m", nextConversation++, FIRST);
    assertThat(restingSeen).isPositive();
    assertThat(goesOnSeen).isZero();
  }

  /**
   * Of all requests four fifths go on, after three seconds in the mean, so that those that are over
   * stay three times as long: a little more than half of what one finds is gone on with.
   */
  @Test
  void thoseThatAreOverStayLonger() {
    start(50_000_000, Map.of());
    waitersAmong(100, 0.8, 3, 9);
    assertThat(goesOnSeen).isBetween(0.35, 0.65);
  }

  @Test
  void keepingContextsCanBeTurnedOff() {
    start(20_000, Map.of("keepContexts", false));
    rounds(12);
    scrape(15_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  @Test
  void aServerThatStartsAnewHasRoom() {
    start(20_000, Map.of());
    rounds(12);
    core.endpoints(now, List.of(Pool.endpoint("a", "2")));
    scrape(15_000);
    long begins = ask("m", nextConversation++, FIRST);
    assertThat(sent.getLast()).isEqualTo(begins);
  }

  /** Most are over with one answer: contexts fill the cache, but few of them are come back for. */
  @Test
  void nobodyWaitsWhereFewGoOnHoweverTheirTimesScatter() {
    start(50_000_000, Map.of());
    assertThat(waitersAmong(200, 0.2, 10, 300)).isZero();
  }

  @Test
  void nobodyWaitsWhereFewOfMoreThanAreRememberedGoOn() {
    start(50_000_000, Map.of());
    assertThat(waitersAmong(1_000, 0.2, 20, 200)).isZero();
  }

  @Test
  void whoBeginsWaitsWhereMostOfManyGoOn() {
    start(50_000_000, Map.of());
    assertThat(waitersAmong(200, 0.8, 10, 60)).isPositive();
  }

  /**
   * Requests of which a share is gone on with after a while, at a server that has room for all
   * contexts in the first seconds, and then for some of them; until one is held back.
   */
  private int waitersAmong(int perSecond, double share, double meanGapSeconds, int seconds) {
    Random random = new Random(5);
    PriorityQueue<long[]> goOn = new PriorityQueue<>((a, b) -> Long.compare(a[0], b[0]));
    long every = SECOND / perSecond;
    double nanosPerToken = 0.8 * every / (FIRST * BLOCK);
    for (int i = 0; i < perSecond * seconds && waiting.isEmpty(); i++) {
      if (i == 10 * perSecond) {
        scrape(20_000);
      }
      if (i % perSecond == 0) {
        sent.clear();
      }
      now = i * every;
      if (i % Math.max(1, perSecond / 10) == 0) {
        core.tick(now);
      }
      long[] next = goOn.peek();
      boolean continues = next != null && next[0] <= now;
      long[] turn = continues ? goOn.remove() : new long[] {now, nextConversation++, FIRST};
      int count = (int) turn[2];
      long ticket = ask("m", (int) turn[1], count);
      if (!waiting.isEmpty()) {
        break;
      }
      now += Math.min(every - 1, (long) (nanosPerToken * (count * BLOCK - cached)));
      core.firstByte(now, ticket);
      core.ended(now, ticket, Outcome.COMPLETED, new Usage(count * BLOCK, BLOCK, cached, 2));
      if (random.nextDouble() < share) {
        double gap = -Math.log(1 - random.nextDouble()) * meanGapSeconds;
        goOn.add(new long[] {now + (long) (gap * SECOND), turn[1], count + TURN});
      }
    }
    return waiting.size();
  }
}
