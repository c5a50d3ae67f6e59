package io.fairlead.epp.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.Probe;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.ClosedPort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.sockets.ScarceSocket;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
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
    try (RawBackend server = saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) {
      ask(server, "llama-\"8b\"");
      assertThat(answer()).isEmpty();
      RawHttp.Message asked = server.requests.element();
      assertThat(asked.start()).isEqualTo("POST /v1/completions HTTP/1.1");
      assertThat(asked.header("host")).isEqualTo("127.0.0.1:" + server.spec().port());
      assertThat(asked.header("content-type")).isEqualTo("application/json");
      assertThat(asked.text())
          .isEqualTo("{\"model\":\"llama-\\\"8b\\\"\",\"prompt\":\".\",\"max_tokens\":1}");
      await()
          .untilAsserted(
              () -> assertThat(server.closed).as("it has all of the answer").hasValue(1));
    }
  }

  @Test
  void asksForHealthWhereNoModelIsKnown() throws Exception {
    try (RawBackend server = saying("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) {
      ask(server, "");
      assertThat(answer()).isEmpty();
      assertThat(server.requests.element().start()).isEqualTo("GET /health HTTP/1.1");
    }
  }

  @Test
  void linesMayEndWithLineFeedsAlone() throws Exception {
    try (RawBackend server = saying("HTTP/1.1 200 OK\nContent-Length: 2\n\n{}")) {
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
    "501,0,",
    "502,5,UNAVAILABLE",
    "503,5,UNAVAILABLE"
  })
  void tellsByTheStatus(int status, int length, Failure failure) throws Exception {
    String head = "HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n".formatted(status, length);
    try (RawBackend server = saying("HTTP/1.1 100 Continue\r\n\r\n" + head)) {
      ask(server, "m");
      assertThat(answer()).isEqualTo(Optional.ofNullable(failure));
    }
  }

  /** A server that is sick may send heads, and close. */
  @ParameterizedTest
  @ValueSource(strings = {"Content-Length: 100\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\n"})
  void anAnswerThatBreaksOffIsNone(String begun) throws Exception {
    try (RawBackend server = hangingUpAfter("HTTP/1.1 200 OK\r\n" + begun)) {
      ask(server, "m");
      assertThat(answer()).contains(Failure.BROKEN_OFF);
    }
  }

  @Test
  void whoIsInTheMidstOfAnAnswerWorks() throws Exception {
    try (RawBackend server = saying("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}")) {
      ask(prober, server.spec(), "m", Duration.ofSeconds(5)); // it lasts to its end
      assertThat(answer()).isEmpty();
      await().untilAsserted(() -> assertThat(server.closed).hasValue(1));
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
    try (RawBackend server = said.equals(HANG_UP) ? hangingUpAfter("") : saying(said)) {
      ask(prober, server.spec(), "m", failure == Failure.FIRST_BYTE_LATE ? SHORT : LONG);
      assertThat(answer()).contains(failure);
      await().untilAsserted(() -> assertThat(server.closed).hasValue(1));
    }
  }

  @Test
  void tellsThatNobodyListens() throws Exception {
    try (ClosedPort closed = new ClosedPort()) {
      ask(prober, new EndpointSpec("e", "1", "127.0.0.1", closed.number(), Map.of()), "m", LONG);
      assertThat(answer()).contains(Failure.REFUSED);
    }
  }

  @Test
  void tellsThatThereWasNoSocketToAskWith() throws Exception {
    EventLoopGroup nio = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    ScarceSocket.noneLeft(true);
    try (RawBackend server = saying(SILENCE)) {
      ask(new HttpProber(nio.next(), ScarceSocket.class), server.spec(), "m", LONG);
      assertThat(answer()).contains(Failure.NO_SOCKET);
    } finally {
      ScarceSocket.noneLeft(false);
      nio.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }

  private void ask(RawBackend server, String model) {
    ask(prober, server.spec(), model, LONG);
  }

  private void ask(HttpProber from, EndpointSpec endpoint, String model, Duration timeout) {
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

  /** Says this to who asks, and waits until it leaves. */
  private static RawBackend saying(String says) throws IOException {
    return new RawBackend(
        "e",
        (connection, _) -> {
          connection.send(says);
          connection.closed();
          throw new EOFException("closed by the prober");
        });
  }

  /** Says this to who asks, and closes. */
  private static RawBackend hangingUpAfter(String says) throws IOException {
    return new RawBackend(
        "e",
        (connection, _) -> {
          connection.send(says);
          throw new EOFException("that is all");
        });
  }
}
