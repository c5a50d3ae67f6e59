package io.fairlead.epp.transport;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoEventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/** Sockets on epoll where the machine has it, else on NIO. */
public final class Transport {

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

  /** What listens on these loops. */
  public static Class<? extends ServerSocketChannel> server(EventLoopGroup group) {
    return onEpoll(group) ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  /** What connects on these loops. */
  public static Class<? extends SocketChannel> client(EventLoopGroup group) {
    return onEpoll(group) ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  private static boolean onEpoll(EventLoopGroup group) {
    return group instanceof IoEventLoopGroup io && io.isIoType(EpollIoHandler.class);
  }
}
