package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.openai.RequestReader;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Clients that send slowly, on purpose or by nature; in virtual time. */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("NullAway.Init") // set up before each test
class SlowClientIT {

  private static final Duration HEAD = Duration.ofSeconds(5);
  private static final Duration IDLE = Duration.ofSeconds(30);
  private static final Duration WINDOW = Duration.ofSeconds(10);

  /** For so long it is read on, so that it gets its answer. */
  private static final Duration LINGER = Duration.ofSeconds(1);

  private static final Duration STEP = Duration.ofMillis(100);
  private static final String HEALTH = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String POST =
      "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n";

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final ClientBytes unfinished = new ClientBytes(2_000, () -> 0, "of the test");
  private Rig rig;
  private ClientConnection connection;

  @BeforeEach
  void connect() {
    GatewayConfig config =
        Rig.config()
            .withClients(
                ClientBounds.DEFAULT.withHead(HEAD).withIdle(IDLE).withBody(WINDOW, 1_000));
    rig = new Rig(config);
    channel.config().setAutoRead(false);
    channel.freezeTime();
    BackendPool backends = new BackendPool(channel.eventLoop(), config, NioSocketChannel.class);
    connection =
        new ClientConnection(
            rig.gateway,
            channel,
            new LoopResources(new RequestReader(), backends, Rig.unbounded(), unfinished),
            new Hop("client", "http", "1.1"));
    connection.addTo(channel.pipeline());
  }

  @AfterEach
  void stop() throws IOException {
    channel.finishAndReleaseAll();
    rig.close();
  }

  private void send(String text) {
    channel.writeInbound(Unpooled.wrappedBuffer(text.getBytes(US_ASCII)));
  }

  /** Sends so many bytes every {@link #STEP}, for so long or until the connection is closed. */
  private Duration drip(int bytes, Duration atMost) {
    Duration passed = Duration.ZERO;
    while (channel.isOpen() && passed.compareTo(atMost) < 0) {
      if (bytes > 0) {
        send("x".repeat(bytes));
      }
      channel.advanceTimeBy(STEP.toNanos(), TimeUnit.NANOSECONDS);
      channel.runScheduledPendingTasks();
      passed = passed.plus(STEP);
    }
    return passed;
  }

  private String answer() {
    StringBuilder all = new StringBuilder();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.append(next.toString(US_ASCII));
      next.release();
    }
    return all.toString();
  }

  @Test
  void oneThatAsksNothingIsClosed() {
    assertThat(drip(0, IDLE.multipliedBy(2))).isEqualTo(IDLE);
  }

  @Test
  void bytesOfAHeadDoNotProlongItsTime() {
    send("GET /health HTTP/1.1\r\nX: ");
    assertThat(drip(1, IDLE)).isEqualTo(HEAD);
  }

  @Test
  void aHeadAfterARequestHasItsTimeFromItsFirstByte() {
    send(HEALTH);
    assertThat(drip(0, HEAD.multipliedBy(2))).as("at rest").isEqualTo(HEAD.multipliedBy(2));
    assertThat(answer()).startsWith("HTTP/1.1 200 OK");
    assertThat(drip(1, IDLE)).isEqualTo(HEAD);
  }

  @Test
  void whereMuchOfHeadsIsUnfinishedTheOldestMakesRoom() {
    send("GET /health HTTP/1.1\r\nX: " + "x".repeat(1_500));
    assertThat(anotherBegins(400)).isTrue();
    assertThat(channel.isOpen()).isTrue();
    send("x".repeat(100));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void aBodyAndWhatIsWholeTakeNoRoomFromHeads() {
    send("GET /health HTTP/1.1\r\nX: " + "x".repeat(1_500) + "\r\nHost: x\r\n\r\n");
    send(POST + "x".repeat(5_000));
    assertThat(anotherBegins(2_000)).isTrue();
    assertThat(channel.isOpen()).isTrue();
  }

  /** Has so many bytes of another client's head wait; whether it may. */
  private boolean anotherBegins(long bytes) {
    EmbeddedChannel another = new EmbeddedChannel();
    unfinished.add(new Unfinished(another, unfinished), bytes);
    boolean open = another.isOpen();
    another.finishAndReleaseAll();
    return open;
  }

  @Test
  void anEmptyLineBehindARequestBeginsNoHead() {
    send(HEALTH + "\r\n");
    assertThat(answer()).startsWith("HTTP/1.1 200 OK");
    assertThat(drip(0, IDLE.multipliedBy(2))).isEqualTo(IDLE);
  }

  @Test
  void aHeadThatBeginsBehindARequestHasItsTimeToo() {
    send(HEALTH + "GET /health HTTP/1.1\r\nX: ");
    assertThat(answer()).startsWith("HTTP/1.1 200 OK");
    assertThat(drip(0, IDLE)).isEqualTo(HEAD);
  }

  @Test
  void behindARequestThatIsServedItHasItsTimeFromTheAnswer() throws Exception {
    CountDownLatch asked = rig.holdDecisions();
    send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nX: ");
    assertThat(drip(0, HEAD.multipliedBy(2))).isEqualTo(HEAD.multipliedBy(2));
    connection.answer(Target.error(404, "none", "None."));
    assertThat(drip(0, IDLE)).isEqualTo(HEAD);
    asked.countDown();
  }

  @Test
  void aHeadThatBeginsBehindARequestTakesRoomToo() {
    send(HEALTH + "GET /health HTTP/1.1\r\nX: " + "x".repeat(1_500));
    assertThat(anotherBegins(1_000)).isTrue();
    assertThat(channel.isOpen()).isFalse();
  }

  /** It can't be read before it is whole. */
  @Test
  void partOfARecordOfTlsTakesRoomToo() {
    ServingSecurity.Ready security =
        new ServingSecurity.SelfSigned().ready(ServingSecurity.Protocols.HTTP);
    EmbeddedChannel secure = new EmbeddedChannel();
    BackendPool backends =
        new BackendPool(secure.eventLoop(), rig.gateway.config(), NioSocketChannel.class);
    LoopResources resources =
        new LoopResources(new RequestReader(), backends, Rig.unbounded(), unfinished);
    new ClientPipelines(rig.gateway, resources, security.ssl()).begin(secure);
    secure.writeInbound(
        Unpooled.buffer().writeByte(22).writeShort(0x0301).writeShort(2_000).writeZero(1_500));
    assertThat(anotherBegins(400)).isTrue();
    assertThat(secure.isOpen()).isTrue();
    secure.writeInbound(Unpooled.buffer().writeZero(100));
    assertThat(secure.isOpen()).isFalse();
    secure.finishAndReleaseAll();
  }

  /** However few bytes they came in: fields cost much more. */
  @Test
  void requestsThatWaitBehindOneThatIsServedTakeRoomUntilTheirTurn() throws Exception {
    CountDownLatch asked = rig.holdDecisions();
    String fields = "GET /health HTTP/1.1\r\nHost: x\r\n" + "a:\r\n".repeat(10) + "\r\n";
    send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n" + fields);
    assertThat(anotherBegins(500)).isTrue();
    assertThat(channel.isOpen()).isTrue();
    connection.answer(Target.error(404, "none", "None."));
    assertThat(anotherBegins(1_999)).isTrue();
    assertThat(channel.isOpen()).as("it takes nothing any more").isTrue();

    send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n" + fields);
    assertThat(anotherBegins(1_000)).isTrue();
    assertThat(channel.isOpen()).isFalse();
    asked.countDown();
  }

  @Test
  void aBodyThatComesMoreSlowlyThanTheLeastGets408() {
    send(POST);
    assertThat(drip(99, IDLE)).isEqualTo(WINDOW.plus(LINGER));
    assertThat(answer())
        .startsWith("HTTP/1.1 408 ")
        .contains("connection: close", "1000 bytes a second");
    rig.awaitEvents("refused by gateway: request_timeout");
  }

  @Test
  void aBodyAtTheLeastMayTakeLongerThanAWindow() {
    send(POST);
    assertThat(drip(100, WINDOW.multipliedBy(6))).isEqualTo(WINDOW.multipliedBy(6));
    assertThat(answer()).isEmpty();
    assertThat(drip(1, IDLE)).as("once it gets slower").isEqualTo(WINDOW.plus(LINGER));
    assertThat(answer()).startsWith("HTTP/1.1 408 ");
  }

  @Test
  void theRestOfARefusedBodyHasToComeAsQuickly() {
    send("POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n");
    assertThat(answer()).startsWith("HTTP/1.1 404 ");
    assertThat(drip(10, IDLE)).isEqualTo(WINDOW);
  }
}
