package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Three times as many requests as can be served, for ten minutes. */
class OverloadTest implements RequestListener {

  private static final long SECOND = 1_000_000_000;
  private static final long TICK = SECOND / 10;
  private static final int SERVERS = 4;
  private static final int ROOM = 16;
  private static final List<String> MODELS = List.of("high", "middle", "low");

  private record Request(String model, long arrivedAt) {}

  private final PoolCore core = new PoolCore();
  private final EventQueue events = new EventQueue();
  private final Map<Long, Request> open = new HashMap<>();
  private final Map<String, Integer> inFlight = new HashMap<>();
  private final Map<String, Integer> served = new HashMap<>();
  private SplittableRandom random = new SplittableRandom(0);
  private @Nullable Request arriving;
  private long now;
  private long longestWait;
  private int ends;

  private void at(long time, Runnable run) {
    events.add(time, run);
  }

  private long exponential(double mean) {
    return (long) (-Math.log(1 - random.nextDouble()) * mean * SECOND);
  }

  private void traffic(double perSecond, long until) {
    long next = now + exponential(1 / perSecond);
    if (next < until) {
      at(
          next,
          () -> {
            Request request = new Request(MODELS.get(random.nextInt(MODELS.size())), now);
            arriving = request;
            core.arrive(now, Pool.request(request.model(), random.nextLong(), 1, 2, 3), this);
            arriving = null;
            traffic(perSecond, until);
          });
    }
  }

  private Request of(long request) {
    Request known = open.remove(request);
    return known == null ? Objects.requireNonNull(arriving) : known;
  }

  @Override
  public void waits(long request, Criticality criticality) {
    open.put(request, Objects.requireNonNull(arriving));
  }

  @Override
  public void send(long ticket, Route route) {
    Request request = of(ticket);
    longestWait = Math.max(longestWait, now - request.arrivedAt());
    int there = inFlight.merge(route.endpoint(), 1, Integer::sum);
    assertThat(there).isLessThanOrEqualTo(ROOM);
    at(
        now + exponential(1),
        () -> {
          inFlight.merge(route.endpoint(), -1, Integer::sum);
          served.merge(request.model(), 1, Integer::sum);
          ends++;
          core.firstByte(now, ticket);
          core.ended(now, ticket, Outcome.COMPLETED, new Usage(48, 10, 0));
        });
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long ticket, Rejection rejection) {
    longestWait = Math.max(longestWait, now - of(ticket).arrivedAt());
    ends++;
  }

  private void tick() {
    core.tick(now);
    at(now + TICK, this::tick);
  }

  private int arrived(int seconds, double factor) {
    traffic(factor * SERVERS * ROOM, seconds * SECOND);
    tick();
    events.run(seconds * SECOND, time -> now = time);
    return ends + open.size() + inFlight.values().stream().mapToInt(Integer::intValue).sum();
  }

  @ParameterizedTest
  @CsvSource({"1,5", "2,5", "3,30", "4,0"})
  void nobodyWaitsLongerThanItMayAndServersAreBusy(long seed, int ttl) {
    random = new SplittableRandom(seed);
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(
                new PluginConfig(
                    "room", "concurrency-detector", Map.of("maxConcurrency", (long) ROOM)),
                new PluginConfig("queue", "queue-scorer", Map.of())),
            List.of(),
            "room",
            Map.of(),
            new FlowControlConfig(
                null,
                null,
                ttl == 0 ? null : Duration.ofSeconds(ttl),
                null,
                null,
                null,
                null,
                null,
                null,
                List.of()),
            null,
            List.of());
    core.configure(
        now,
        new ConfigCompiler(List.of())
            .compile(
                Pool.config(
                    scheduler,
                    Pool.model("high", Criticality.CRITICAL),
                    Pool.model("middle", Criticality.STANDARD),
                    Pool.model("low", Criticality.SHEDDABLE))));
    core.endpoints(now, List.of("a", "b", "c", "d").stream().map(Pool::endpoint).toList());
    int seconds = 600;
    arrived(seconds, 3);
    int all = served.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf(
        "ttl %d s: longest wait %.1f s, served %.3f of the room, %s%n",
        ttl, longestWait / 1e9, (double) all / (seconds * SERVERS * ROOM), served);
    assertThat(longestWait).isLessThanOrEqualTo((ttl == 0 ? 60 : ttl) * SECOND + TICK);
    assertThat(all).isGreaterThan((int) (0.97 * seconds * SERVERS * ROOM));
    assertThat(served).containsKeys("high", "low");
  }
}
