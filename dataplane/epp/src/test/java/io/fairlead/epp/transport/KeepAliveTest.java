package io.fairlead.epp.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class KeepAliveTest {

  @Test
  void theKernelAsksSilentConnectionsSoon() throws Exception {
    EventLoopGroup group = Transport.group("test", 1);
    assumeTrue(Transport.client(group).equals(EpollSocketChannel.class), "no epoll here");
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Bootstrap bootstrap =
          new Bootstrap()
              .group(group)
              .channel(Transport.client(group))
              .handler(new ChannelInboundHandlerAdapter());
      Transport.keepAlive(bootstrap, Transport.client(group));
      EpollSocketChannel channel =
          (EpollSocketChannel)
              bootstrap
                  .connect(server.getInetAddress(), server.getLocalPort())
                  .syncUninterruptibly()
                  .channel();
      // What the kernel says, not what was asked for.
      assertThat(channel.config().isKeepAlive()).isTrue();
      int patience =
          channel.config().getTcpKeepIdle()
              + channel.config().getTcpKeepCnt() * channel.config().getTcpKeepIntvl();
      assertThat(patience).isEqualTo(25);
      assertThat(channel.config().getTcpUserTimeout())
          .as("while something is on its way, of which it does not ask")
          .isEqualTo(25_000);
      channel.close().syncUninterruptibly();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }
}
