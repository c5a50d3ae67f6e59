package io.fairlead.epp.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Probe;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.ScarceSocket;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Probes of servers that answer, and of those that don't. */
@ExtendWith(NoLeaks.class)
class HttpProberIT {

  private static final String SILENCE = "";

  /** Of probes to which an answer comes: a busy machine may take its time for it. */
  private static final Duration LONG = Duration.ofSeconds(10);

  /** Of those that wait to their end. */
  private static final Duration SHORT = Duration.ofMillis(500);

  private static final String HANG_UP = "hang up";

  private final EventLoopGroup group = Transport.group("test", 1);
  private final HttpProber prober = new HttpProber(group.next(), Transport.client(group));
  private final Queue<Optional<Failure>> answers = new ConcurrentLinkedQueue<>();

  @AfterEach
  void stop() {
    group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void asksForOneTokenOfTheModel() throws Exception {
    try (Server server = new Server("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) {
      ask(server, "llama-\"8b\"");
      assertThat(answer()).isEmpty();
      assertThat(server.request())
          .startsWith("POST /v1/completions HTTP/1.1\r\n")
          .containsIgnoringCase("\r\nhost: 127.0.0.1:" + server.port() + "\r\n")
          .containsIgnoringCase("\r\ncontent-type: application/json\r\n")
          .endsWith("\r\n\r\n{\"model\":\"llama-\\\"8b\\\"\",\"prompt\":\".\",\"max_tokens\":1}");
      await()
          .untilAsserted(() -> assertThat(server.closed).as("it has all of the answer").isTrue());
    }
  }

  @Test
  void asksForHealthWhereNoModelIsKnown() throws Exception {
    try (Server server = new Server("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
      ask(server, "");
      assertThat(answer()).isEmpty();
      assertThat(server.request()).startsWith("GET /health HTTP/1.1\r\n");
    }
  }

  @Test
  void linesMayEndWithLineFeedsAlone() throws Exception {
    try (Server server = new Server("HTTP/1.1 200 OK\nContent-Length: 2\n\n{}")) {
      ask(server, "m");
      assertThat(answer()).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "401,5,",
    "404,0,",
    "429,5,",
    "500,0,UNAVAILABLE",
    "500,5,ERROR",
    "501,0,ERROR",
    "502,5,UNAVAILABLE",
    "503,5,UNAVAILABLE"
  })
  void tellsByTheStatus(int status, int length, Failure failure) throws Exception {
    String head = "HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n".formatted(status, length);
    try (Server server = new Server("HTTP/1.1 100 Continue\r\n\r\n" + head)) {
      ask(server, "m");
      assertThat(answer()).isEqualTo(Optional.ofNullable(failure));
    }
  }

  /** A server that is sick may send heads, and close. */
  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 100\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n"})
  void anAnswerThatBreaksOffIsNone(String begun) throws Exception {
    try (Server server = new Server("HTTP/1.1 200 OK\r\n" + begun, true)) {
      ask(server, "m");
      assertThat(answer()).contains(Failure.BROKEN_OFF);
    }
  }

  @Test
  void whoIsInTheMidstOfAnAnswerWorks() throws Exception {
    try (Server server = new Server("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")) {
      ask(prober, server, "m", Duration.ofSeconds(2));
      assertThat(answer()).isEmpty();
      await().untilAsserted(() -> assertThat(server.closed).isTrue());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'',FIRST_BYTE_LATE",
    "hang up,DIED",
    "'so it goes\r\n\r\n',ERROR",
    "'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',FIRST_BYTE_LATE",
    "HTTP/1.1 20,FIRST_BYTE_LATE"
  })
  void tellsHowItGotNoAnswer(String said, Failure failure) throws Exception {
    try (Server server = new Server(said)) {
      ask(prober, server, "m", failure == Failure.FIRST_BYTE_LATE ? SHORT : LONG);
      assertThat(answer()).contains(failure);
      await().untilAsserted(() -> assertThat(server.closed).isTrue());
    }
  }

  @Test
  void tellsThatNobodyListens() throws Exception {
    Server gone = new Server(SILENCE);
    gone.close();
    ask(gone, "m");
    assertThat(answer()).contains(Failure.REFUSED);
  }

  @Test
  void tellsThatThereWasNoSocketToAskWith() throws Exception {
    EventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ScarceSocket.noneLeft(true);
    try (Server server = new Server(SILENCE)) {
      ask(new HttpProber(nio.next(), ScarceSocket.class), server, "m", LONG);
      assertThat(answer()).contains(Failure.NO_SOCKET);
    } finally {
      ScarceSocket.noneLeft(false);
      nio.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }

  private void ask(Server server, String model) {
    ask(prober, server, model, LONG);
  }

  private void ask(HttpProber from, Server server, String model, Duration timeout) {
    EndpointSpec endpoint = new EndpointSpec("e", "1", "127.0.0.1", server.port(), Map.of());
    from.ask(
        new Probe(1, endpoint, model, timeout.toNanos()),
        failure -> answers.add(Optional.ofNullable(failure)));
  }

  /** The one answer to the one probe. */
  private Optional<Failure> answer() {
    await().until(() -> !answers.isEmpty());
    assertThat(answers).hasSize(1);
    return answers.element();
  }

  /** Says one thing to everybody, once it has heard something. */
  private static final class Server implements Closeable {
    private static final Pattern LENGTH = Pattern.compile("(?i)\r\ncontent-length: (\\d+)\r\n");

    private final ServerSocket server = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
    private final String says;
    private final boolean hangsUp;
    private final Thread serving;
    private volatile String heard = "";
    volatile boolean closed;

    Server(String says) throws IOException {
      this(says, false);
    }

    /**
     * @param hangsUp whether it closes when it has said it
     */
    Server(String says, boolean hangsUp) throws IOException {
      this.says = says;
      this.hangsUp = hangsUp;
      serving = Thread.startVirtualThread(this::serve);
    }

    private void serve() {
      try (Socket socket = server.accept()) {
        byte[] bytes = new byte[8_192];
        heard = request(socket.getInputStream());
        if (!says.equals(HANG_UP)) {
          socket.getOutputStream().write(says.getBytes(StandardCharsets.UTF_8));
          closed = hangsUp || socket.getInputStream().read(bytes) < 0;
        }
      } catch (IOException e) {
        // Closed by the test, or reset by the prober.
      }
      closed = true;
    }

    /** All of it: a first read may bring a part. */
    private static String request(InputStream from) throws IOException {
      StringBuilder head = new StringBuilder();
      while (head.indexOf("\r\n\r\n") < 0) {
        int next = from.read();
        if (next < 0) {
          throw new EOFException("closed after '" + head + "'");
        }
        head.append((char) next);
      }
      Matcher length = LENGTH.matcher(head);
      int body = length.find() ? Integer.parseInt(length.group(1)) : 0;
      return head + new String(from.readNBytes(body), StandardCharsets.UTF_8);
    }

    int port() {
      return server.getLocalPort();
    }

    String request() {
      return heard;
    }

    /** Returns when the port refuses: a thread that waits for a connection holds it open. */
    @Override
    public void close() throws IOException {
      server.close();
      try {
        serving.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
