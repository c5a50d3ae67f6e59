package io.fairlead.epp.external;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.director.Director;
import io.fairlead.epp.director.Exchange;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.external.ExternalCounts.Result;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.scheduler.v1.Decision;
import io.fairlead.scheduler.v1.Request;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * Whatever comes in whatever order: a request that a scheduler is offered is counted once, when it
 * is known what became of it, however often it was asked about.
 */
class CountedOnceTest {

  private static final SchedulerMessage HELLO =
      SchedulerMessage.newBuilder().setHello(SchedulerHello.newBuilder().setVersion(1)).build();

  private final List<Logger> loggers =
      Stream.of(ExternalScheduling.class, Telemetry.class)
          .map(type -> (Logger) LoggerFactory.getLogger(type.getPackageName()))
          .toList();

  /** Thousands of schedulers go here, and requests are refused. */
  @BeforeEach
  void quiet() {
    loggers.forEach(logger -> logger.setLevel(Level.OFF));
  }

  @AfterEach
  void loud() {
    loggers.forEach(logger -> logger.setLevel(null));
  }

  @Test
  void eachRequestIsCountedByWhatBecameOfIt() {
    Map<Result, Long> seen = new EnumMap<>(Result.class);
    long askedAgain = 0;
    for (long seed = 0; seed < 500; seed++) {
      Run run = new Run(seed);
      run.all();
      for (Result result : Result.values()) {
        seen.merge(result, run.counts.of(result), Long::sum);
      }
      askedAgain += run.askedAgain();
    }
    for (Result result : Result.values()) {
      if (result != Result.OVERFLOW) { // thousands at a time
        assertThat(seen.get(result)).as("%s, in all runs", result).isGreaterThan(20);
      }
    }
    assertThat(askedAgain).as("questions beyond one for each request").isGreaterThan(200);
  }

  /** Events of one seed, in virtual time: servers with room for one request each. */
  private static final class Run {
    final ExternalCounts counts = new ExternalCounts();
    private final long seed;
    private final Random random;
    private final EmbeddedChannel loop = new EmbeddedChannel();
    private final PoolCore core = new PoolCore();
    private final List<HeldLine> lines = new ArrayList<>();
    private final List<Client> clients = new ArrayList<>();
    private final PoolLoop pool;
    private long now = 1;
    private boolean offers;

    Run(long seed) {
      this.seed = seed;
      random = new Random(seed);
      loop.freezeTime();
      pool = new PoolLoop(core, loop.eventLoop(), () -> now, new Telemetry(() -> 0));
      pool.start();
      core.configure(now, new ConfigCompiler(List.of()).compile(config()));
      endpoints(2);
      another();
    }

    private static PoolConfig config() {
      return new PoolConfig(
          "n",
          "p",
          Map.of(),
          List.of(1),
          "http",
          List.of(),
          new SchedulerConfig(
              List.of(
                  new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L)),
                  new PluginConfig("best", "queue-scorer", Map.of())),
              List.of(),
              "room",
              Map.of(),
              new FlowControlConfig(
                  null, 4L, Duration.ofSeconds(1), null, null, null, null, null, null, List.of()),
              null,
              List.of()));
    }

    private void endpoints(int count) {
      List<EndpointSpec> all = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        all.add(new EndpointSpec("e" + i, "uid", "10.0.0.1", 1 + i, Map.of()));
      }
      var _ = pool.endpoints(all);
    }

    /** Another scheduler is asked, and what is counted stays. */
    private void another() {
      HeldLine line = new HeldLine();
      lines.add(line);
      ExternalScheduler settings =
          new ExternalScheduler(
              "here:" + lines.size(),
              Duration.ofMillis(20),
              Duration.ofMillis(1),
              4,
              Duration.ofMillis(100),
              true,
              true,
              List.of(),
              false,
              "");
      pool.asks(
          new ExternalScheduling(
              settings,
              "n/p",
              null,
              new CoreView(core),
              SchedulerLoop.of(loop.eventLoop()),
              () -> now,
              counts,
              line));
      offers = true;
      line.to().opened();
      line.to().came(HELLO);
    }

    void all() {
      int silence = random.nextInt(3); // of the scheduler: some answer most, some hardly any
      for (int step = 0; step < 150; step++) {
        switch (random.nextInt(10 + 3 * silence)) {
          case 0, 1, 2 -> arrive();
          case 3, 4 -> answer();
          case 5 -> client().goesOn(random.nextInt(4) == 0);
          case 6 -> client().goes();
          case 7 -> seldom();
          default -> pass(1 + random.nextInt(60));
        }
        check();
      }
      for (Client client : clients) {
        client.goes();
        check(); // its room may have been another's
      }
      assertThat(core.active()).isZero();
    }

    private void seldom() {
      switch (random.nextInt(8)) {
        case 0 -> another();
        case 1 -> {
          pool.asks(null);
          offers = false;
        }
        case 2, 3 -> lines.getLast().to().broken("gone");
        case 4 -> endpoints(random.nextInt(3));
        default -> {
          lines.getLast().to().opened();
          lines.getLast().to().came(HELLO);
        }
      }
    }

    private void arrive() {
      Client client = new Client(offers);
      clients.add(client);
      client.director = new Director(pool, loop.eventLoop(), client);
      client.director.submit(
          new RequestFacts("m", random.nextLong(), new long[0], 1, clients.size(), 1));
    }

    private Client client() {
      if (clients.isEmpty()) {
        arrive();
        check();
      }
      return clients.get(random.nextInt(clients.size()));
    }

    private static List<Request> asked(HeldLine line) {
      return line.sent.stream().flatMap(message -> message.getRequestsList().stream()).toList();
    }

    /** In some way, to one of the newest questions: it may be too late, or have been answered. */
    private void answer() {
      List<Request> asked = asked(lines.getLast());
      if (asked.isEmpty()) {
        return;
      }
      Request one = asked.get(asked.size() - 1 - random.nextInt(Math.min(3, asked.size())));
      Decision.Builder decision = Decision.newBuilder().setRequest(one.getId());
      switch (random.nextInt(8)) {
        case 0 -> {} // the plugins are to decide
        case 1 -> decision.addEndpoints(1_000);
        default -> decision.addEndpoints(1 + random.nextInt(2));
      }
      lines.getLast().to().came(SchedulerMessage.newBuilder().addDecisions(decision).build());
    }

    private void pass(int millis) {
      for (int i = 0; i < millis; i++) {
        now += 1_000_000;
        loop.advanceTimeBy(1, TimeUnit.MILLISECONDS);
        loop.runScheduledPendingTasks();
      }
    }

    private void check() {
      loop.runPendingTasks();
      long sent = clients.stream().filter(client -> client.offered && client.sent).count();
      long nowhere =
          clients.stream().filter(client -> client.offered && !client.sent && client.over).count();
      long counted = 0;
      for (Result result : Result.values()) {
        counted += result == Result.UNEXPECTED ? 0 : counts.of(result);
      }
      assertThat(counts.of(Result.WITHDRAWN)).as("sent nowhere, seed %d", seed).isEqualTo(nowhere);
      assertThat(counted).as("all that was decided, seed %d", seed).isEqualTo(sent + nowhere);
    }

    long askedAgain() {
      List<Integer> asked =
          lines.stream()
              .flatMap(line -> asked(line).stream())
              .map(Request::getMaxOutputTokens) // another for each request
              .toList();
      return asked.size() - asked.stream().distinct().count();
    }
  }

  private static final class Client implements Exchange {
    private final boolean offered;
    private @Nullable Director director;
    private boolean sent;
    private boolean over;

    Client(boolean offered) {
      this.offered = offered;
    }

    @Override
    public void send(Route route) {
      sent = true;
    }

    @Override
    public void pass() {}

    @Override
    public void reject(Rejection rejection) {
      over = true;
    }

    /** Of one that was sent: it is answered, or its server fails it. */
    void goesOn(boolean fails) {
      if (!sent || over || director == null) {
        return;
      }
      if (fails) {
        director.attemptFailed(Failure.UNREACHABLE);
      } else {
        over = true;
        director.firstByte();
        director.end(Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }

    void goes() {
      if (!over && director != null) {
        over = true;
        director.end(Outcome.DISCONNECTED, Usage.UNKNOWN);
      }
    }
  }
}
