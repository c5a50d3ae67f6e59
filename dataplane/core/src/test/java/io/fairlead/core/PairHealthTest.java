package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Health where one server computes a request's prompt and another its answer. */
class PairHealthTest implements RequestListener, PoolListener {

  private static final PluginConfig RANDOM =
      new PluginConfig("random-picker", "random-picker", Map.of());

  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  private final PoolCore core = new PoolCore(PoolLimits.DEFAULT, this);
  private final Deque<Route> routes = new ArrayDeque<>();
  private final List<Rejection> rejections = new ArrayList<>();
  private final List<Probe> probes = new ArrayList<>();
  private long now = SECOND;
  private int seed;

  private void start() {
    List<PluginConfig> plugins =
        List.of(
            new PluginConfig(
                "h", "disagg-profile-handler", Map.of("deciders", Map.of("prefill", "d"))),
            new PluginConfig("d", "prefix-based-pd-decider", Map.of("nonCachedTokens", 64L)),
            RANDOM);
    SchedulerConfig scheduler =
        new SchedulerConfig(plugins, List.of(profile("decode"), profile("prefill")), null);
    core.configure(now, new ConfigCompiler(List.of()).compile(Pool.config(scheduler)));
    core.endpoints(
        now,
        List.of(
            endpoint("p1", 1, "prefill"),
            endpoint("p2", 2, "prefill"),
            endpoint("d1", 3, "decode"),
            endpoint("d2", 4, "decode"),
            endpoint("d3", 5, "decode")));
  }

  private static ProfileConfig profile(String name) {
    return new ProfileConfig(name, List.of(new PluginReference("random-picker", 1)));
  }

  private static EndpointSpec endpoint(String name, int host, String role) {
    return new EndpointSpec(name, "1", "10.0.0." + host, 8000, Map.of("llm-d.ai/role", role));
  }

  private long arrive(boolean streamed) {
    long[] blocks = new long[20];
    for (int i = 0; i < blocks.length; i++) {
      blocks[i] = ++seed * 1_000L + i;
    }
    RequestFacts facts = RequestFactsBuilder.of("", seed, blocks).streamed(streamed).build();
    return core.arrive(now, facts, this);
  }

  private boolean prefilledBy(int host) {
    return routes
        .getLast()
        .requestHeaders()
        .contains(new Route.Header("x-prefiller-host-port", "10.0.0." + host + ":8000"));
  }

  private HealthState state(String endpoint) {
    return core.snapshot().stream()
        .filter(snapshot -> snapshot.name().equals(endpoint))
        .findFirst()
        .orElseThrow()
        .health()
        .state();
  }

  /** Ticks go on; every server but p1 answers its probes. */
  private void elapse(long nanos) {
    for (long end = now + nanos; now < end; now += 100 * MILLI) {
      core.tick(now);
      for (Probe probe : List.copyOf(probes)) {
        if (!probe.endpoint().name().equals("p1")) {
          core.probed(now, probe.id());
        }
      }
      probes.clear();
    }
  }

  @Test
  void oneThatComputesPromptsAndFreezesIsOut() {
    start();
    List<Long> waiting = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      long request = arrive(true);
      if (prefilledBy(1)) {
        waiting.add(request);
      } else {
        core.firstByte(now, request);
        core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
      }
    }
    assertThat(waiting).isNotEmpty();
    elapse(4 * SECOND);
    assertThat(state("p1")).isEqualTo(HealthState.OUT);
    assertThat(List.of(state("p2"), state("d1"), state("d2"), state("d3")))
        .containsOnly(HealthState.IN_USE);
    for (int i = 0; i < 50; i++) {
      arrive(true);
      assertThat(prefilledBy(1)).isFalse();
    }
    assertThat(rejections).isEmpty();
  }

  @Test
  void requestsThatWaitForAFrozenOneGoElsewhere() {
    start();
    long request = arrive(true);
    for (int i = 0; i < 40 && !prefilledBy(1); i++) {
      core.firstByte(now, request);
      core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
      request = arrive(true);
    }
    assertThat(prefilledBy(1)).isTrue();
    int sent = routes.size();
    elapse(14 * SECOND);
    assertThat(routes).hasSize(sent + 1);
    assertThat(prefilledBy(1)).isFalse();
    assertThat(rejections).isEmpty();
  }

  @Test
  void onlyTheOneWhosePromptsFailIsOut() {
    start();
    for (int i = 0; i < 60; i++) {
      long request = arrive(true);
      for (int again = 0; again < 3 && prefilledBy(1); again++) {
        core.attemptFailed(now, request, Failure.ERROR);
      }
      core.firstByte(now, request);
      core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
      now += 100 * MILLI;
      core.tick(now);
    }
    assertThat(state("p1")).isEqualTo(HealthState.OUT);
    assertThat(List.of(state("p2"), state("d1"), state("d2"), state("d3")))
        .containsOnly(HealthState.IN_USE);
  }

  /** One client may send nothing else: a fifth of the requests are failed by whoever gets them. */
  @Test
  void requestsThatAnyServerFailsTakeNoneAway() {
    start();
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 1_000; i++) {
      boolean failed = random.nextInt(5) == 0;
      int sent = routes.size();
      long request = arrive(true);
      for (; failed && routes.size() > sent; sent++) {
        core.attemptFailed(now, request, Failure.ERROR);
      }
      if (!failed) {
        core.firstByte(now, request);
      }
      core.ended(now, request, failed ? Outcome.FAILED : Outcome.COMPLETED, Usage.UNKNOWN);
      now += 20 * MILLI;
      core.tick(now);
      probes.forEach(probe -> core.probed(now, probe.id()));
      probes.clear();
      assertThat(core.snapshot())
          .as("request %d", i)
          .allMatch(endpoint -> endpoint.health().state() == HealthState.IN_USE);
    }
  }

  /** The only candidate of a drawn request can't be both servers that the request needs. */
  @Test
  void oneOnTrialCostsNoRequestAndComesBack() {
    start();
    for (boolean streamed : new boolean[] {true, false}) {
      core.unreachable(now, endpoint("p2", 2, "prefill"), now, Failure.REFUSED);
      assertThat(state("p2")).isEqualTo(HealthState.OUT);
      elapse(5 * SECOND);
      assertThat(state("p2")).isEqualTo(HealthState.ON_TRIAL);
      for (int i = 0; i < 200; i++) {
        long request = arrive(streamed);
        core.firstByte(now, request);
        core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
        now += 20 * MILLI;
        core.tick(now);
      }
      assertThat(rejections).isEmpty();
      assertThat(state("p2")).isEqualTo(HealthState.IN_USE);
    }
  }

  /** Filters of a config may leave none of those that are drawn. */
  @Test
  void whoeverIsOnTrialIsNoReasonToReject() {
    PluginConfig filter =
        new PluginConfig(
            "f", "by-label", Map.of("label", "llm-d.ai/role", "validValues", List.of("decode")));
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(filter, RANDOM),
            List.of(
                new ProfileConfig(
                    "default",
                    List.of(new PluginReference("f", 1), new PluginReference("random-picker", 1)))),
            null);
    core.configure(now, new ConfigCompiler(List.of()).compile(Pool.config(scheduler)));
    core.endpoints(now, List.of(endpoint("p2", 2, "prefill"), endpoint("d1", 3, "decode")));
    core.unreachable(now, endpoint("p2", 2, "prefill"), now, Failure.REFUSED);
    elapse(2 * SECOND);
    assertThat(state("p2")).isEqualTo(HealthState.ON_TRIAL);
    for (int i = 0; i < 100; i++) {
      long request = arrive(true);
      core.ended(now, request, Outcome.COMPLETED, Usage.UNKNOWN);
    }
    assertThat(rejections).isEmpty();

    core.unreachable(now, endpoint("d1", 3, "decode"), now, Failure.REFUSED);
    arrive(true);
    assertThat(rejections).as("the only one that suits is out, and tried").isEmpty();
    assertThat(routes.getLast().endpoint()).isEqualTo("d1");
  }

  @Override
  public void send(long request, Route route) {
    routes.add(route);
  }

  @Override
  public void pass(long request) {}

  @Override
  public void reject(long request, Rejection rejection) {
    rejections.add(rejection);
  }

  @Override
  public boolean probe(Probe probe) {
    probes.add(probe);
    return true;
  }

  @Override
  public void healthChanged(HealthChange change) {}
}
