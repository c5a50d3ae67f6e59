package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.openai.RequestReader;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.FreestLoop;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.FastThreadLocal;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves Envoy's external processing protocol for one pool: a stream for each HTTP request, handled
 * on the loop of the proxy's connection.
 */
public final class ExtProcServer implements AutoCloseable {

  /** Proxies send a body in pieces of at most 1 MiB, or whole where they are set up for that. */
  private static final int SMALLEST_BOUND = 4 << 20;

  /** What a message has beside a body. */
  private static final int BESIDE_BODY = 1 << 20;

  /**
   * What a proxy may send of a stream that is not read, because there is no memory for its body.
   * Fixed: a window that grew with the connection's speed would be memory that nobody counts.
   */
  private static final int WINDOW = 256 << 10;

  private final Server server;
  private final StreamCounters counters;
  private final OpenStreams streams;

  private final ServingSecurity.Ready security;

  /** Ends the looking after the certificate. */
  private final Runnable leaveCertificate;

  private ExtProcServer(
      Server server, StreamCounters counters, OpenStreams streams, ServingSecurity.Ready security) {
    this.server = server;
    this.counters = counters;
    this.streams = streams;
    this.security = security;
    leaveCertificate = security.lookAfter();
  }

  /**
   * Starts listening.
   *
   * @param bodies what request bodies are charged to
   * @param group loops for connections; stays the caller's to shut down, after this server
   * @param health also told on this port where the config asks for it
   * @throws IllegalStateException if the address can't be listened on or the certificate can't be
   *     read; the message names it
   */
  public static ExtProcServer start(
      ExtProcConfig config, PoolLoop pool, BodyBudget bodies, EventLoopGroup group, Health health) {
    return start(config, pool, bodies, group, health, () -> ThreadLocalRandom.current().nextLong());
  }

  /**
   * Starts listening.
   *
   * @param seeds random bits, one call per request; must be thread-safe
   */
  static ExtProcServer start(
      ExtProcConfig config,
      PoolLoop pool,
      BodyBudget bodies,
      EventLoopGroup group,
      Health health,
      LongSupplier seeds) {
    StreamCounters counters = new StreamCounters();
    OpenStreams streams = new OpenStreams();
    StreamContext context =
        new StreamContext(
            pool,
            bodies,
            config.maxBodyBytes(),
            config.bodyTimeout().toNanos(),
            seeds,
            counters,
            streams,
            config.leaveAfterPick(),
            new FastThreadLocal<>() {
              @Override
              protected RequestReader initialValue() {
                return pool.newReader();
              }
            },
            new Destinations(),
            config.tracing());
    NettyServerBuilder builder =
        GrpcPort.on(config.host(), config.port(), group, new FreestLoop(group, pool.loop()))
            .addService(new ExtProcService(context, group))
            .maxInboundMessageSize(Math.max(SMALLEST_BOUND, config.maxBodyBytes() + BESIDE_BODY))
            .flowControlWindow(WINDOW)
            .maxConcurrentCallsPerConnection(Integer.MAX_VALUE)
            // A proxy may check its connections as often as it likes.
            .permitKeepAliveTime(1, TimeUnit.SECONDS)
            .permitKeepAliveWithoutCalls(true);
    ServingSecurity.Ready security = config.security().ready();
    if (security.ssl() != null) {
      builder.sslContext(security.ssl());
    }
    if (config.healthChecking()) {
      builder.addService(health.service());
    }
    Server server = GrpcPort.start(builder, "ext_proc", config.host(), config.port());
    try {
      return new ExtProcServer(server, counters, streams, security);
    } catch (RuntimeException | Error e) {
      server.shutdownNow(); // else whoever tries again finds the port taken by this one
      throw e;
    }
  }

  /** The port that was taken. */
  public int port() {
    return server.getPort();
  }

  /** When the certificate ends that new connections get now; null in plain text. */
  public @Nullable Instant certificateEnd() {
    return security.certificateEnd();
  }

  /** What became of its streams. */
  public StreamCounters counters() {
    return counters;
  }

  /**
   * Leaves every stream as soon as its request is sent, so that the proxy goes on without it, and
   * ends when none is open. Blocks: not for an event loop.
   *
   * @param lameDuck so long new streams are taken still, since proxies learn late of an end, and
   *     those that wait for an answer may see it begin
   * @param bound longest time for all of it; then requests that are not sent are refused, and what
   *     can't be left is cut
   * @return whether nothing was open at the bound
   */
  public boolean drain(Duration lameDuck, Duration bound) {
    streams.leave();
    Duration taking = lameDuck.compareTo(bound) < 0 ? lameDuck : bound;
    try {
      Thread.sleep(taking);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // what follows then does not wait either
    }
    streams.leaveUnanswered();
    try {
      return GrpcPort.stop(server, bound.minus(taking), streams::endNow);
    } finally {
      leaveCertificate.run();
    }
  }

  /** Stops at once: what can't be left is cut. */
  @Override
  public void close() {
    drain(Duration.ZERO, Duration.ZERO);
  }
}
