package io.fairlead.core;

import static io.fairlead.core.VirtualPool.SECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Servers that tell nothing of themselves, have one seat each, and give their answers in one piece:
 * while one computes for seconds it answers no probe, and is as well as it can be.
 */
class WholeAnswersTest {

  private static final long TICK = SECOND / 10;
  private static final List<String> FOUR = List.of("a", "b", "c", "d");

  /** Whoever waits for an answer, and what became of it. */
  private final class Client implements RequestListener {

    private final List<String> sentTo = new ArrayList<>();
    private boolean rejected;

    @Override
    public void send(long request, Route route) {
      sentTo.add(route.endpoint());
      if (route.endpoint().equals(sick)) {
        failing.add(request);
      } else {
        line(route.endpoint()).add(new Work(request, this, sentTo.size()));
      }
    }

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {
      rejected = true;
    }
  }

  private record Work(long request, Client client, int attempt) {

    boolean isWanted() {
      return attempt == client.sentTo.size() && !client.rejected;
    }
  }

  private final List<Client> clients = new ArrayList<>();
  private final Map<String, Deque<Work>> lines = new HashMap<>();
  private final Map<String, Long> seatFreeAt = new HashMap<>();
  private final PoolCore core =
      new PoolCore(
          PoolLimits.DEFAULT,
          new PoolListener() {
            @Override
            public boolean probe(Probe probe) {
              probes.add(probe.endpoint().name());
              if (line(probe.endpoint().name()).isEmpty()
                  && !frozen.equals(probe.endpoint().name())) {
                idleProbes.add(probe.id());
              }
              return probing;
            }

            @Override
            public void healthChanged(HealthChange change) {
              changes.add(change.endpoint().name() + " " + change.to());
            }
          });

  private final List<Long> idleProbes = new ArrayList<>();
  private final List<String> changes = new ArrayList<>();

  /** Whom probes were sent to. */
  private final List<String> probes = new ArrayList<>();

  private List<String> names = FOUR;
  private String frozen = "";

  /** Who fails what is new. */
  private String sick = "";

  private final List<Long> failing = new ArrayList<>();
  private boolean probing = true;

  /** Nanoseconds that an answer takes. */
  private long answer = 8_300 * (SECOND / 1_000);

  /** The same of one in so many. */
  private long longAnswer;

  private int oneIn = Integer.MAX_VALUE;

  WholeAnswersTest() {
    core.configure(0, new ConfigCompiler(List.of()).compile(Pool.config(SchedulerConfig.DEFAULT)));
    servers(FOUR);
  }

  private void servers(List<String> all) {
    names = all;
    core.endpoints(0, all.stream().map(Pool::endpoint).toList());
  }

  private Deque<Work> line(String server) {
    return lines.computeIfAbsent(server, name -> new ArrayDeque<>());
  }

  @Test
  void areNotSilentWhileTheyCompute() {
    run(0, 120, 0.3);
    assertThat(clients).hasSizeGreaterThan(30);
    assertThat(clients).allSatisfy(client -> assertThat(client.rejected).isFalse());
    assertThat(clients).allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(changes).isEmpty();
  }

  @Test
  void areWaitedForByHowLongTheyTookOfLate() {
    run(0, 60, 0.2);
    answer = 16 * SECOND;
    run(60, 180, 0.2);
    assertThat(clients).allSatisfy(client -> assertThat(client.rejected).isFalse());
    assertThat(clients).allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(changes).isEmpty();
  }

  /** It takes longer than where something tells, but not for ever. */
  @Test
  void oneThatHangsIsFoundAllTheSame() {
    run(0, 60, 0.3);
    frozen = "b";
    run(60, 120, 0.3);
    assertThat(changes).contains("b OUT");
    assertThat(changes).noneMatch(change -> !change.startsWith("b"));
  }

  /** Each waits longer for its turn than any answer takes. */
  @Test
  void areNotSilentWhereManyStandInLine() {
    run(0, 60, 0.8);
    run(60, 120, 0.48);
    assertThat(clients).allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(changes).isEmpty();
  }

  /**
   * What a long one took is remembered, however many short ones come between; until it is known,
   * each that is thrown away has the next one waited for twice as long.
   */
  @Test
  void aLongAnswerNowAndThenIsNoSilence() {
    servers(IntStream.range(0, 20).mapToObj(i -> "s" + i).toList());
    answer = SECOND;
    longAnswer = 25 * SECOND;
    oneIn = 150;
    run(0, 80, 9);
    assertThat(clients.stream().filter(client -> client.sentTo.size() > 1)).hasSizeLessThan(4);
    int learned = clients.size();
    changes.clear();
    run(80, 300, 9);
    assertThat(clients.stream().skip(learned))
        .allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(changes).isEmpty();
  }

  @Test
  void theFirstMayTakeAMinute() {
    answer = 50 * SECOND;
    run(0, 200, 0.07);
    assertThat(clients).allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(changes).isEmpty();
  }

  /** A probe stands in line behind answers: few do. */
  @Test
  void areAskedTheSeldomerTheLongerTheyCompute() {
    answer = 50 * SECOND;
    run(0, 50, 0.03);
    assertThat(clients).hasSize(2);
    assertThat(probes).as("in 50 s and in 16").hasSizeLessThanOrEqualTo(6 + 4);
  }

  /** It is silent for no longer than usual answers take when others get what comes. */
  @ParameterizedTest
  @CsvSource({"8300,0.3,1", "1000,2,4", "100,20,16"})
  void oneThatHangsGetsHardlyAnything(long millis, double perSecond, int most) {
    answer = millis * (SECOND / 1_000);
    run(0, 60, perSecond);
    int before = sentTo("b");
    frozen = "b";
    run(60, 180, perSecond);
    assertThat(sentTo("b") - before).isBetween(1, most);
    assertThat(changes).contains("b OUT");
    assertThat(changes).noneMatch(change -> !change.startsWith("b"));
    assertThat(clients).noneMatch(client -> client.rejected);
    frozen = "";
    before = sentTo("b");
    run(180, 240, perSecond);
    assertThat(changes.getLast()).isEqualTo("b IN_USE");
    assertThat(sentTo("b") - before).as("of its part").isGreaterThan((int) (60 * perSecond / 8));
  }

  @Test
  void oneThatHangsIsFoundWhereNobodyProbes() {
    probing = false;
    run(0, 60, 0.3);
    frozen = "b";
    run(60, 120, 0.3);
    assertThat(changes).contains("b OUT");
    assertThat(changes).noneMatch(change -> !change.startsWith("b"));
  }

  /** What it has it computes, though it fails what is new. */
  @Test
  void whatOneHasThatIsOutForOthersIsWaitedFor() {
    answer = 30 * SECOND;
    run(0, 60, 0.1);
    sick =
        names.stream()
            .filter(name -> line(name).stream().anyMatch(Work::isWanted))
            .findFirst()
            .orElseThrow();
    List<Client> there = line(sick).stream().filter(Work::isWanted).map(Work::client).toList();
    run(60, 100, 1);
    assertThat(changes).startsWith(sick + " OUT");
    assertThat(there).allSatisfy(client -> assertThat(client.sentTo).hasSize(1));
    assertThat(there).noneMatch(client -> client.rejected);
  }

  private int sentTo(String server) {
    return (int) clients.stream().filter(client -> client.sentTo.contains(server)).count();
  }

  private void run(int from, int to, double perSecond) {
    long gap = (long) (SECOND / perSecond);
    for (long now = from * SECOND; now < to * SECOND; now += TICK) {
      for (String name : names) {
        serve(now, name);
      }
      for (long probe : List.copyOf(idleProbes)) {
        core.probed(now, probe);
      }
      idleProbes.clear();
      for (long request : List.copyOf(failing)) {
        core.attemptFailed(now, request, Failure.ERROR);
      }
      failing.clear();
      for (long due = now / gap * gap; due >= now - TICK + 1 && due >= 0; due -= gap) {
        Client client = new Client();
        clients.add(client);
        core.arrive(
            now, RequestFactsBuilder.of("m", clients.size()).streamed(false).build(), client);
      }
      core.tick(now);
    }
  }

  private void serve(long now, String name) {
    Deque<Work> line = line(name);
    Long free = seatFreeAt.get(name);
    if (name.equals(frozen)) {
      return;
    }
    if (free != null && now >= free) {
      Work done = line.removeFirst();
      seatFreeAt.remove(name);
      if (done.isWanted()) {
        core.firstByte(now, done.request());
        core.ended(now, done.request(), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    if (!seatFreeAt.containsKey(name)) {
      line.removeIf(work -> !work.isWanted()); // whoever is gone has closed its connection
      if (!line.isEmpty()) {
        boolean isLong = clients.indexOf(line.getFirst().client()) % oneIn == oneIn - 1;
        seatFreeAt.put(name, now + (isLong ? longAnswer : answer));
      }
    }
  }
}
