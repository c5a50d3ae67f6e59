package io.fairlead.epp.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.access.PageAccess;
import io.fairlead.epp.console.Access;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the pages do when what they show can't be had. */
class AdminServerIT {

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  @AfterEach
  void stop() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** Hands over nothing, and can tell nothing at once. */
  private static AdminServer.Pages broken() {
    return (AdminServer.Pages)
        Proxy.newProxyInstance(
            AdminServer.Pages.class.getClassLoader(),
            new Class<?>[] {AdminServer.Pages.class},
            (proxy, method, arguments) -> {
              if (method.getReturnType().equals(Future.class)) {
                return GlobalEventExecutor.INSTANCE.newSucceededFuture(null);
              }
              if (method.getReturnType().equals(PageAccess.class)) {
                return null;
              }
              throw new IllegalStateException("of the test");
            });
  }

  /** Else who asks waits until the connection counts as idle. */
  @ParameterizedTest
  @ValueSource(strings = {"/metrics", "/readyz", "/debug/status", "/debug/shadows"})
  void aPageThatCannotBeRenderedIsAnswered(String path) throws Exception {
    try (AdminServer server =
            AdminServer.start(
                "127.0.0.1",
                0,
                loops,
                NioServerSocketChannel.class,
                broken(),
                Access.of(null),
                null);
        RawHttp client = RawHttp.connect(server.port())) {
      client.send("GET %s HTTP/1.1\r\nhost: localhost\r\n\r\n".formatted(path));
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).isEqualTo(500);
      assertThat(answer.text()).contains("the log says why");
      assertThat(client.closed()).isTrue();
    }
  }
}
