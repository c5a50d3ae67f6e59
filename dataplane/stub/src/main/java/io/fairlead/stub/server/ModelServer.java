package io.fairlead.stub.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A model server without a model: it speaks the OpenAI API and tells vLLM's metrics, and takes as
 * long as the engine that it plays. Answers carry who gave them in {@code x-stub-endpoint} and
 * {@code x-stub-pod}, and completions which model they are of in {@code x-stub-model}.
 *
 * <p>A server lives on one event loop of the group it is started on, so one process can be many
 * servers. Methods are callable from any thread but the loop's own.
 */
public final class ModelServer implements AutoCloseable {

  private final ServerCore core;
  private final EventLoop loop;
  private final Listener listener;
  private final ChannelGroup connections;

  private ModelServer(
      ServerCore core, EventLoop loop, Listener listener, ChannelGroup connections) {
    this.core = core;
    this.loop = loop;
    this.listener = listener;
    this.connections = connections;
  }

  /**
   * Starts listening; requests are answered once this returns.
   *
   * @param group an NIO group; stays the caller's to shut down, after the server
   * @throws IllegalStateException if the address can't be listened on; the message names it
   */
  public static ModelServer start(ModelServerConfig config, EventLoopGroup group) {
    EventLoop loop = group.next();
    ChannelGroup connections = new DefaultChannelGroup(loop, true);
    ServerCore core = new ServerCore(config, loop, connections, System.currentTimeMillis());
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loop, loop)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 1024)
            // To have the port back while connections of before linger.
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    connections.add(channel);
                    SslContext tls = config.tls();
                    if (tls != null) {
                      channel.pipeline().addLast(tls.newHandler(channel.alloc()));
                    }
                    channel
                        .pipeline()
                        .addLast(
                            new HttpServerCodec(),
                            new HttpObjectAggregator(config.maxBodyBytes()),
                            new Connection(core));
                  }
                });
    ChannelFuture bound = bootstrap.bind(config.host(), config.port()).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      if (core.events != null) {
        core.events.close();
      }
      throw new IllegalStateException(
          "model server %s can't listen on %s:%d: %s"
              .formatted(config.name(), config.host(), config.port(), bound.cause().getMessage()),
          bound.cause());
    }
    var listener = new Listener(loop, bootstrap, bound.channel());
    loop.submit(() -> core.listensAt(listener)).syncUninterruptibly();
    var server = new ModelServer(core, loop, listener, connections);
    var _ = core.gone.thenRun(server::vanish);
    return server;
  }

  public ModelServerConfig config() {
    return core.config;
  }

  /** Where it listens, with the port that was taken. */
  public InetSocketAddress address() {
    return listener.address();
  }

  /** {@code http://host:port}, or {@code https}, without a slash at the end. */
  public String url() {
    InetSocketAddress address = address();
    String host = address.getAddress().getHostAddress();
    String scheme = config().tls() == null ? "http://" : "https://";
    return scheme + (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
  }

  /** Where its KV events are published; 0 where none are. */
  public int kvEventsPort() {
    return core.events == null ? 0 : core.events.port();
  }

  /** Where KV events of before are to be had; 0 or less where they are not. */
  public int kvReplayPort() {
    return core.events == null ? 0 : core.events.replayPort();
  }

  /** What it has done so far. Never blocks. */
  public ServerStats stats() {
    return core.stats();
  }

  /** Makes it misbehave. */
  public Faults faults() {
    return core.faults;
  }

  /** Done when the server listens no more and never will again, for whatever reason. */
  public CompletableFuture<Void> closed() {
    return listener.ended.copy();
  }

  /**
   * Stops as an engine does on SIGTERM that was given a timeout for it: requests in flight finish,
   * while vLLM refuses every new one with 500 and looks healthy, and SGLang answers 503 on {@code
   * /health} and takes what still comes. What is left after the timeout is cut short as by {@link
   * #close}. Returns when every connection is closed.
   */
  public void drain(Duration timeout) {
    loop.execute(core::drain);
    try {
      core.drained.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException late) {
      // Those who are late are cut short now.
    } catch (ExecutionException impossible) {
      throw new IllegalStateException("draining does not fail", impossible);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    close();
  }

  /**
   * Stops as vLLM does on SIGTERM: nothing new is accepted, and completions under way end at once
   * with the tokens they have and {@code finish_reason: "abort"}. Returns when every connection is
   * closed.
   */
  @Override
  public void close() {
    loop.execute(listener::end);
    listener.ended.join();
    for (Channel channel : connections) {
      channel.eventLoop().execute(() -> abort(channel));
    }
    // Reaches the loop after the aborts, so that their last words are written first.
    connections.close().awaitUninterruptibly();
    if (core.events != null) {
      core.events.close();
    }
  }

  private void vanish() {
    listener.end();
    var _ = connections.close();
    if (core.events != null) {
      core.events.close();
    }
  }

  private static void abort(Channel channel) {
    ChannelHandlerContext ctx = channel.pipeline().context(Connection.class);
    if (ctx != null) {
      ((Connection) ctx.handler()).abort(ctx);
    }
  }
}
