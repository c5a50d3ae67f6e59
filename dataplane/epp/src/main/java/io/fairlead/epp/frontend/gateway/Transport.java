package io.fairlead.epp.frontend.gateway;

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

/** Sockets on epoll where the machine has it, else on NIO. */
public final class Transport {

  private Transport() {}

  /** Event loops of the best kind available. */
  public static EventLoopGroup newGroup(int threads) {
    return new MultiThreadIoEventLoopGroup(
        threads, Epoll.isAvailable() ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  }

  static Class<? extends ServerSocketChannel> serverChannel(EventLoopGroup group) {
    return onEpoll(group) ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  static Class<? extends SocketChannel> clientChannel(EventLoopGroup group) {
    return onEpoll(group) ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  private static boolean onEpoll(EventLoopGroup group) {
    return group instanceof IoEventLoopGroup io && io.isIoType(EpollIoHandler.class);
  }
}
