package io.fairlead.epp.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Failure;
import io.fairlead.epp.sockets.ClosedPort;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kernel says where no connection comes about, on each kind of event loop. */
class FailuresIT {

  enum Loops {
    /** The best kind that there is here. */
    USUAL {
      @Override
      EventLoopGroup start() {
        return Transport.group("test", 1);
      }
    },
    NIO {
      @Override
      EventLoopGroup start() {
        return new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
      }
    };

    abstract EventLoopGroup start();
  }

  private static Future<Void> connect(EventLoopGroup loops, int from, int to) {
    return new Bootstrap()
        .group(loops)
        .channel(Transport.client(loops))
        .option(ChannelOption.SO_REUSEADDR, true)
        .handler(new ChannelInboundHandlerAdapter())
        .connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), to),
            new InetSocketAddress(InetAddress.getLoopbackAddress(), from))
        .awaitUninterruptibly();
  }

  private static void end(EventLoopGroup loops) {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @ParameterizedTest
  @EnumSource
  void aPortAtWhichNobodyListensRefuses(Loops kind) throws IOException {
    EventLoopGroup loops = kind.start();
    try (ClosedPort closed = new ClosedPort()) {
      Future<Void> connected = connect(loops, 0, closed.number());
      assertThat(Failures.ofConnect(connected.cause())).isEqualTo(Failure.REFUSED);
    }
    end(loops);
  }

  /** The one local port that it may use has such a connection already. */
  @ParameterizedTest
  @EnumSource
  void aWantOfLocalPortsIsNobodysFault(Loops kind) throws IOException {
    EventLoopGroup loops = kind.start();
    try (ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
        Socket first = new Socket()) {
      first.setReuseAddress(true);
      first.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      first.connect(server.getLocalSocketAddress());
      Future<Void> connected = connect(loops, first.getLocalPort(), server.getLocalPort());
      assertThat(connected.cause()).hasMessageContaining("Cannot assign requested address");
      assertThat(Failures.ofConnect(connected.cause())).isEqualTo(Failure.NO_SOCKET);
    }
    end(loops);
  }
}
