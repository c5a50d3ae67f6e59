package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.lab.Way;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two stubs without a picker between, and a metrics page that says what a picker would. */
final class LoadComparisonIT {

  private static final long SELF = ProcessHandle.current().pid();

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final AtomicLong picks = new AtomicLong();
  private final HttpServer page;

  LoadComparisonIT() throws IOException {
    page = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
  }

  @BeforeEach
  void servePicks() {
    page.createContext(
        "/metrics",
        exchange -> {
          byte[] body =
              "fairlead_endpoint_sent_total{endpoint=\"b\"} %d%n"
                  .formatted(picks.getAndAdd(40))
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    page.start();
  }

  @AfterEach
  void stop() {
    page.stop(0);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void sendsTheSameNumberBothWaysAndCountsNoWarmUp() throws Exception {
    ComparisonReport report = compare("m", SELF);

    assertThat(report.problems()).isEmpty();
    assertThat(report.baseline().load().endpoints()).isEqualTo(Map.of("a", 40L));
    assertThat(report.subject().load().endpoints()).isEqualTo(Map.of("b", 40L));
    assertThat(report.picks()).isEqualTo(Map.of("b", 40L));
    assertThat(report.subject().cpuMicrosPerRequest().get("self")).isNotNegative();
    assertThat(report.baseline().cpuMicrosPerRequest()).isEmpty();
  }

  @Test
  void tellsWhatFailed() throws Exception {
    assertThat(compare("another", SELF).problems())
        .containsExactly(
            "a, warming up: of 10 requests 10 failed {404=10}, 0 were rejected",
            "b, warming up: of 10 requests 10 failed {404=10}, 0 were rejected",
            "a: of 40 requests 40 failed {404=40}, 0 were rejected",
            "b: of 40 requests 40 failed {404=40}, 0 were rejected",
            "b: chosen {b=40}, but answered {}");
  }

  @Test
  void stopsWhenAProcessIsGone() throws Exception {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();

    assertThatIllegalStateException()
        .isThrownBy(() -> compare("m", gone.pid()))
        .withMessage("b has no process self (%d) any more", gone.pid());
  }

  private ComparisonReport compare(String asked, long pid) throws Exception {
    try (ModelServer a = server("a");
        ModelServer b = server("b")) {
      return LoadComparison.compare(
          new LoadOptions(
              new Way("a", URI.create(a.url()), Map.of()),
              new Way("b", URI.create(b.url()), Map.of("self", pid)),
              URI.create(
                  "http://"
                      + page.getAddress().getAddress().getHostAddress()
                      + ":"
                      + page.getAddress().getPort()
                      + "/metrics"),
              asked,
              40,
              500,
              3,
              10,
              1,
              Path.of("unused")));
    }
  }

  private ModelServer server(String name) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "m").instant().promptTokensDetails(true).build(), loops);
  }
}
