package io.fairlead.lab.hop;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.epp.transport.Transport;
import io.fairlead.lab.Way;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The measuring parts, against each other. */
final class HopIT {

  private static final long SELF = ProcessHandle.current().pid();

  /** Long enough for an answer, also on a machine that is busy. */
  private static final Duration SHORT = Duration.ofSeconds(1);

  private final EventLoopGroup loops = Transport.group("hop", 1);
  private final int port = CannedServer.start(loops, "stub-0", "a 1\n".getBytes(US_ASCII));
  private final URI target = URI.create("http://127.0.0.1:" + port);

  @AfterEach
  void stop() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void answersInOnePieceOrInManyAndCountsItsPages() throws Exception {
    try (PlainConnection connection = new PlainConnection(target)) {
      for (int chunks : new int[] {0, 1, 30}) {
        for (byte[] request : Prompts.requests(300_000, chunks, 0)) {
          connection.send(request);
          assertThat(connection.read()).isEqualTo(200);
        }
      }
    }
    assertThat(get("/metrics")).endsWith("\r\n\r\na 1\n");
    long before = Long.parseLong(get("/pages-read").lines().toList().getLast());
    get("/metrics");
    assertThat(get("/pages-read")).endsWith("\r\n\r\n" + (before + 1));
  }

  private String get(String path) throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket
          .getOutputStream()
          .write(("GET " + path + " HTTP/1.1\r\nhost: x\r\n\r\n").getBytes(US_ASCII));
      socket.shutdownOutput();
      return new String(socket.getInputStream().readAllBytes(), US_ASCII);
    }
  }

  @Test
  void countsWhatWasAnsweredAndWhatItCost() throws Exception {
    Way way = Way.parse("direct," + target + ",self=" + SELF);
    Turn turn = Turn.run(way, Prompts.requests(256, 0, 0), 4, SHORT);
    Turn both = turn.and(Turn.run(way, Prompts.requests(256, 5, 1), 4, SHORT));

    assertThat(turn.requests()).isPositive();
    assertThat(both.requests()).isGreaterThan(turn.requests());
    assertThat(both.failed()).isZero();
    assertThat(both.micros().getTotalCount()).isEqualTo(both.requests());
    assertThat(both.seconds()).isGreaterThan(2);
    assertThat(both.cpuMicros()).containsOnlyKeys("self");
  }

  @Test
  void whatIsNotAnsweredInFullHasFailed() throws Exception {
    try (ServerSocket server = new ServerSocket(0)) {
      Thread.startVirtualThread(
          () -> {
            try {
              while (true) {
                try (Socket client = server.accept()) {
                  client.getInputStream().read();
                  client
                      .getOutputStream()
                      .write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf".getBytes(US_ASCII));
                }
              }
            } catch (IOException closed) {
              // the test is over
            }
          });
      Way way = Way.parse("cut,http://127.0.0.1:" + server.getLocalPort());
      Turn turn = Turn.run(way, Prompts.requests(256, 0, 0), 1, SHORT);
      assertThat(turn.requests()).isZero();
      assertThat(turn.failed()).isPositive();
    }
  }

  @Test
  void aPickerThatDoesNothingIsAskedLikeAnyOther() throws Exception {
    Server picker = NothingPicker.start(List.of("127.0.0.1:" + port));
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", picker.getPort())
            .usePlaintext()
            .directExecutor()
            .build();
    try {
      PickTimes times = new PickTimes();
      List<byte[]> bodies = Prompts.bodies(200_000, false);
      CountDownLatch ended = new CountDownLatch(bodies.size());
      for (byte[] body : bodies) {
        new ProxyStream(body, System.nanoTime(), times, ended::countDown).open(channel);
      }
      assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(times.picked()).isEqualTo(bodies.size());
      assertThat(times.failedCount()).isZero();
      assertThat(times.millis(50)).isPositive();
    } finally {
      channel.shutdownNow();
      picker.shutdownNow();
    }
  }

  @Test
  void aConnectionThatEndsTooSoonIsNoAnswer() throws Exception {
    try (ServerSocket server = new ServerSocket(0);
        PlainConnection connection =
            new PlainConnection(URI.create("http://127.0.0.1:" + server.getLocalPort()))) {
      server.accept().close();
      assertThatThrownBy(connection::read).isInstanceOf(EOFException.class);
    }
  }

  @Test
  void saysWhatIsWrongWithItsArguments() {
    assertThat(Way.parse("a,http://x:1,envoy=12,picker=34").processes())
        .isEqualTo(Map.of("envoy", 12L, "picker", 34L));
    assertThatIllegalArgumentException().isThrownBy(() -> Way.parse("a"));
    assertThatIllegalArgumentException().isThrownBy(() -> Way.parse("a,http://x:1,envoy=x"));
    assertThat(Programs.sizes("1,20")).containsExactly(1, 20);
    assertThatIllegalArgumentException().isThrownBy(() -> Programs.sizes("1,,2"));
  }
}
