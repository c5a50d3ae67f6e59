package io.fairlead.epp.transport;

import io.fairlead.core.Route;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Sockets on epoll where the machine has it, else on NIO. */
public final class Transport {

  /** How long an endpoint may take nothing of what is sent to it. */
  public static final Duration STALL = Duration.ofSeconds(25);

  private static final String DIRECT_LIMIT = "io.netty.maxDirectMemory";

  private Transport() {}

  /**
   * Holds buffers outside of the heap to a quarter of the heap, unless the process was told
   * otherwise: the usual bound is as much again as the heap, and together they would be more than a
   * container has. Counts only before any buffer is made.
   */
  public static void boundDirectMemory() {
    if (System.getProperty(DIRECT_LIMIT) == null) {
      System.setProperty(DIRECT_LIMIT, Long.toString(Runtime.getRuntime().maxMemory() / 4));
    }
  }

  /** The most that buffers outside of the heap may take, in bytes. */
  public static long directMemory() {
    long set = Long.getLong(DIRECT_LIMIT, 0);
    return set > 0 ? set : Runtime.getRuntime().maxMemory();
  }

  /**
   * Event loops of the best kind available, on daemon threads.
   *
   * @param name what the threads' names begin with
   * @param loops at least 1
   */
  public static EventLoopGroup group(String name, int loops) {
    return new MultiThreadIoEventLoopGroup(
        loops,
        new DefaultThreadFactory(name, true),
        Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  }

  /**
   * What a server throws that can't listen.
   *
   * @param what the server's name for people
   * @param cause says why, it or what it came of: taken, no address of this machine, not allowed
   */
  public static IllegalStateException cannotListen(
      String what, String host, int port, Throwable cause) {
    Throwable root = cause;
    for (Throwable next = cause; next != null; next = next.getCause()) {
      root = next;
    }
    return new IllegalStateException(
        "%s can't listen on %s: %s"
            .formatted(what, Route.destination(host, port), root.getMessage()),
        cause);
  }

  /**
   * Asks an endpoint over HTTP/1.1. Lines of heads may end with line feeds alone, which a recipient
   * may take for ends of lines (RFC 9112 2.2): proxies do, and nobody reads on with the same bytes,
   * as servers do with requests.
   */
  public static HttpClientCodec answers() {
    return new HttpClientCodec(new HttpDecoderConfig().setStrictLineParsing(false), false, false);
  }

  /** What listens on these loops. */
  public static Class<? extends ServerSocketChannel> server(EventLoopGroup group) {
    return onEpoll(group) ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  /** What connects on these loops. */
  public static Class<? extends SocketChannel> client(EventLoopGroup group) {
    return onEpoll(group) ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /**
   * Has the kernel ask the other end of a silent connection whether it is there, and break the
   * connection after some 25 s without a word, or in which it took nothing of what was sent: a
   * machine that is lost says nothing, and who waits for its answer would wait for as long as an
   * answer may take. While something is on its way the kernel does not ask, but sends that again,
   * and has a bound of its own. On NIO it asks as seldom as the machine is set up to, which is
   * after hours.
   */
  public static void keepAlive(Bootstrap bootstrap, Class<? extends SocketChannel> channel) {
    bootstrap.option(ChannelOption.SO_KEEPALIVE, true);
    if (channel.equals(EpollSocketChannel.class)) {
      bootstrap
          .option(EpollChannelOption.TCP_KEEPIDLE, 10)
          .option(EpollChannelOption.TCP_KEEPINTVL, 5)
          .option(EpollChannelOption.TCP_KEEPCNT, 3)
          .option(EpollChannelOption.TCP_USER_TIMEOUT, (int) STALL.toMillis());
    }
  }

  /**
   * Connects, and tells one of both on this loop, later than from within this call. Netty gives a
   * connection that can't even be begun, for want of file descriptors say, to no loop: it would
   * tell of that on a thread of its own, and its channel throws when it is closed.
   *
   * <p>For tasks of the loop alone, such as timers. Who may be called while the loop hands out the
   * kernel's events takes {@link #connectLater}.
   *
   * @param bootstrap of connections on {@code loop}
   * @param loop the one that this is called on
   * @param failed told why there is no connection; {@link Failures} tells what that says
   * @return the connection that is being made; null where it could not be begun
   */
  public static @Nullable Channel connect(
      Bootstrap bootstrap,
      EventLoop loop,
      InetSocketAddress address,
      Consumer<Channel> connected,
      Consumer<Throwable> failed) {
    ChannelFuture connecting = bootstrap.connect(address);
    Channel channel = connecting.channel();
    if (!channel.isRegistered()) {
      Throwable why = new NoSocketException(connecting.cause());
      loop.execute(() -> failed.accept(why));
      return null;
    }
    connecting.addListener(
        done -> {
          if (done.isSuccess()) {
            connected.accept(channel);
          } else {
            failed.accept(done.cause());
          }
        });
    return channel;
  }

  /**
   * The same once the events are handed out that the kernel has told of. They name sockets by
   * numbers, and a new socket gets that of one that was closed just now: it would get its event,
   * too, and break, or log, as it is not connected yet.
   */
  public static void connectLater(
      Bootstrap bootstrap,
      EventLoop loop,
      InetSocketAddress address,
      Consumer<Channel> connected,
      Consumer<Throwable> failed) {
    loop.execute(
        () -> {
          var _ = connect(bootstrap, loop, address, connected, failed);
        });
  }

  private static boolean onEpoll(EventLoopGroup group) {
    return group instanceof IoEventLoopGroup io && io.isIoType(EpollIoHandler.class);
  }
}
