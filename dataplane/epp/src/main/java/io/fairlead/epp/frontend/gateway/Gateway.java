package io.fairlead.epp.frontend.gateway;

import io.fairlead.core.EndpointSpec;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.openai.BadRequestException;
import io.fairlead.epp.openai.ErrorCodes;
import io.fairlead.epp.openai.ModelList;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A server of HTTP/1.1 and HTTP/2 in front of a pool. A request stays on its connection's event
 * loop, and so does the connection to the endpoint that serves it; only the decision is made
 * elsewhere.
 */
public final class Gateway {

  private static final int MAX_REQUEST_ID = 128;

  /**
   * From so long before all are cut off, at most, those are answered that wait still, and who
   * begins to.
   */
  private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** As often are they answered until then: what the last answers have to be written in. */
  private static final int REFUSALS = 10;

  /**
   * One in so many bytes of the memory outside of the heap may wait for clients that take none: the
   * buffers that hold them take more, and there is other use for it.
   */
  private static final int HELD_SHARE = 4;

  private final GatewayConfig config;
  private final PoolLoop pool;
  private final BodyBudget bodies;
  private final BooleanSupplier ready;
  private final ModelDirectory served;
  private final LongSupplier seeds;
  private final Map<EventExecutor, LoopResources> resources = new HashMap<>();
  private final EventLoopGroup group;
  private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel server;
  private final @Nullable SslContext tls;
  private final ServingSecurity.Ready security;

  /** Ends the looking after the certificate. */
  private final Runnable leaveCertificate;

  /** Answers say that their connection closes. */
  private volatile boolean leaving;

  /** No connection gets another request. */
  private volatile boolean refusing;

  private Gateway(
      GatewayConfig config,
      PoolLoop pool,
      BodyBudget bodies,
      EventLoopGroup group,
      BooleanSupplier ready,
      Supplier<List<ModelConfig>> models,
      LongSupplier seeds) {
    this.config = config;
    this.bodies = bodies;
    this.ready = ready;
    this.pool = pool;
    this.group = group;
    this.seeds = seeds;
    served = new ModelDirectory(group.next(), Transport.client(group), config.endpoints(), models);
    List<EventLoop> loops = new ArrayList<>();
    group.forEach(loop -> loops.add((EventLoop) loop));
    long mayWait = Transport.directMemory() / HELD_SHARE / loops.size();
    for (EventLoop loop : loops) {
      resources.put(
          loop,
          new LoopResources(
              pool.newReader(),
              new BackendPool(loop, config, Transport.client(group)),
              new ClientBytes(mayWait, loop.ticker()::nanoTime, "took none of their answers"),
              new ClientBytes(
                  mayWait, loop.ticker()::nanoTime, "did not finish what they began to send")));
    }
    security = config.security().ready(ServingSecurity.Protocols.HTTP);
    tls = security.ssl();
    leaveCertificate = security.lookAfter();
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(Transport.server(group))
            .option(ChannelOption.SO_BACKLOG, 4096)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    accept(channel);
                  }
                })
            .bind(config.host(), config.port())
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      leaveCertificate.run();
      throw Transport.cannotListen("the gateway", config.host(), config.port(), bound.cause());
    }
    server = bound.channel();
  }

  /**
   * Starts to listen.
   *
   * @param bodies what request bodies are charged to
   * @param group event loops for both sides; see {@link Transport#group}; stays the caller's
   * @param ready the answer to {@code GET /readyz}; asked on event loops, must not block
   * @param models those configured, for {@code GET /v1/models}; asked on event loops, must not
   *     block
   * @param seeds random bits, one call per request; must be thread-safe
   * @throws IllegalStateException if it can't listen, or has no certificate; the message says why
   */
  public static Gateway start(
      GatewayConfig config,
      PoolLoop pool,
      BodyBudget bodies,
      EventLoopGroup group,
      BooleanSupplier ready,
      Supplier<List<ModelConfig>> models,
      LongSupplier seeds) {
    return new Gateway(config, pool, bodies, group, ready, models, seeds);
  }

  private void accept(SocketChannel channel) {
    LoopResources shared = resources.get(channel.eventLoop());
    if (shared == null) {
      throw new IllegalStateException("a loop that is not of the group");
    }
    if (clients.size() >= config.clients().connections()) {
      turnAway(channel);
      return;
    }
    clients.add(channel);
    if (refusing) {
      var _ = channel.close(); // those that were here before are told; it has not said anything yet
      return;
    }
    new ClientPipelines(this, shared, tls).begin(channel);
  }

  /** Says why, since a connection that just closes looks like a gateway that died. */
  private void turnAway(SocketChannel channel) {
    OpenAiError error =
        OpenAiError.of(
            new BadRequestException(
                503,
                ErrorCodes.TOO_MANY_CONNECTIONS,
                "The gateway has as many connections as it may have; try again.",
                1));
    pool.refused("gateway", error);
    if (tls != null) {
      var _ = channel.close(); // to say why would take a handshake, the dearest of what it may ask
      return;
    }
    channel.pipeline().addLast(new HttpServerCodec()).addLast(new Discard());
    channel.config().setAutoRead(true);
    ClientAnswer answer = new ClientAnswer(this, channel);
    answer.error(error);
    answer.closeLate(); // the request may be here already
  }

  /** Takes what a client sends that has its answer. */
  private static final class Discard extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext ctx, Object msg) {
      ReferenceCountUtil.release(msg);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      var _ = ctx.close();
    }
  }

  /** Connections of clients now. */
  public int connections() {
    return clients.size();
  }

  /** When the certificate ends that new connections get now; null in plain text. */
  public @Nullable Instant certificateEnd() {
    return security.certificateEnd();
  }

  /** The port that it listens on. */
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /**
   * Closes unused connections to all but these endpoints; those in use close after their response.
   */
  public void retain(Collection<EndpointSpec> endpoints) {
    Set<InetSocketAddress> addresses =
        endpoints.stream()
            .map(e -> new InetSocketAddress(e.address(), e.port()))
            .collect(Collectors.toUnmodifiableSet());
    resources.forEach((loop, own) -> loop.execute(() -> own.backends().retain(addresses)));
    served.retain(endpoints);
  }

  /** Speaks HTTP/2 to endpoints from now on, without asking whether they do; or HTTP/1.1. */
  public void speakHttp2(boolean speak) {
    resources.forEach((loop, own) -> loop.execute(() -> own.backends().speakHttp2(speak)));
  }

  /**
   * Stops. At once it isn't ready any more and answers tell clients to close their connections; new
   * connections and those at rest are still served, since clients and load balancers learn late of
   * an end. After {@code lameDuck} both are turned away, and what is under way is finished.
   *
   * @param lameDuck how long new connections are taken; 0 for no longer
   * @param bound after which, from now on, what is left is cut off; those that wait for room are
   *     refused a little before
   * @return done when no client is connected any more; whether none had to be cut off
   */
  public Future<Boolean> drain(Duration lameDuck, Duration bound) {
    leaving = true;
    eachClient(
        client -> {
          boolean _ = with(client, Http2Connection.class, Http2Connection::leave);
        });
    Promise<Boolean> done = GlobalEventExecutor.INSTANCE.newPromise();
    Duration taking = lameDuck.compareTo(bound) < 0 ? lameDuck : bound;
    if (taking.isZero()) {
      server.close().syncUninterruptibly();
      finish(bound, done);
    } else {
      var _ =
          group
              .next()
              .schedule(
                  () -> {
                    var _ = server.close().addListener(shut -> finish(bound.minus(taking), done));
                  },
                  taking.toNanos(),
                  TimeUnit.NANOSECONDS);
    }
    return done;
  }

  private void finish(Duration bound, Promise<Boolean> done) {
    refusing = true;
    eachClient(
        client -> {
          boolean asked =
              with(client, ClientConnection.class, ClientConnection::drain)
                  || with(client, Http2Connection.class, Http2Connection::drain);
          if (!asked) {
            var _ = client.close(); // it has not said yet what it speaks
          }
        });
    long grace = Math.min(bound.toNanos() / 4, REFUSAL_NANOS);
    EventLoop timers = group.next();
    AtomicBoolean cut = new AtomicBoolean();
    AtomicReference<@Nullable Future<?>> due = new AtomicReference<>();
    Runnable cutting =
        () -> {
          cut.set(!clients.isEmpty());
          var _ = clients.close();
        };
    // One after the other: where the process stands still until the bound all would be due at
    // once, and those that are refused have no answer.
    Runnable step = cutting;
    for (int i = 0; i < REFUSALS; i++) {
      Runnable next = step;
      step =
          () -> {
            if (!done.isDone()) {
              pool.refuseWaiting();
              due.set(timers.schedule(next, grace / REFUSALS, TimeUnit.NANOSECONDS));
            }
          };
    }
    due.set(timers.schedule(step, bound.toNanos() - grace, TimeUnit.NANOSECONDS));
    clients
        .newCloseFuture()
        .addListener(
            closed -> {
              Future<?> next = due.get();
              if (next != null) {
                next.cancel(false);
              }
              resources.forEach((loop, own) -> loop.execute(own.backends()::close));
              leaveCertificate.run();
              done.setSuccess(!cut.get());
            });
  }

  private void eachClient(Consumer<Channel> what) {
    for (Channel client : clients) {
      client.eventLoop().execute(() -> what.accept(client));
    }
  }

  /** Does it with the client's handler of this kind, if there is one. */
  private static <H extends ChannelHandler> boolean with(
      Channel client, Class<H> kind, Consumer<H> what) {
    H handler = client.pipeline().get(kind);
    if (handler != null) {
      what.accept(handler);
    }
    return handler != null;
  }

  GatewayConfig config() {
    return config;
  }

  PoolLoop pool() {
    return pool;
  }

  BodyBudget bodies() {
    return bodies;
  }

  boolean leaving() {
    return leaving;
  }

  boolean refusing() {
    return refusing;
  }

  boolean ready() {
    return !leaving && ready.getAsBoolean();
  }

  long seed() {
    return seeds.getAsLong();
  }

  /** The client's own id where it is one, else a new one. */
  String requestId(String given) {
    if (!given.isEmpty() && given.length() <= MAX_REQUEST_ID) {
      return given;
    }
    HexFormat hex = HexFormat.of();
    return hex.toHexDigits(seeds.getAsLong()) + hex.toHexDigits(seeds.getAsLong());
  }

  /** Tells {@code reader}, on a loop of its own, what clients may ask for. */
  void models(Consumer<ModelList> reader) {
    served.read(reader);
  }
}
