package io.fairlead.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.lab.workload.Workloads.Options;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who shares how much with whom, and that it is the same whatever became of the others. */
final class SharingTest {

  private static final int BLOCK = RequestShape.BLOCK_TOKENS;
  private static final long SERVICE_NANOS = 2_000_000_000L;

  @ParameterizedTest
  @CsvSource({"gsp-high, 2048", "gsp-low, 256"})
  void gspAsksEachPromptOfEachGroupOnceAndEnds(String name, int system) {
    List<RequestShape> requests = WorkloadsTest.play(name, 1, 100_000).requests();

    assertThat(requests).hasSize(4_096);
    Map<Long, List<RequestShape>> groups = byBlock(requests, system / BLOCK - 1);
    assertThat(groups).hasSize(256);
    assertThat(groups.values()).allMatch(group -> group.size() == 16);
    // the last block of the prompts' common part is shared, the next one is nobody else's
    assertThat(byBlock(requests, system / BLOCK)).hasSize(4_096);
    assertThat(requests.getFirst().blocks()[0]).isNotEqualTo(requests.get(1).blocks()[0]);
  }

  @Test
  void closedLoopNeverHasMoreInFlightAndKeepsItFull() {
    Traffics.Run run = WorkloadsTest.play("gsp-high", 1, 3_000);

    assertThat(run.most()).isEqualTo(300);
    assertThat(run.arrivals().get(299).atNanos() / 1e9).isCloseTo(300 / 800.0, within(0.11));
    Traffic half = Workloads.named("gsp-high", Options.times(0.5)).start(1);
    assertThat(Traffics.play(half, 1_000, r -> 5_000_000_000L).most()).isEqualTo(150);
    // servers that are faster than the rate do not make the loop send sooner
    Traffic fast = Workloads.named("gsp-high", Options.DEFAULT).start(1);
    List<Arrival> arrivals = Traffics.play(fast, 4_096, r -> 1).arrivals();
    assertThat(arrivals.getLast().atNanos() / 1e9).isCloseTo(4_096 / 800.0, within(0.4));
  }

  @Test
  void closedLoopWaitsAfterARequestThatWasNotServed() {
    Traffic traffic = Workloads.named("gsp-high", Options.DEFAULT).start(1);
    RequestShape first = WorkloadsTest.next(traffic).request();
    List<Arrival> follow = new ArrayList<>();

    traffic.ended(9_000_000_000L, first, false, follow::add);

    assertThat(follow).singleElement().extracting(Arrival::atNanos).isEqualTo(10_000_000_000L);
  }

  @Test
  void b2bAsksTheSameQuestionsAgainAndGetsNewAnswers() {
    List<RequestShape> requests = WorkloadsTest.play("b2b", 1, 1_500).requests();

    assertThat(byBlock(requests, 6_000 / BLOCK - 1)).hasSize(150);
    for (int i = 0; i < 750; i++) {
      RequestShape first = requests.get(i);
      RequestShape again = requests.get(i + 750);
      assertThat(again.promptTokens()).isEqualTo(first.promptTokens());
      assertThat(again.outputTokens()).isEqualTo(first.outputTokens());
      assertThat(Traffics.shared(first, again)).isEqualTo(first.promptTokens() / BLOCK);
    }
  }

  @Test
  void mixedSharedHasGroupsAndEverNewQuestions() {
    List<RequestShape> requests = WorkloadsTest.play("mixed-shared", 1, 4_000).requests();

    Map<Long, List<RequestShape>> groups = byBlock(requests, 2_048 / BLOCK - 1);
    assertThat(groups).hasSize(64);
    assertThat(groups.values())
        .allSatisfy(group -> assertThat((double) group.size()).isCloseTo(62.5, within(40.0)));
    assertThat(byBlock(requests, 2_048 / BLOCK)).hasSize(4_000);
  }

  @Test
  void tasksHaveInstructionsOfTheirOwn() {
    List<RequestShape> requests = WorkloadsTest.play("tasks", 1, 9_000).requests();

    assertThat(byBlock(requests, 0)).hasSize(300);
    assertThat(byBlock(requests, 2_000 / BLOCK - 1)).hasSize(300);
    // A short question is no whole block.
    List<RequestShape> longer =
        requests.stream().filter(request -> request.blocks().length > 2_000 / BLOCK).toList();
    assertThat(byBlock(longer, 2_000 / BLOCK)).hasSameSizeAs(longer);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"sharegpt-low-hit", "bimodal", "bursty", "mixed-sharegpt", "lora-32", "priority"})
  void shortChatsShareNothing(String name) {
    List<RequestShape> requests =
        WorkloadsTest.play(name, 1, 3_000).requests().stream()
            .filter(request -> request.blocks().length > 0)
            .toList();

    assertThat(byBlock(requests, 0)).hasSize(requests.size());
  }

  @Test
  void reasoningSharesItsSystemPromptAlone() {
    List<RequestShape> requests = WorkloadsTest.play("reasoning", 1, 500).requests();

    assertThat(byBlock(requests, 250 / BLOCK - 1)).hasSize(1);
    assertThat(byBlock(requests, 250 / BLOCK)).hasSize(500);
  }

  @Test
  void ragSharesDocumentsByZipfsLaw() {
    List<RequestShape> requests = WorkloadsTest.play("rag", 1, 8_000).requests();

    assertThat(byBlock(requests, 500 / BLOCK - 1)).hasSize(1);
    Map<Long, List<RequestShape>> documents = byBlock(requests, 500 / BLOCK);
    assertThat(documents).hasSize(200);
    List<List<RequestShape>> ranked =
        documents.values().stream()
            .sorted(Comparator.comparingInt((List<RequestShape> of) -> of.size()).reversed())
            .toList();
    assertThat(ranked.getFirst().size() / 8_000.0).isCloseTo(1 / 5.878, within(0.02));
    for (List<RequestShape> same : ranked.subList(0, 10)) {
      int shared = Traffics.shared(same.getFirst(), same.getLast());
      // all of the document: the questions are short
      int document = same.stream().mapToInt(RequestShape::promptTokens).min().orElseThrow();
      assertThat(shared * BLOCK).isBetween(document - 300, document);
    }
    double[] prompts = requests.stream().mapToDouble(RequestShape::promptTokens).toArray();
    assertThat(SpreadTest.mean(prompts)).isCloseTo(15_000, within(4_000.0));
    assertThat(DoubleStream.of(prompts)).allMatch(prompt -> prompt > 1_500 && prompt <= 82_500);
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "agent"})
  void aTurnBeginsWithAllThatWasSaid(String name) {
    Map<Integer, Integer> turnsSeen = new TreeMap<>();
    for (List<Arrival> session : sessions(name, 3, 4_000, 1)) {
      turnsSeen.merge(session.size(), 1, Integer::sum);
      for (int turn = 1; turn < session.size(); turn++) {
        RequestShape before = session.get(turn - 1).request();
        RequestShape now = session.get(turn).request();
        assertThat(Traffics.shared(before, now)).isEqualTo(before.blocks().length);
        assertThat(now.promptTokens()).isGreaterThan(before.promptTokens() + before.outputTokens());
      }
    }
    assertThat(turnsSeen.keySet()).anyMatch(turns -> turns >= 8);
  }

  @Test
  void agentsGrowAsTheTableSays() {
    List<Arrival> longest =
        sessions("agent", 1, 2_000, 1).stream()
            .max(Comparator.comparingInt(List::size))
            .orElseThrow();

    assertThat(longest).hasSize(8);
    for (int turn = 0; turn < 8; turn++) {
      RequestShape request = longest.get(turn).request();
      assertThat(request.promptTokens()).isEqualTo(23_000 + turn * 1_900);
      assertThat(request.outputTokens()).isEqualTo(400);
    }
  }

  @Test
  void chatsHaveTheSizesTurnsAndThinkTimesOfTheTable() {
    // long enough that most of these conversations are over, and none is counted that may not be
    List<List<Arrival>> sessions = sessions("chat", 2, 30_000, 1);
    List<List<Arrival>> over = sessions.subList(0, sessions.size() * 2 / 3);

    double[] turns = over.stream().mapToDouble(List::size).toArray();
    assertThat(SpreadTest.mean(turns)).isCloseTo(4.94, within(0.3));
    assertThat(DoubleStream.of(turns)).allMatch(n -> n >= 1 && n <= 20);
    double[] first =
        over.stream().mapToDouble(session -> session.getFirst().request().promptTokens()).toArray();
    assertThat(SpreadTest.mean(first)).isCloseTo(3_500, within(160.0));
    List<Double> thinks = new ArrayList<>();
    List<Double> added = new ArrayList<>();
    for (List<Arrival> session : over) {
      for (int turn = 1; turn < session.size(); turn++) {
        Arrival before = session.get(turn - 1);
        Arrival now = session.get(turn);
        long ended = before.atNanos() + SERVICE_NANOS;
        assertThat(now.atNanos()).isGreaterThanOrEqualTo(ended);
        thinks.add((now.atNanos() - ended) / 1e9);
        added.add(
            (double)
                (now.request().promptTokens()
                    - before.request().promptTokens()
                    - before.request().outputTokens()));
      }
    }
    assertThat(thinks).hasSizeGreaterThan(10_000);
    assertThat(SpreadTest.mean(doubles(thinks))).isCloseTo(8, within(0.35));
    assertThat(SpreadTest.sd(doubles(thinks))).isCloseTo(8, within(0.5));
    assertThat(SpreadTest.mean(doubles(added))).isCloseTo(100, within(3.5));
    assertThat(SpreadTest.sd(doubles(added))).isCloseTo(80, within(8.0));
  }

  @Test
  void whoIsNotServedGivesUp() {
    Traffic traffic = Workloads.named("agent", Options.DEFAULT).start(1);
    RequestShape first = WorkloadsTest.next(traffic).request();
    List<Arrival> follow = new ArrayList<>();

    traffic.ended(1_000, first, false, follow::add);
    traffic.ended(2_000, first, true, follow::add);

    assertThat(follow).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"chat", "agent"})
  void aSessionIsTheSameInWhateverOrderAnswersCome(String name) {
    Map<Long, List<String>> quick = contents(sessions(name, 5, 2_000, 1));
    Map<Long, List<String>> slow = contents(sessions(name, 5, 2_000, 13));

    int turns = 0;
    for (Map.Entry<Long, List<String>> session : quick.entrySet()) {
      List<String> other = slow.getOrDefault(session.getKey(), List.of());
      int both = Math.min(other.size(), session.getValue().size());
      assertThat(other.subList(0, both)).isEqualTo(session.getValue().subList(0, both));
      turns += both;
    }
    assertThat(turns).isGreaterThan(1_000);
  }

  /** Who said what in which order, by the identity of the first turn's last block. */
  private static Map<Long, List<String>> contents(List<List<Arrival>> sessions) {
    Map<Long, List<String>> contents = new HashMap<>();
    for (List<Arrival> session : sessions) {
      long[] blocks = session.getFirst().request().blocks();
      contents.put(
          blocks[blocks.length - 1],
          session.stream().map(turn -> WorkloadsTest.fingerprint(turn.request())).toList());
    }
    return contents;
  }

  /** Conversations in the order of their beginning, each with its turns; some not yet over. */
  private static List<List<Arrival>> sessions(String name, long seed, int count, int slowness) {
    Traffic traffic = Workloads.named(name, Options.DEFAULT).start(seed);
    Traffics.Run run =
        Traffics.play(
            traffic,
            count,
            // with slowness every request takes another time, so that they end out of order
            request -> SERVICE_NANOS * (slowness == 1 ? 1 : 1 + request.promptTokens() % slowness));
    Map<Long, List<Arrival>> sessions = new LinkedHashMap<>();
    int system = name.equals("chat") ? 1_000 / BLOCK : 3_000 / BLOCK;
    for (Arrival arrival : run.arrivals()) {
      long[] blocks = arrival.request().blocks();
      // the first block after the system prompt is the conversation's own
      sessions.computeIfAbsent(blocks[system], k -> new ArrayList<>()).add(arrival);
    }
    return List.copyOf(sessions.values());
  }

  private static Map<Long, List<RequestShape>> byBlock(List<RequestShape> requests, int block) {
    Map<Long, List<RequestShape>> groups = new HashMap<>();
    for (RequestShape request : requests) {
      groups.computeIfAbsent(request.blocks()[block], k -> new ArrayList<>()).add(request);
    }
    return groups;
  }

  private static double[] doubles(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).toArray();
  }
}
