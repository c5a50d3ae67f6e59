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
import org.junit.jupiter.api.Test;

/**
 * Servers that tell nothing of themselves, have one seat each, and give their answers in one piece:
 * while one computes for seconds it answers no probe, and is as well as it can be.
 */
class WholeAnswersTest {

  private static final long TICK = SECOND / 10;
  private static final List<String> NAMES = List.of("a", "b", "c", "d");

  /** Whoever waits for an answer, and what became of it. */
  private final class Client implements RequestListener {

    private final List<String> sentTo = new ArrayList<>();
    private boolean rejected;

    @Override
    public void send(long request, Route route) {
      sentTo.add(route.endpoint());
      line(route.endpoint()).add(new Work(request, this, sentTo.size()));
    }

    @Override
    public void pass(long request) {}

    @Override
    public void reject(long request, Rejection rejection) {
      rejected = true;
    }
  }

  private record Work(long request, Client client, int attempt) {}

  private final List<Client> clients = new ArrayList<>();
  private final Map<String, Deque<Work>> lines = new HashMap<>();
  private final Map<String, Long> seatFreeAt = new HashMap<>();
  private final PoolCore core =
      new PoolCore(
          PoolLimits.DEFAULT,
          new PoolListener() {
            @Override
            public boolean probe(Probe probe) {
              if (line(probe.endpoint().name()).isEmpty()) {
                idleProbes.add(probe.id());
              }
              return true;
            }

            @Override
            public void healthChanged(HealthChange change) {
              changes.add(change.endpoint().name() + " " + change.to());
            }
          });

  private final List<Long> idleProbes = new ArrayList<>();
  private final List<String> changes = new ArrayList<>();
  private String frozen = "";

  /** Nanoseconds that an answer takes. */
  private long answer = 8_300 * (SECOND / 1_000);

  WholeAnswersTest() {
    core.configure(0, new ConfigCompiler(List.of()).compile(Pool.config(SchedulerConfig.DEFAULT)));
    core.endpoints(0, NAMES.stream().map(Pool::endpoint).toList());
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

  private void run(int from, int to, double perSecond) {
    long gap = (long) (SECOND / perSecond);
    for (long now = from * SECOND; now < to * SECOND; now += TICK) {
      for (String name : NAMES) {
        serve(now, name);
      }
      for (long probe : List.copyOf(idleProbes)) {
        core.probed(now, probe);
      }
      idleProbes.clear();
      if (now % gap < TICK) {
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
    if (free != null && now >= free && !name.equals(frozen)) {
      Work done = line.removeFirst();
      seatFreeAt.remove(name);
      if (done.attempt() == done.client().sentTo.size() && !done.client().rejected) {
        core.firstByte(now, done.request());
        core.ended(now, done.request(), Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    if (!line.isEmpty() && !seatFreeAt.containsKey(name)) {
      seatFreeAt.put(name, now + answer);
    }
  }
}
