package io.fairlead.epp.frontend.extproc;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.Outcome;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.Route;
import io.fairlead.core.Usage;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.director.EndpointObserver;
import io.fairlead.epp.director.PassedAnswer;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.director.Prober;
import io.fairlead.epp.director.RequestObserver;
import io.fairlead.plugin.PluginFactory;
import io.netty.util.concurrent.EventExecutor;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * A pool whose model {@code chat} is served as {@code llama-v2}, with a log of what it was told.
 */
final class TestPool implements RequestObserver {

  /** With receipts, of some hundred requests. */
  private static final PoolLimits LIMITS =
      new PoolLimits(4, 1 << 16, 1 << 20, 256 << 20, Long.MAX_VALUE, 1 << 20);

  /**
   * {@code sent a}, {@code first token a}, {@code ended a COMPLETED}, {@code rejected SATURATED}.
   */
  final List<String> events = new CopyOnWriteArrayList<>();

  final List<Usage> usages = new CopyOnWriteArrayList<>();

  /** What clients got of answers that were seen to pass: {@code 12 bytes, 0 events}. */
  final List<String> answers = new CopyOnWriteArrayList<>();

  final PoolLoop loop;

  TestPool(EventExecutor executor) {
    loop = new PoolLoop(new PoolCore(LIMITS), executor, System::nanoTime, this);
  }

  /** A pool that probes its endpoints, and whose log tells of their health: {@code a OUT}. */
  TestPool(EventExecutor executor, Prober prober) {
    EndpointObserver endpoints =
        new EndpointObserver() {
          @Override
          public void healthChanged(HealthChange change) {
            events.add(change.endpoint().name() + " " + change.to());
          }

          @Override
          public void probed(@Nullable Failure failure) {}
        };
    loop = new PoolLoop(LIMITS, executor, System::nanoTime, this, endpoints, prober, true, null);
  }

  /** Else requests wait for a while where the last endpoint left. */
  static final SchedulerConfig NOBODY_WAITS =
      new SchedulerConfig(
          List.of(), List.of(), null, Map.of("flowControl", false), null, null, List.of());

  TestPool configured() {
    return configured(SchedulerConfig.DEFAULT);
  }

  TestPool configured(SchedulerConfig scheduler, PluginFactory... plugins) {
    return configured(RequestsConfig.DEFAULT, scheduler, plugins);
  }

  TestPool configured(RequestsConfig requests) {
    return configured(requests, SchedulerConfig.DEFAULT);
  }

  private TestPool configured(
      RequestsConfig requests, SchedulerConfig scheduler, PluginFactory... plugins) {
    ModelConfig chat =
        new ModelConfig("chat", Criticality.CRITICAL, List.of(new TargetModel("llama-v2", 1)));
    PoolConfig config =
        new PoolConfig(
            "default",
            "pool",
            Map.of("app", "vllm"),
            List.of(8000),
            "http",
            List.of(chat),
            requests,
            scheduler);
    loop.configure(new ConfigCompiler(List.of(plugins)).compile(config)).syncUninterruptibly();
    return this;
  }

  TestPool endpoints(EndpointSpec... endpoints) {
    loop.endpoints(List.of(endpoints)).syncUninterruptibly();
    return this;
  }

  static EndpointSpec endpoint(String name, String address, int port) {
    return new EndpointSpec(name, "1", address, port, Map.of());
  }

  int active() {
    return loop.active().syncUninterruptibly().getNow();
  }

  int inFlight() {
    return loop.snapshot().syncUninterruptibly().getNow().stream()
        .mapToInt(EndpointSnapshot::inFlight)
        .sum();
  }

  @Override
  public void decided(long nanos) {}

  @Override
  public void sent(String model, Route route) {
    events.add("sent " + route.endpoint());
  }

  @Override
  public void sentAgain(String model, Route route, @Nullable Failure failure) {
    events.add("sent " + route.endpoint() + " again: " + failure);
  }

  @Override
  public void firstToken(String model, Route route, long nanos) {
    events.add("first token " + route.endpoint());
  }

  @Override
  public void ended(String model, Route route, Outcome outcome, Usage usage, long nanos) {
    usages.add(usage);
    events.add("ended " + route.endpoint() + " " + outcome);
  }

  @Override
  public void answered(String model, PassedAnswer answer) {
    answers.add(answer.bytes() + " bytes, " + answer.events() + " events");
  }

  @Override
  public void left(String model, Route route) {
    events.add("left " + route.endpoint());
  }

  /** Requests whose ends nobody tells. */
  int left() {
    return (int) events.stream().filter(event -> event.startsWith("left ")).count();
  }

  @Override
  public void refused(String frontend, String code) {
    events.add("refused by " + frontend + ": " + code);
  }

  @Override
  public void timeoutHeaderIgnored(String reason) {
    events.add("timeout header ignored: " + reason);
  }

  @Override
  public void flowHeaderIgnored(String reason) {
    events.add("flow header ignored: " + reason);
  }

  @Override
  public void rejected(String model, Rejection rejection) {
    events.add("rejected " + rejection.reason());
  }
}
