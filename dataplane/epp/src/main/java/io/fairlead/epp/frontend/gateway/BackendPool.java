package io.fairlead.epp.frontend.gateway;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One event loop's connections to endpoints. Hands out the most recently used one, so that the rest
 * can go idle and be closed. Not thread-safe: owned by its loop, as are the connections.
 */
final class BackendPool {

  private final EventLoop loop;
  private final GatewayConfig config;
  private final Bootstrap bootstrap;
  private final Map<InetSocketAddress, ArrayDeque<BackendConnection>> idle = new HashMap<>();

  /** Endpoints of the pool; null while nobody said which they are. */
  private @Nullable Set<InetSocketAddress> members;

  /** To endpoints that speak HTTP/2. */
  private final Map<InetSocketAddress, BackendStreams> streams = new HashMap<>();

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
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) config.connectTimeout().toMillis())
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    ch.pipeline().addLast(codec());
                  }
                });
  }

  /**
   * A chunk comes out of it whole, up to 64 KiB: servers send an event of a stream in a chunk, and
   * there are clients that take what they read for an event.
   */
  static HttpClientCodec codec() {
    return new HttpClientCodec(
        new HttpDecoderConfig()
            .setMaxInitialLineLength(4096)
            .setMaxHeaderSize(65_536)
            .setMaxChunkSize(65_536)
            .setAllowPartialChunks(false),
        false,
        false);
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
    ChannelFuture connected = bootstrap.connect(address);
    connected.addListener(
        done -> {
          if (done.isSuccess()) {
            BackendConnection connection =
                new BackendConnection(this, address, connected.channel());
            connected.channel().pipeline().addFirst(connection.byteWatch()).addLast(connection);
            user.opened(connection);
          } else {
            user.openFailed(done.cause());
          }
        });
  }

  private BackendStreams streams(InetSocketAddress address) {
    return new BackendStreams(
        this, address, bootstrap, loop, config.backendIdleTimeout().toNanos());
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
    if (closed || http2 || !member || waiting.size() >= config.maxIdlePerEndpoint()) {
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
    long nanos = Math.max(1, config.backendIdleTimeout().toNanos() / 4);
    var _ = loop.schedule(this::sweep, nanos, TimeUnit.NANOSECONDS);
  }

  private void sweep() {
    long oldest = loop.ticker().nanoTime() - config.backendIdleTimeout().toNanos();
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
