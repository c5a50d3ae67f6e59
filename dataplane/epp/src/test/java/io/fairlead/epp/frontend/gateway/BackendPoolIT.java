package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Failure;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.ScarceSocket;
import io.fairlead.epp.transport.Failures;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connections of one loop where the process has no file descriptor left. */
@ExtendWith(NoLeaks.class)
class BackendPoolIT {

  private final EventLoopGroup group =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final EventLoop loop = group.next();
  private final ClosedPort nobody;
  private final InetSocketAddress address;

  BackendPoolIT() throws IOException {
    nobody = new ClosedPort();
    address = new InetSocketAddress(InetAddress.getLoopbackAddress(), nobody.number());
  }

  /** Waits for a connection. */
  private final class User implements BackendConnection.User {
    private final Queue<String> told = new ConcurrentLinkedQueue<>();
    private final CountDownLatch end = new CountDownLatch(1);

    @Override
    public void opened(BackendConnection connection) {
      told.add("opened");
      end.countDown();
    }

    @Override
    public void openFailed(Throwable cause) {
      told.add(Failures.ofConnect(cause) + (loop.inEventLoop() ? "" : " on another thread"));
      end.countDown();
    }

    @Override
    public void written() {}

    @Override
    public void head(HttpResponse response) {}

    @Override
    public void content(HttpContent content) {
      content.release();
    }

    @Override
    public void last(LastHttpContent content) {
      content.release();
    }

    @Override
    public boolean readyForMore() {
      return true;
    }

    @Override
    public void broken(boolean byteSeen, boolean reused) {}

    @Override
    public void refused(OpenAiError why) {}

    @Override
    public void unprocessed(boolean reused) {}

    @Override
    public void outOfMemory() {}
  }

  @AfterEach
  void stop() throws IOException {
    nobody.close();
    ScarceSocket.noneLeft(false);
    group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoeverWaitsForOneIsToldOnItsLoopAndTheNextGetsOneWhenThereIsSome(boolean http2)
      throws Exception {
    ScarceSocket.noneLeft(true);
    User first = new User();
    User second = new User();
    BackendPool pool =
        loop.submit(() -> new BackendPool(loop, Rig.config(), ScarceSocket.class)).get();
    loop.submit(
            () -> {
              pool.speakHttp2(http2);
              pool.open(address, true, first);
              pool.open(address, true, second);
            })
        .get();
    for (User user : new User[] {first, second}) {
      assertThat(user.end.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(user.told).containsExactly(Failure.NO_SOCKET.toString());
    }
    ScarceSocket.noneLeft(false);
    User third = new User();
    loop.submit(() -> pool.open(address, true, third)).get();
    assertThat(third.end.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(third.told).as("nobody listens there").containsExactly(Failure.REFUSED.toString());
    loop.submit(pool::close).get();
  }
}
