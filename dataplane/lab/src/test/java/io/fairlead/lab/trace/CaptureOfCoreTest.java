package io.fairlead.lab.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import io.fairlead.core.PromptSize;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestFacts.Delivery;
import io.fairlead.core.RequestHeaders;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.Timeouts;
import io.fairlead.core.Usage;
import io.fairlead.core.external.Advice;
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.capture.CapturedRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A core in virtual time that is told all that it can be, with servers that fail in every way:
 * captured and replayed, it does the same.
 */
class CaptureOfCoreTest implements PoolListener {

  private static final long MILLI = 1_000_000;
  private static final int ENDPOINTS = 5;
  private static final int EVENTS = 20_000;
  private static final List<Outcome> OUTCOMES = List.of(Outcome.values());
  private static final List<Failure> FAILURES = List.of(Failure.values());

  @TempDir private Path folder;

  private final List<Sent> live = new ArrayList<>();
  private final Deque<Long> probes = new ArrayDeque<>();
  private SplittableRandom random = new SplittableRandom(0);
  private long now = 1_000_000_000_000L;
  private int healthChanges;
  private int waited;

  /** A request and where it is. */
  private final class Sent implements RequestListener {

    private final CapturedRequest captured;
    private long ticket;
    private @Nullable Route route;

    Sent(CapturedRequest captured) {
      this.captured = captured;
    }

    @Override
    public void waits(long request, Criticality criticality) {
      ticket = request;
      waited++;
    }

    @Override
    public void send(long request, Route to) {
      ticket = request;
      route = to;
      captured.sent(to);
    }

    @Override
    public void pass(long request) {
      captured.passed();
    }

    @Override
    public void reject(long request, Rejection rejection) {
      captured.rejected(rejection);
      live.remove(this);
      route = null;
    }
  }

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void whateverTheCoreIsToldTheReplayDoesTheSame(long seed) {
    random = new SplittableRandom(seed);
    try (Capture capture =
        Capture.open(
            CaptureConfig.to(folder), PoolLimits.DEFAULT, () -> now, InstantSource.system())) {
      PoolCore core = new PoolCore(PoolLimits.DEFAULT, capture.watched(this));
      CompiledConfig config = new ConfigCompiler(List.of()).compile(config());
      capture.configured(now, config);
      core.configure(now, config);
      List<EndpointSpec> endpoints = endpoints(ENDPOINTS);
      capture.endpoints(now, endpoints);
      core.endpoints(now, endpoints);
      for (int i = 0; i < EVENTS; i++) {
        now += random.nextLong(30 * MILLI);
        if (i % 1_000 == 500) {
          int replicas = 1 + i / 1_000 % 3;
          core.replicas(replicas);
          capture.replicas(now, replicas);
        }
        if (i % 5_000 == 4_999) {
          capture.refusedWaiting(now);
          core.refuseWaiting(now);
        }
        event(core, capture);
      }
      capture.seal();
      assertThat(capture.counters().overflowed()).isZero();
    }

    PicksReport report = PicksReplay.run(folder, List.of());
    assertThat(report.incomplete()).isEmpty();
    assertThat(report.differences()).isEmpty();
    assertThat(report.same()).isEqualTo(report.decisions()).isGreaterThan(EVENTS / 10);
    assertThat(report.exact()).isEqualTo(report.decisions());
    assertThat(healthChanges).isGreaterThan(20);
    assertThat(waited).isGreaterThan(20);
    List<CaptureEvent> events =
        List.copyOf(CaptureReader.read(CaptureFiles.of(folder)).events().values());
    for (Class<?> kind : CaptureEvent.class.getPermittedSubclasses()) {
      if (kind != CaptureEvent.Request.class && kind != CaptureEvent.NotTold.class) {
        assertThat(events).as("events of every kind").hasAtLeastOneElementOfType(kind);
      }
    }
  }

  private void event(PoolCore core, Capture capture) {
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3 -> arrive(core, capture);
      case 4, 5, 6 -> {
        capture.tick(now);
        core.tick(now);
      }
      case 7, 8 -> scrape(core, capture);
      case 9 -> {
        if (!probes.isEmpty()) {
          long probe = probes.remove();
          Failure failure = random.nextBoolean() ? null : failure();
          capture.probed(now, probe, failure);
          if (failure == null) {
            core.probed(now, probe);
          } else {
            core.probeFailed(now, probe, failure);
          }
        }
      }
      case 10 -> advise(core);
      case 11 -> answerElsewhere(core);
      default -> answer(core);
    }
  }

  /** A proxy has gone on to another by itself, which need not be one of ours. */
  private void answerElsewhere(PoolCore core) {
    if (!live.isEmpty()) {
      Sent sent = live.get(random.nextInt(live.size()));
      EndpointSpec by = endpoints(ENDPOINTS + 1).get(random.nextInt(ENDPOINTS + 1));
      String destination = Route.destination(by.address(), by.port());
      sent.captured.answeredBy(now, destination);
      core.answeredBy(now, sent.ticket, destination);
    }
  }

  /** A scheduler outside of the process has another word on one that waits. */
  private void advise(PoolCore core) {
    List<Sent> waiting = live.stream().filter(sent -> sent.route == null).toList();
    if (!waiting.isEmpty()) {
      Sent sent = waiting.get(random.nextInt(waiting.size()));
      Advice advice = advice();
      sent.captured.advised(now, advice);
      core.advised(sent.ticket, advice);
    }
  }

  private @Nullable Advice advice() {
    if (random.nextInt(4) > 0) {
      return null;
    }
    long[] named = new long[1 + random.nextInt(3)];
    double[] scores = new double[named.length];
    for (int i = 0; i < named.length; i++) {
      named[i] = Advice.identity("e" + (i + random.nextInt(2)) % ENDPOINTS);
      scores[i] = random.nextInt(3);
    }
    return Arrays.stream(named).distinct().count() < named.length
        ? null
        : new Advice(named, scores);
  }

  private void arrive(PoolCore core, Capture capture) {
    long[] blocks = new long[random.nextInt(40)];
    long chain = random.nextInt(4);
    for (int i = 0; i < blocks.length; i++) {
      chain = chain * 31 + 7 + (random.nextInt(10) == 0 ? random.nextInt(3) : 0);
      blocks[i] = chain;
    }
    RequestFacts facts =
        new RequestFacts(
            "",
            List.of("a", "b", "unheard of", "").get(random.nextInt(4)),
            random.nextLong(),
            blocks,
            new PromptSize(blocks.length * 64L, random.nextInt(4) == 0 ? 768 : 0),
            random.nextInt(100) - 1,
            random.nextInt(4) == 0 ? 8 : 1,
            blocks.length * 64L,
            new Delivery(random.nextBoolean(), random.nextInt(4) > 0),
            random.nextInt(4) > 0
                ? Timeouts.UNSET
                : new Timeouts(
                    Duration.ofMillis(1 + random.nextInt(2_000)),
                    random.nextBoolean() ? null : Duration.ofMillis(1 + random.nextInt(900)),
                    Duration.ofMillis(1 + random.nextInt(5_000))),
            RequestHeaders.NONE,
            null,
            null);
    Advice advice = advice();
    CapturedRequest captured = capture.arrive(now, facts, advice);
    assertThat(captured).isNotNull();
    Sent sent = new Sent(captured);
    live.add(sent);
    core.arrive(now, captured.facts(), advice, sent);
  }

  /** Its client takes no more for a while; or nobody tells of it any more. */
  private void holdUpOrLeave(PoolCore core, Sent sent, boolean holdUp) {
    if (holdUp) {
      boolean held = random.nextBoolean();
      // None of it need have come: its client is told to wait.
      sent.captured.answering(now);
      core.answering(now, sent.ticket);
      sent.captured.heldUp(now, held);
      core.heldUp(now, sent.ticket, held);
    } else if (sent.route != null) {
      live.remove(sent);
      sent.captured.left(now);
      core.left(now, sent.ticket, request -> sent.captured.presumedOver(now));
    }
  }

  /** What a server does: the first answers, the last says nothing, the others fail now and then. */
  private void answer(PoolCore core) {
    if (live.isEmpty()) {
      return;
    }
    Sent sent = live.get(random.nextInt(live.size()));
    int server = sent.route == null ? 0 : sent.route.endpoint().charAt(1) - '0';
    if (server == ENDPOINTS - 1 && now / 20_000_000_000L % 2 == 0) {
      return;
    }
    int step = random.nextInt(12);
    if (step >= 10) {
      holdUpOrLeave(core, sent, step == 10);
    } else if (step < server) {
      Failure failure = failure();
      sent.captured.attemptFailed(now, failure);
      core.attemptFailed(now, sent.ticket, failure);
    } else if (step < 6) {
      sent.captured.firstByte(now);
      core.firstByte(now, sent.ticket);
    } else if (step < 8) {
      sent.captured.progress(now);
      core.progress(now, sent.ticket);
    } else {
      live.remove(sent);
      Outcome outcome = OUTCOMES.get(random.nextInt(OUTCOMES.size()));
      Usage usage =
          random.nextBoolean()
              ? Usage.UNKNOWN
              : new Usage(1 + random.nextInt(2_000), random.nextInt(300), random.nextInt(500), 9);
      sent.captured.ended(now, outcome, usage);
      core.ended(now, sent.ticket, outcome, usage);
    }
  }

  private void scrape(PoolCore core, Capture capture) {
    EndpointSpec endpoint = endpoints(ENDPOINTS).get(random.nextInt(ENDPOINTS));
    long begun = now - random.nextLong(50 * MILLI);
    if (random.nextInt(4) == 0) {
      Failure failure = random.nextBoolean() ? Failure.REFUSED : Failure.UNREACHABLE;
      capture.unreachable(now, endpoint, begun, failure);
      core.unreachable(now, endpoint, begun, failure);
      return;
    }
    EndpointMetrics metrics =
        new EndpointMetrics(
            random.nextInt(8),
            random.nextInt(20),
            random.nextDouble(),
            16,
            2_000,
            "",
            -1,
            List.of(),
            List.of(),
            Map.of(),
            random.nextInt(3) == 0 ? Double.NaN : 1_000 * random.nextInt(2),
            random.nextInt(3) == 0 ? Double.NaN : now / 10 * MILLI,
            random.nextInt(3) == 0 ? Double.NaN : random.nextInt(1_000));
    capture.scraped(now, endpoint, begun, metrics);
    core.scraped(now, endpoint, begun, metrics);
  }

  private Failure failure() {
    return FAILURES.get(random.nextInt(FAILURES.size()));
  }

  @Override
  public boolean probe(Probe probe) {
    boolean asked = random.nextInt(4) > 0;
    if (asked) {
      probes.add(probe.id());
    }
    return asked;
  }

  @Override
  public void healthChanged(HealthChange change) {
    healthChanges++;
  }

  private static List<EndpointSpec> endpoints(int count) {
    List<EndpointSpec> endpoints = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      endpoints.add(new EndpointSpec("e" + i, "1", "10.0.0." + i, 8000, Map.of()));
    }
    return endpoints;
  }

  private static PoolConfig config() {
    return new PoolConfig(
        "default",
        "pool",
        Map.of(),
        List.of(8000),
        "http",
        List.of(
            new ModelConfig("a", Criticality.CRITICAL, List.of(new TargetModel("a1", 1))),
            new ModelConfig(
                "b",
                Criticality.SHEDDABLE,
                List.of(new TargetModel("b1", 1), new TargetModel("b2", 2)),
                new TimeoutsConfig(null, Duration.ofSeconds(2), null))),
        new RequestsConfig(
            Criticality.STANDARD,
            new TimeoutsConfig(null, null, Duration.ofSeconds(20)),
            false,
            50),
        SchedulerConfig.DEFAULT);
  }
}
