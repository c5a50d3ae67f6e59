package io.fairlead.epp.frontend.gateway;

import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.AdaptiveRecvByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpRequestEncoder;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One event loop's connections to endpoints. Hands out the most recently used one, so that the rest
 * can go idle and be closed. Not thread-safe: owned by its loop, as are the connections.
 */
final class BackendPool {

  private static final Logger LOG = LoggerFactory.getLogger(BackendPool.class);

  private final EventLoop loop;
  private final GatewayConfig config;
  private final Bootstrap bootstrap;
  private final Map<InetSocketAddress, ArrayDeque<BackendConnection>> idle = new HashMap<>();

  /** Endpoints of the pool; null while nobody said which they are. */
  private @Nullable Set<InetSocketAddress> members;

  /** To endpoints that speak HTTP/2. */
  private final Map<InetSocketAddress, BackendStreams> streams = new HashMap<>();

  private final RareTelling withoutTls = new RareTelling();
  private final RareTelling withoutMemory = new RareTelling();
  private boolean http2;
  private boolean sweeping;
  private boolean closed;

  BackendPool(EventLoop loop, GatewayConfig config, Class<? extends SocketChannel> channel) {
    this.loop = loop;
    this.config = config;
    this.bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(channel)
            .option(ChannelOption.AUTO_READ, false)
            // A write that fails leaves what the endpoint said before to be read.
            .option(ChannelOption.AUTO_CLOSE, false)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.RECVBUF_ALLOCATOR, reads())
            .option(
                ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) config.backends().connect().toMillis())
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    addCodec(ch.pipeline());
                  }
                });
    Transport.keepAlive(bootstrap, channel);
  }

  /**
   * 64 KiB at a time, which go to the client together, in small buffers: one that is held for a
   * client is held whole, however little of it was read into.
   */
  private static RecvByteBufAllocator reads() {
    return new AdaptiveRecvByteBufAllocator(64, 2_048, 8_192).maxMessagesPerRead(8);
  }

  /** What connects to that endpoint. */
  private Bootstrap bootstrap(InetSocketAddress address) {
    if (config.endpoints() == null) {
      return bootstrap;
    }
    return bootstrap
        .clone()
        .handler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel ch) {
                secure(ch, address, EndpointTls.Protocol.HTTP_1_1);
                addCodec(ch.pipeline());
                ch.pipeline().addLast(new Failing());
              }
            });
  }

  /** A handshake that fails is told to whoever waits for it, and not to the log of each. */
  private static final class Failing extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      var _ = ctx.close();
    }
  }

  /** Adds TLS to a connection that is to be made, unless endpoints are spoken to in plain text. */
  void secure(Channel channel, InetSocketAddress address, EndpointTls.Protocol protocol) {
    EndpointTls.addTo(
        channel,
        config.endpoints(),
        protocol,
        address.getHostString(),
        address.getPort(),
        config.backends().connect());
  }

  /**
   * Calls {@code then} when both ends agree on TLS, with null, or with what went wrong; at once
   * where it is plain text.
   *
   * @param connected to an endpoint, and {@link #secure}
   */
  void agree(Channel connected, EndpointTls.Protocol protocol, Consumer<@Nullable Throwable> then) {
    SslHandler tls = connected.pipeline().get(SslHandler.class);
    if (tls == null) {
      then.accept(null);
      return;
    }
    tls.handshakeFuture()
        .addListener(
            done -> {
              Throwable failure =
                  !done.isSuccess()
                      ? done.cause()
                      : protocol.isAgreed(tls)
                          ? null
                          : new SSLHandshakeException("it does not speak " + protocol);
              if (failure != null) {
                tell(connected, failure);
                var _ = connected.close();
              }
              then.accept(failure);
            });
    connected.read();
  }

  /** Why there is no TLS is in no metric; a line in a while is enough, as each request may fail. */
  private void tell(Channel connected, Throwable failure) {
    if (withoutTls.isDue(loop.ticker().nanoTime())) {
      LOG.warn(
          "no TLS with endpoint {}: {}",
          connected.remoteAddress(),
          String.valueOf(failure.getMessage()));
    }
  }

  /** Of the requests that fail of it each may say so. */
  void tellOutOfMemory(Throwable why) {
    if (withoutMemory.isDue(loop.ticker().nanoTime())) {
      LOG.warn("no memory for what goes to model servers or comes from them: {}", why.toString());
    }
  }

  /** What makes HTTP/1.1 of requests, and answers of what comes back. */
  static void addCodec(ChannelPipeline pipeline) {
    pipeline.addLast(new HttpRequestEncoder()).addLast(new AnswerDecoder());
  }

  /** Finds or makes a connection for {@code user}, who is told at once or later. */
  void open(InetSocketAddress address, boolean mayReuse, BackendConnection.User user) {
    if (http2) {
      streams.computeIfAbsent(address, this::streams).open(mayReuse, user);
      return;
    }
    ArrayDeque<BackendConnection> waiting = mayReuse ? idle.get(address) : null;
    while (waiting != null) {
      BackendConnection last = waiting.pollLast();
      if (last == null) {
        break;
      }
      if (last.isActive()) {
        last.reuse();
        user.opened(last);
        return;
      }
    }
    Transport.connectLater(
        bootstrap(address),
        loop,
        address,
        connected ->
            agree(
                connected,
                EndpointTls.Protocol.HTTP_1_1,
                failure -> opened(connected, address, failure, user)),
        user::openFailed);
  }

  private void opened(
      Channel channel,
      InetSocketAddress address,
      @Nullable Throwable failure,
      BackendConnection.User user) {
    if (failure != null) {
      user.openFailed(failure);
      return;
    }
    BackendConnection connection = new BackendConnection(this, address, channel);
    ChannelPipeline pipeline = channel.pipeline();
    // Before the decoder, which it is to see the bytes of, and after TLS, whose bytes are no
    // answer's.
    pipeline.addBefore(pipeline.context(AnswerDecoder.class).name(), null, connection.byteWatch());
    pipeline.addLast(connection);
    user.opened(connection);
  }

  private BackendStreams streams(InetSocketAddress address) {
    return new BackendStreams(
        this,
        address,
        bootstrap,
        loop,
        config.backends().idle().toNanos(),
        config.backends().stall());
  }

  /** From now on endpoints are spoken to in HTTP/2, or are not. */
  void speakHttp2(boolean speak) {
    if (http2 != speak) {
      http2 = speak;
      Set<InetSocketAddress> kept = members;
      retain(Set.of());
      members = kept;
    }
  }

  /** Takes back a connection on which nothing is under way. */
  void release(BackendConnection connection) {
    ArrayDeque<BackendConnection> waiting =
        idle.computeIfAbsent(connection.address(), key -> new ArrayDeque<>());
    boolean member = members == null || members.contains(connection.address());
    if (closed || http2 || !member || waiting.size() >= config.backends().unused()) {
      connection.close();
      return;
    }
    connection.idleSince(loop.ticker().nanoTime());
    waiting.addLast(connection);
    connection.read(); // to hear of it when the endpoint closes it
    if (!sweeping) {
      sweeping = true;
      scheduleSweep();
    }
  }

  void forget(BackendConnection connection) {
    ArrayDeque<BackendConnection> waiting = idle.get(connection.address());
    if (waiting != null) {
      waiting.remove(connection);
    }
  }

  /** Closes idle connections to anyone else, and used ones after their response. */
  void retain(Set<InetSocketAddress> addresses) {
    members = addresses;
    idle.forEach(
        (address, waiting) -> {
          if (!addresses.contains(address)) {
            closeAll(waiting);
          }
        });
    idle.values().removeIf(ArrayDeque::isEmpty);
    streams
        .entrySet()
        .removeIf(
            entry -> {
              boolean left = !addresses.contains(entry.getKey());
              if (left) {
                entry.getValue().retire();
              }
              return left;
            });
  }

  void close() {
    closed = true;
    idle.values().forEach(BackendPool::closeAll);
    idle.clear();
    streams.values().forEach(BackendStreams::retire);
    streams.clear();
  }

  private static void closeAll(ArrayDeque<BackendConnection> waiting) {
    for (BackendConnection c = waiting.poll(); c != null; c = waiting.poll()) {
      c.close();
    }
  }

  private void scheduleSweep() {
    long nanos = Math.max(1, config.backends().idle().toNanos() / 4);
    var _ = loop.schedule(this::sweep, nanos, TimeUnit.NANOSECONDS);
  }

  private void sweep() {
    long oldest = loop.ticker().nanoTime() - config.backends().idle().toNanos();
    Iterator<ArrayDeque<BackendConnection>> queues = idle.values().iterator();
    while (queues.hasNext()) {
      ArrayDeque<BackendConnection> waiting = queues.next();
      while (!waiting.isEmpty() && waiting.peekFirst().idleSince() - oldest < 0) {
        waiting.removeFirst().close();
      }
      if (waiting.isEmpty()) {
        queues.remove();
      }
    }
    sweeping = !idle.isEmpty();
    if (sweeping) {
      scheduleSweep();
    }
  }
}
