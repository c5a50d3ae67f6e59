package io.fairlead.stub.server;

import io.fairlead.stub.engine.Engine;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What all connections of one server share. Touched on the server's event loop only, {@link #stats}
 * excepted.
 */
final class ServerCore implements Faults.Effects {

  /** What a dead vLLM was seen to do: metrics for so long, the process for so long. */
  private static final long SILENT_AFTER_SECONDS = 4;

  private static final long GONE_AFTER_SECONDS = 7;

  final ModelServerConfig config;
  final Faults faults;
  final RequestParser parser;
  final EngineDriver driver;
  final ServedModels models;
  final CompletableFuture<Void> drained = new CompletableFuture<>();
  final CompletableFuture<Void> gone = new CompletableFuture<>();
  private final EventLoop loop;
  private final ChannelGroup connections;
  final @Nullable KvEventPublisher events;
  private MetricsPage metrics;
  private final LoraSeries adapters;
  private long startMillis;
  private Life life = Life.SERVING;
  private @Nullable Listener listener;
  private @Nullable String frozenMetrics;
  private long requests;
  private long completed;
  private long cancelled;
  private long failed;
  private volatile ServerStats stats;

  ServerCore(ModelServerConfig config, EventLoop loop, ChannelGroup connections, long startMillis) {
    this.config = config;
    this.loop = loop;
    this.connections = connections;
    this.startMillis = startMillis;
    models = new ServedModels(config);
    parser = new RequestParser(config, models);
    metrics = MetricsPage.of(config, startMillis / 1000.0);
    adapters = new LoraSeries(config.maxAdapters());
    faults = new Faults(this);
    KvEvents told = config.kvEvents();
    events = told == null ? null : new KvEventPublisher(config.host(), told, topic(config, told));
    driver = new EngineDriver(config, loop, adapters, events, faults::losesEvents, this::publish);
    stats = snapshot();
  }

  private static String topic(ModelServerConfig config, KvEvents told) {
    return told.topic().isEmpty()
        ? "kv@" + config.pod() + "@" + config.models().getFirst()
        : told.topic();
  }

  ServerStats stats() {
    return stats;
  }

  Life life() {
    return life;
  }

  /** The port, once it is open. */
  void listensAt(Listener port) {
    listener = port;
  }

  /** The status of {@code /health}. */
  int health() {
    int demanded = faults.state().count(Fault.HEALTH_STATUS);
    if (demanded > 0) {
      return demanded;
    }
    return switch (seemingLife()) {
      case SERVING -> 200;
      case DRAINING -> config.engine() == EngineKind.VLLM ? 200 : 503;
      case DEAD, SILENT -> 503;
    };
  }

  private Life seemingLife() {
    return life == Life.SERVING && faults.state().is(Fault.DRAIN) ? Life.DRAINING : life;
  }

  /** Why no completion is begun now, or null. */
  @Nullable ApiError refusal() {
    return switch (seemingLife()) {
      case SERVING -> null;
      case DRAINING -> config.engine() == EngineKind.VLLM ? ApiError.stopping() : null;
      case DEAD, SILENT -> ApiError.dead();
    };
  }

  long startSeconds() {
    return startMillis / 1000;
  }

  /** Counts a completion request and gives it its number. */
  long begun() {
    requests++;
    publish();
    return requests;
  }

  void completed() {
    completed++;
    publish();
  }

  void cancelled() {
    cancelled++;
    publish();
  }

  void failed() {
    failed++;
    publish();
  }

  String metricsType() {
    return metrics.contentType();
  }

  String metricsPage() {
    applyFaults();
    return frozenMetrics != null ? frozenMetrics : renderMetrics();
  }

  /** Brings the engine and the metrics page in line with the faults in force. */
  void applyFaults() {
    FaultState state = faults.state();
    driver.slow(state.number(Fault.SLOWED_BY));
    driver.stall(state.is(Fault.STALL) || state.is(Fault.SWALLOW));
    boolean frozen = state.is(Fault.FREEZE_METRICS);
    if (!frozen && (life == Life.SERVING || life == Life.DRAINING)) {
      frozenMetrics = null;
    } else if (frozen && frozenMetrics == null) {
      frozenMetrics = renderMetrics();
    }
  }

  /** Not with the others: who asked for a fault shall have the answer first. */
  private void applyToSockets() {
    Listener port = listener;
    if (port == null) {
      return;
    }
    FaultState state = faults.state();
    Listener.Mode before = port.mode();
    Listener.Mode next =
        state.is(Fault.REFUSE)
            ? Listener.Mode.REFUSE
            : state.is(Fault.SWALLOW) ? Listener.Mode.SWALLOW : Listener.Mode.ACCEPT;
    port.mode(next);
    if (next == Listener.Mode.SWALLOW) {
      connections.forEach(each -> each.config().setAutoRead(false));
    } else if (next == Listener.Mode.REFUSE || before == Listener.Mode.SWALLOW) {
      eachConnection(Connection::drop);
    }
  }

  @Override
  public void changed() {
    loop.execute(
        () -> {
          applyFaults();
          applyToSockets();
        });
  }

  @Override
  public void after(Duration time, Runnable then) {
    var _ = loop.schedule(then, time.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void resetCache() {
    loop.execute(driver::resetCache);
  }

  @Override
  public void restart() {
    loop.execute(
        () -> {
          if (life != Life.SERVING) {
            return;
          }
          eachConnection(Connection::drop);
          driver.restart();
          models.reset();
          startMillis = System.currentTimeMillis();
          metrics = MetricsPage.of(config, startMillis / 1000.0);
          adapters.clear();
          requests = 0;
          completed = 0;
          cancelled = 0;
          failed = 0;
          applyFaults();
          applyToSockets();
          publish();
        });
  }

  @Override
  public void kill() {
    loop.execute(
        () -> {
          if (life == Life.DEAD || life == Life.SILENT) {
            return;
          }
          frozenMetrics = metricsPage();
          life = Life.DEAD;
          eachConnection(Connection::failWithEngine);
          driver.restart();
          afterEngine(SILENT_AFTER_SECONDS, () -> life = Life.SILENT);
          afterEngine(GONE_AFTER_SECONDS, () -> gone.complete(null));
        });
  }

  /** From now on requests in flight are waited for; {@link #drained} tells their end. */
  void drain() {
    if (life == Life.SERVING) {
      life = Life.DRAINING;
    }
    publish();
  }

  private void afterEngine(long engineSeconds, Runnable then) {
    long nanos = (long) (TimeUnit.SECONDS.toNanos(engineSeconds) * config.timeScale());
    var _ = loop.schedule(then, nanos, TimeUnit.NANOSECONDS);
  }

  private void eachConnection(BiConsumer<Connection, ChannelHandlerContext> action) {
    for (Channel channel : connections) {
      ChannelHandlerContext ctx = channel.pipeline().context(Connection.class);
      if (ctx != null) {
        action.accept((Connection) ctx.handler(), ctx);
      }
    }
  }

  private String renderMetrics() {
    return metrics.render(driver.engine(), snapshot(), adapters, driver.times());
  }

  private void publish() {
    stats = snapshot();
    if (life != Life.SERVING && stats.inFlight() == 0) {
      drained.complete(null);
    }
  }

  private ServerStats snapshot() {
    Engine engine = driver.engine();
    return new ServerStats(
        config.name(),
        requests,
        requests - completed - cancelled - failed,
        completed,
        cancelled,
        failed,
        engine.running(),
        engine.waiting(),
        engine.kvUsage(),
        engine.promptTokens(),
        engine.cachedTokens(),
        engine.outputTokens(),
        engine.preemptions(),
        engine.adapterLoads());
  }
}
