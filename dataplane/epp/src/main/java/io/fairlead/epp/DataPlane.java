package io.fairlead.epp;

import io.fairlead.core.EndpointSnapshot;
import io.fairlead.core.Route;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.epp.capture.Capture;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.console.Access;
import io.fairlead.epp.console.Console;
import io.fairlead.epp.handover.Following;
import io.fairlead.epp.handover.HandOverClient;
import io.fairlead.epp.handover.HandOverResult;
import io.fairlead.epp.handover.HandOverServer;
import io.fairlead.epp.handover.HandOverSettings;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.status.EndpointLatency;
import io.fairlead.epp.telemetry.AdminServer;
import io.fairlead.epp.tracing.Tracing;
import io.fairlead.epp.transport.Transport;
import io.fairlead.epp.warmup.WarmUp;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.FutureListener;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running data plane: one pool with its frontends. Made by {@link #start}, ended by {@link
 * #close}; safe to use from any thread that is not an event loop.
 */
public final class DataPlane implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(DataPlane.class);

  private final DataPlaneConfig config;
  private final Readiness readiness = new Readiness();
  private final PoolRuntime runtime;
  private final Deque<AutoCloseable> parts = new ArrayDeque<>();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final CompletableFuture<Boolean> closed = new CompletableFuture<>();
  private @Nullable Frontend gateway;
  private @Nullable Frontend extProc;
  private OptionalInt healthPort = OptionalInt.empty();
  private OptionalInt adminPort = OptionalInt.empty();
  private OptionalInt handOverPort = OptionalInt.empty();

  private DataPlane(DataPlaneConfig config, LongSupplier clock) {
    this.config = config;
    Transport.boundDirectMemory();
    EventLoopGroup group = Transport.group("fairlead-loop", config.loops());
    parts.push(() -> shutdown(group));
    try {
      runtime = new PoolRuntime(config, group, clock, readiness, capture(clock));
      parts.push(runtime);
      boolean warms = config.warmUp().isPositive();
      if (warms) {
        readiness.cold();
      }
      if (config.handOver() != null) {
        readiness.cold();
      }
      listen(group);
      var _ = readiness.reached().thenRun(() -> LOG.info("ready: {}", addresses()));
      runtime.start();
      if (config.handOver() != null) {
        handOver(config.handOver());
      }
      if (warms) {
        warmUp(group, clock);
      }
    } catch (RuntimeException | Error e) {
      closeParts();
      throw e;
    }
  }

  /**
   * Starts all parts. Returns once every port is taken and listens, but for that of ext_proc: it
   * does when config and endpoints are in force, which follow when their sources can be read.
   *
   * @throws IllegalArgumentException if the capture's folder can't be written, or a file or folder
   *     that the config is to come from is not there
   * @throws IllegalStateException if a port can't be listened on; the message names it, and
   *     whatever had been started is stopped again
   */
  public static DataPlane start(DataPlaneConfig config) {
    Sources.requireFiles(config.source());
    return new DataPlane(config, System::nanoTime);
  }

  /**
   * Reads and compiles everything that {@link #start} would run, and says what that is.
   *
   * @throws IllegalArgumentException if it can't be run; the message has file, field path and
   *     reason of every problem
   */
  public static String describe(DataPlaneConfig config) {
    return Description.of(config);
  }

  /**
   * Ends when a config and the endpoints that there are, perhaps none, are in force; in an error
   * when the data plane is closed before that.
   */
  public CompletableFuture<Void> ready() {
    return readiness.reached();
  }

  /** Why requests can't be served now; empty when they can. */
  public String notReady() {
    return runtime.notReady();
  }

  /** The config in force, the one refused, the endpoints counted. */
  public PickerReport report() {
    return runtime.report();
  }

  /** A row for every endpoint, by name. */
  public CompletableFuture<List<EndpointView>> snapshot() {
    CompletableFuture<List<EndpointView>> rows = new CompletableFuture<>();
    Future<List<EndpointSnapshot>> states = runtime.snapshot();
    runtime
        .latencies()
        .addListener(
            (FutureListener<Map<String, EndpointLatency>>)
                done -> {
                  // The states were asked for on the same loop before, so they are there by now.
                  if (done.isSuccess() && states.isSuccess()) {
                    rows.complete(rows(states.getNow(), done.getNow()));
                  } else {
                    rows.completeExceptionally(new IllegalStateException("closed", done.cause()));
                  }
                });
    return rows;
  }

  /** Where the gateway listens. */
  public OptionalInt gatewayPort() {
    return port(gateway);
  }

  /** Where the ext_proc server listens. */
  public OptionalInt extProcPort() {
    return port(extProc);
  }

  /** Where the gRPC health server listens. */
  public OptionalInt healthPort() {
    return healthPort;
  }

  /** Where metrics, health and status are served over HTTP. */
  public OptionalInt adminPort() {
    return adminPort;
  }

  @Override
  public void close() {
    boolean _ = drain();
  }

  /**
   * Drains and stops: not ready any more, nothing new accepted, requests in flight finished within
   * the bound, then everything else. Blocks; a second call waits for the first.
   *
   * @return whether all that was in flight came to its end
   */
  public boolean drain() {
    if (!closing.compareAndSet(false, true)) {
      return closed.join();
    }
    boolean finished = false;
    LOG.info("draining: up to {} s for requests in flight", config.drain().toSeconds());
    try {
      readiness.drain();
      finished =
          Drain.all(Stream.of(gateway, extProc).filter(Objects::nonNull).toList(), config.drain());
      closeParts();
    } finally {
      closed.complete(finished); // else a second caller would wait for ever
    }
    if (finished) {
      LOG.info("stopped");
    } else {
      LOG.warn("stopped before all requests in flight had ended");
    }
    return finished;
  }

  private @Nullable Capture capture(LongSupplier clock) {
    CaptureConfig wanted = config.capture();
    if (wanted == null) {
      return null;
    }
    Capture capture = Capture.open(wanted, PoolRuntime.limits(), clock, InstantSource.system());
    parts.push(capture);
    LOG.info("capturing {} of the requests in {}", wanted.share(), wanted.folder());
    return capture;
  }

  private @Nullable Tracing tracing() {
    Tracing.Settings wanted = config.tracing();
    if (wanted == null) {
      return null;
    }
    Tracing tracing = Tracing.start(wanted);
    parts.push(tracing);
    return tracing;
  }

  private void listen(EventLoopGroup group) {
    Frontends made = new Frontends(runtime, readiness, group, BodyBudget.ofHeap(), tracing());
    if (config.admin() != null) {
      EventLoopGroup own = Transport.group("fairlead-admin", 1);
      parts.push(() -> shutdown(own));
      AdminPages pages = new AdminPages(this, runtime);
      Access access = Access.of(config.console());
      AdminServer admin =
          AdminServer.start(
              config.admin().host(),
              config.admin().port(),
              own,
              Transport.server(own),
              pages,
              access,
              config.console() == null ? null : Console.start(own.next(), access, pages));
      parts.push(admin);
      adminPort = OptionalInt.of(admin.port());
    }
    if (config.health() != null) {
      Frontend server = made.health(config.health());
      parts.push(() -> server.drain(Duration.ZERO));
      healthPort = OptionalInt.of(server.port());
    }
    if (config.gateway() != null) {
      Frontend server = made.gateway(config.gateway());
      parts.push(() -> server.drain(Duration.ZERO));
      gateway = server;
    }
    if (config.extProc() != null) {
      Frontend server = made.extProc(config.extProc());
      parts.push(() -> server.drain(Duration.ZERO));
      extProc = server;
    }
  }

  /** Tells others what it knows and sends, and asks them first, before it is ready. */
  private void handOver(HandOverSettings settings) {
    PoolHandOver pool =
        new PoolHandOver(runtime.pool(), runtime::report, new SecureRandom().nextLong());
    HandOverServer server = HandOverServer.start(settings, pool);
    parts.push(server);
    handOverPort = OptionalInt.of(server.port());
    Following following = new Following(settings, pool, () -> runtime.peers(settings));
    parts.push(following);
    runtime.follows(following);
    Thread.ofPlatform()
        .daemon()
        .name("fairlead-takeover")
        .start(() -> takeOver(new HandOverClient(settings, pool), settings, following));
  }

  /** Once config and endpoints are in force; never where it is closed before that. */
  private void takeOver(HandOverClient client, HandOverSettings settings, Following following) {
    try {
      readiness.known().join();
    } catch (CompletionException e) {
      return;
    }
    try {
      runtime.handedOver(client.ask(() -> runtime.peers(settings)));
    } catch (RuntimeException e) {
      LOG.warn("nothing was taken over from another picker", e);
    } finally {
      following.start();
      readiness.warm();
    }
  }

  /** Where other pickers may ask what this one knows. */
  public OptionalInt handOverPort() {
    return handOverPort;
  }

  /** What came of asking other pickers what they know, at the start; null before that. */
  public @Nullable HandOverResult handOver() {
    return runtime.handOver();
  }

  /** Beside the reading of config and endpoints, which mostly waits. */
  private void warmUp(EventLoopGroup group, LongSupplier clock) {
    DataPlaneConfig.ExtProc wanted = config.extProc();
    WarmUp warmUp =
        new WarmUp(
            new WarmUp.Plan(
                config.gateway() != null,
                wanted != null,
                wanted != null && wanted.secure(),
                config.warmUp()),
            group,
            clock);
    parts.push(warmUp);
    Thread.ofPlatform()
        .daemon()
        .name("fairlead-warm-up")
        .start(
            () -> {
              try {
                warmUp.run();
              } finally {
                readiness.warm(); // cold is better than never
              }
            });
  }

  private void closeParts() {
    for (AutoCloseable part : parts) {
      try {
        part.close();
      } catch (Exception e) {
        LOG.warn("a part did not stop cleanly", e);
      }
    }
  }

  /**
   * Without a quiet period a loop that is told to stop while it runs its tasks ends before it has
   * closed its channels: their sockets would stay open, and the other ends wait for ever.
   */
  private static void shutdown(EventLoopGroup group) {
    group
        .shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS)
        .awaitUninterruptibly(10, TimeUnit.SECONDS);
  }

  /** Where it listens for requests and for what people ask. */
  private String addresses() {
    List<String> told = new ArrayList<>();
    if (config.gateway() != null) {
      told.add("gateway on " + address(config.gateway().listen(), gatewayPort()));
    }
    if (config.extProc() != null) {
      told.add("ext_proc on " + address(config.extProc().listen(), extProcPort()));
    }
    if (config.admin() != null) {
      told.add("metrics on " + address(config.admin(), adminPort()));
    }
    return told.isEmpty() ? "no port for requests" : String.join(", ", told);
  }

  private static String address(DataPlaneConfig.Listen asked, OptionalInt port) {
    return Route.destination(asked.host(), port.orElse(asked.port()));
  }

  private static OptionalInt port(@Nullable Frontend frontend) {
    return frontend == null ? OptionalInt.empty() : OptionalInt.of(frontend.port());
  }

  private static List<EndpointView> rows(
      List<EndpointSnapshot> states, Map<String, EndpointLatency> latencies) {
    return states.stream()
        .map(
            state ->
                new EndpointView(state, latencies.getOrDefault(state.name(), EndpointLatency.NONE)))
        .toList();
  }
}
