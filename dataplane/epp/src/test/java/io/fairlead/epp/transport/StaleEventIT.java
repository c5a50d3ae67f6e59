package io.fairlead.epp.transport;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The kernel's events name sockets by numbers, which are given out again. */
class StaleEventIT {

  private final EventLoopGroup loops = Transport.group("stale", 1);
  private final EventLoop loop = loops.next();
  private final List<Throwable> caught = new CopyOnWriteArrayList<>();

  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    assumeTrue(Transport.client(loops).equals(EpollSocketChannel.class));
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void stop() throws IOException {
    loops.shutdownGracefully(0, 5, SECONDS).syncUninterruptibly();
    server.close();
  }

  /**
   * Two connections have something to read at once. Whoever reads the first closes the second and
   * makes a new one, which gets its number, and with it the event that is next.
   */
  @Test
  void anEventOfAConnectionThatIsClosedIsNotTakenForOneOfItsSuccessor() throws Exception {
    InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
    CompletableFuture<Channel> successor = new CompletableFuture<>();
    CompletableFuture<Channel> second = new CompletableFuture<>();
    Channel first =
        bootstrap(
                new ChannelInboundHandlerAdapter() {
                  @Override
                  public void channelRead(ChannelHandlerContext ctx, Object msg) {
                    ReferenceCountUtil.release(msg);
                    var _ = second.join().close();
                    Transport.connectLater(
                        bootstrap(new Catching()),
                        loop,
                        address,
                        successor::complete,
                        successor::completeExceptionally);
                  }
                })
            .connect(address)
            .sync()
            .channel();
    try (Socket toFirst = server.accept()) {
      second.complete(bootstrap(new Catching()).connect(address).sync().channel());
      try (Socket toSecond = server.accept()) {
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch sent = new CountDownLatch(1);
        loop.execute(
            () -> {
              busy.countDown();
              try {
                sent.await();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
        busy.await();
        toFirst.getOutputStream().write("a".getBytes(US_ASCII));
        toSecond.getOutputStream().write("b".getBytes(US_ASCII));
        sent.countDown();

        assertThat(successor.get(10, SECONDS).isActive()).isTrue();
        assertThat(caught).isEmpty();
      }
    }
    first.close().sync();
  }

  private Bootstrap bootstrap(ChannelHandler handler) {
    return new Bootstrap().group(loop).channel(Transport.client(loops)).handler(handler);
  }

  private final class Catching extends ChannelInboundHandlerAdapter {
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      caught.add(cause);
    }
  }
}
