package io.fairlead.epp;

import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;

/** Which kind of sockets to use: epoll where its native part is there. */
record Transport(
    boolean epoll, Class<? extends Channel> client, Class<? extends ServerChannel> server) {

  static Transport best() {
    return Epoll.isAvailable()
        ? new Transport(true, EpollSocketChannel.class, EpollServerSocketChannel.class)
        : new Transport(false, NioSocketChannel.class, NioServerSocketChannel.class);
  }

  MultiThreadIoEventLoopGroup group(String name, int loops) {
    return new MultiThreadIoEventLoopGroup(
        loops,
        new DefaultThreadFactory(name, true),
        epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory());
  }
}
