package io.fairlead.epp.warmup;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.frontend.extproc.ExtProcConfig;
import io.fairlead.epp.frontend.extproc.ExtProcServer;
import io.fairlead.epp.frontend.extproc.Health;
import io.fairlead.epp.frontend.gateway.Gateway;
import io.fairlead.epp.frontend.gateway.GatewayConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.probe.HttpProber;
import io.fairlead.epp.telemetry.HealthMeters;
import io.fairlead.epp.telemetry.Telemetry;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves requests of its own for some seconds, so that the virtual machine has compiled what
 * serving takes before a client waits for it: a process that has just begun needs several times as
 * long for each request.
 *
 * <p>They come through sockets and the real frontends, on the event loops that clients' requests
 * will come on, but to a pool, ports and metrics that nobody else sees, and of which nothing stays.
 */
public final class WarmUp implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);

  private static final int ENDPOINTS = 8;

  /** Of each frontend: enough that none waits for its clients. */
  private static final int CLIENTS = 3;

  private static final long LONGEST_END_SECONDS = 15;

  /** Longest wait for more of an answer: whoever hangs must not keep the process from serving. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final String HOST = "127.0.0.1";

  private final Plan plan;
  private final EventLoopGroup group;
  private final LongSupplier clock;
  private final AtomicLong served = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile boolean over;

  /**
   * What to warm up.
   *
   * @param gateway the HTTP gateway
   * @param extProc the ext_proc server
   * @param secure whether ext_proc is served over TLS
   * @param bound how long it asks; above 0. What it takes until the first of them does not count: a
   *     machine with little to give would else be ready before it
   */
  public record Plan(boolean gateway, boolean extProc, boolean secure, Duration bound) {}

  /** Asks for something until it is told to end. */
  private interface Client {
    void ask(Sample sample) throws IOException, InterruptedException;
  }

  /** A warm-up that has not begun, on loops that stay the caller's; {@link #run} must follow. */
  public WarmUp(Plan plan, EventLoopGroup group, LongSupplier clock) {
    this.plan = plan;
    this.group = group;
    this.clock = clock;
  }

  /** How many of its requests were answered so far. */
  long served() {
    return served.get();
  }

  /**
   * Runs until the bound, or {@link #close}. Blocks: not for an event loop. What goes wrong is
   * logged and harms nothing but the first requests' time.
   */
  public void run() {
    try {
      warmUp();
    } finally {
      ended.countDown();
    }
  }

  private void warmUp() {
    long begun = clock.getAsLong();
    Deque<AutoCloseable> parts = new ArrayDeque<>();
    try {
      serve(parts);
      LOG.info(
          "warmed up by {} requests in {} ms",
          served.get(),
          Duration.ofNanos(clock.getAsLong() - begun).toMillis());
    } catch (IOException e) {
      if (!over) {
        LOG.warn("the warm-up failed: the first requests will take longer: {}", e.toString());
      }
    } catch (RuntimeException | LinkageError | AssertionError e) {
      if (!over) {
        LOG.warn("the warm-up failed: the first requests will take longer", e);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      parts.forEach(WarmUp::end);
    }
  }

  /** Ends it, and waits until nothing of it runs on the loops any more. */
  @Override
  public void close() {
    over = true;
    try {
      if (!ended.await(LONGEST_END_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("the warm-up has not ended {} s after it was told to", LONGEST_END_SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void serve(Deque<AutoCloseable> parts) throws IOException, InterruptedException {
    ModelServer servers = new ModelServer(group);
    parts.push(servers);
    PoolLoop pool = pool(servers.port());
    BodyBudget bodies = BodyBudget.ofHeap();
    List<Client> clients = new ArrayList<>();
    if (plan.gateway()) {
      Gateway gateway =
          Gateway.start(
              GatewayConfig.on(HOST, 0), pool, bodies, group, () -> true, List::of, WarmUp::seed);
      parts.push(() -> gateway.drain(Duration.ZERO, Duration.ZERO).awaitUninterruptibly());
      for (int i = 0; i < CLIENTS; i++) {
        GatewayClient client = new GatewayClient(gateway.port(), PATIENCE);
        parts.push(client);
        clients.add(client::ask);
      }
    }
    if (plan.extProc()) {
      ServingSecurity security =
          plan.secure() ? new ServingSecurity.SelfSigned() : new ServingSecurity.PlainText();
      ExtProcServer server =
          ExtProcServer.start(
              new ExtProcConfig(
                  HOST, 0, security, ExtProcConfig.DEFAULT_MAX_BODY_BYTES, /* health */ false),
              pool,
              bodies,
              group,
              new Health());
      parts.push(server);
      for (int i = 0; i < CLIENTS; i++) {
        Proxy proxy = new Proxy(group, server.port(), plan.secure());
        parts.push(proxy);
        clients.add(proxy::ask);
      }
    }
    ask(clients, clock.getAsLong() + plan.bound().toNanos());
  }

  private void ask(List<Client> clients, long until) throws IOException, InterruptedException {
    List<Sample> samples = Sample.all();
    List<Thread> threads = new ArrayList<>();
    List<IOException> failures = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      Client client = clients.get(i);
      int first = i * samples.size() / clients.size();
      threads.add(
          Thread.ofPlatform()
              .daemon()
              .name("fairlead-warm-up-" + i)
              .start(
                  () -> {
                    try {
                      for (int next = first; !over && clock.getAsLong() < until; next++) {
                        client.ask(samples.get(next % samples.size()));
                        served.incrementAndGet();
                      }
                    } catch (IOException e) {
                      synchronized (failures) {
                        failures.add(e);
                      }
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
                  }));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw failures.getFirst();
    }
  }

  /** A pool like any other, with endpoints that are all the same server. */
  private PoolLoop pool(int port) {
    Telemetry telemetry = new Telemetry(clock);
    var loop = group.next();
    PoolLoop pool =
        new PoolLoop(
            PoolLimits.DEFAULT,
            loop,
            clock,
            telemetry,
            new HealthMeters(telemetry.registry()),
            new HttpProber(loop, Transport.client(group)),
            true,
            null);
    PoolConfig config =
        new PoolConfig(
            "fairlead",
            Sample.MODEL,
            Map.of(),
            List.of(port),
            "http",
            List.of(new ModelConfig(Sample.MODEL, Criticality.STANDARD, List.of())),
            SchedulerConfig.DEFAULT);
    telemetry.models(config);
    pool.configure(new ConfigCompiler(List.of()).compile(config)).awaitUninterruptibly();
    List<EndpointSpec> endpoints = new ArrayList<>();
    for (int i = 0; i < ENDPOINTS; i++) {
      endpoints.add(new EndpointSpec("warm-up-" + i, "", HOST, port, Map.of()));
    }
    pool.endpoints(endpoints).awaitUninterruptibly();
    return pool;
  }

  private static long seed() {
    return ThreadLocalRandom.current().nextLong();
  }

  private static void end(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      LOG.debug("a part of the warm-up did not stop cleanly", e);
    }
  }
}
