package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.openai.RequestReader;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.ServerChannel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that sends and does not read, in virtual time. */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("NullAway.Init") // set up before each test
class StalledClientIT {

  private static final Duration BOUND = Duration.ofMinutes(5);

  /** Within this after the bound it is noticed. */
  private static final Duration LATE = BOUND.dividedBy(8);

  private static final Duration IDLE = ClientBounds.DEFAULT.idle();
  private static final int MUCH = 100_000;

  /** Bytes a second: between one answer to {@link #HEALTH} in 30 s, and four. */
  private static final int RATE = 20;

  private static final String HEALTH = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String LAST =
      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

  /** A connection whose other end takes a message only when the test says so. */
  private static final class Stuck extends EmbeddedChannel {
    private int room;

    Stuck() {}

    /** One that a server has taken. */
    Stuck(ServerChannel parent) {
      super(parent, DefaultChannelId.newInstance(), true, false);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer out) {
      for (; room > 0 && out.current() != null; room--) {
        out.remove();
      }
    }

    void take(int messages) {
      room = messages;
      flush();
    }
  }

  private static final class ReadCount extends ChannelOutboundHandlerAdapter {
    private int reads;

    @Override
    public void read(ChannelHandlerContext ctx) {
      reads++;
    }
  }

  private Stuck channel;
  private ReadCount asked;
  private Rig rig;
  private ClientConnection connection;

  @BeforeEach
  void connect() {
    connect(ClientBounds.DEFAULT.withStall(BOUND));
  }

  private void reconnect(ClientBounds clients) throws IOException {
    stop();
    connect(clients);
  }

  private void connect(ClientBounds clients) {
    rig = new Rig(Rig.config().withClients(clients));
    channel = new Stuck();
    asked = new ReadCount();
    channel.config().setAutoRead(false);
    channel.freezeTime();
    connection =
        new ClientConnection(
            rig.gateway, channel, resources(channel), new Hop("client", "http", "1.1"));
    channel.pipeline().addLast(asked).addLast(new HttpServerCodec()).addLast(connection);
  }

  private LoopResources resources(EmbeddedChannel channel) {
    BackendPool backends =
        new BackendPool(channel.eventLoop(), rig.gateway.config(), NioSocketChannel.class);
    return new LoopResources(new RequestReader(), backends, Rig.unbounded(), Rig.unbounded());
  }

  @AfterEach
  void stop() throws IOException {
    channel.finishAndReleaseAll();
    rig.close();
  }

  private void send(String text) {
    channel.writeInbound(Unpooled.wrappedBuffer(text.getBytes(US_ASCII)));
  }

  /** Asks as long as the gateway reads. */
  private int askUntilHeldBack() {
    int requests = 0;
    do {
      asked.reads = 0;
      send(HEALTH);
      requests++;
    } while (asked.reads > 0 && requests < MUCH);
    return requests;
  }

  private void pass(Duration time) {
    pass(channel, time);
  }

  private static void pass(EmbeddedChannel channel, Duration time) {
    long step = BOUND.toNanos() / 100;
    for (long left = time.toNanos(); left > 0; left -= step) {
      channel.advanceTimeBy(Math.min(step, left), TimeUnit.NANOSECONDS);
      channel.runScheduledPendingTasks();
    }
  }

  @Test
  void isHeldBackAndServedOnOnceItReads() {
    assertThat(askUntilHeldBack()).isLessThan(MUCH);
    channel.take(MUCH);
    assertThat(channel.isWritable()).isTrue();
    assertThat(asked.reads).isPositive();
  }

  @Test
  void isCutOffAfterTheBound() {
    askUntilHeldBack();
    pass(BOUND.minusNanos(1));
    assertThat(channel.isOpen()).isTrue();
    pass(LATE);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void isCutOffThatTakesALittleNowAndThen() {
    askUntilHeldBack();
    for (int i = 1; i <= 10; i++) {
      pass(BOUND.dividedBy(10));
      assertThat(channel.isOpen()).as("%s of its time", i).isTrue();
      channel.take(1);
      assertThat(channel.isWritable()).isFalse();
    }
    pass(LATE.multipliedBy(2)); // the first answer was all that waited at its end
    assertThat(channel.isOpen()).isFalse();
  }

  /** It asks for as much as it takes. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void isSlowOnlyAsLongAsItTakesTheLeast(int answers) throws IOException {
    reconnect(ClientBounds.DEFAULT.withStall(BOUND).withBody(Duration.ofSeconds(20), RATE));
    askUntilHeldBack();
    for (int i = 0; i < 25 && channel.isOpen(); i++) {
      pass(BOUND.dividedBy(10));
      channel.take(answers);
      for (int j = 0; j < answers && channel.isOpen(); j++) {
        send(HEALTH);
      }
    }
    boolean enough = answers > 1;
    assertThat(channel.isOpen()).isEqualTo(enough);
    pass(BOUND.plus(LATE));
    assertThat(channel.isOpen()).as("it takes nothing any more").isFalse();
  }

  /** Two answers in the kernel's stead: one goes, and the other is a sign that it reads. */
  @ParameterizedTest
  @ValueSource(strings = {HEALTH, LAST})
  void getsTheEndOfAnAnswerAfterItsIdleTimeToo(String second) {
    send(HEALTH);
    send(second);
    assertThat(channel.isWritable()).as("little waits").isTrue();
    pass(BOUND.minusNanos(1));
    assertThat(channel.isOpen()).isTrue();
    channel.take(1);
    pass(BOUND);
    assertThat(channel.isOpen()).as("it takes some now and then").isTrue();
    channel.take(1);
    pass(IDLE.plusSeconds(3));
    assertThat(channel.isOpen()).as("nothing waits, and nothing is asked").isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {HEALTH, LAST})
  void isCutOffThatTakesNothingOfTheEndOfItsAnswer(String request) {
    send(request);
    pass(BOUND.minusNanos(1));
    assertThat(channel.isOpen()).isTrue();
    pass(LATE);
    assertThat(channel.isOpen()).isFalse();
  }

  /** Its timer is gone by then: it ended while the request was served. */
  @Test
  void isCutOffThatTakesNothingOfAnAnswerThatBreaksOff() throws Exception {
    CountDownLatch asked = rig.holdDecisions();
    send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
    pass(IDLE.plusSeconds(3));
    connection.startResponse(
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK), List.of());
    connection.breakOff();
    assertThat(channel.isWritable()).as("little waits").isTrue();
    assertThat(channel.isOpen()).as("the beginning is on its way").isTrue();
    pass(BOUND.plus(LATE));
    assertThat(channel.isOpen()).isFalse();
    asked.countDown();
  }

  /** The streams that wait for it, and the connection. */
  @Test
  void isCutOffThatTakesNothingOfTheEndOfItsAnswersOverHttp2() {
    Stuck second = new Stuck(new LocalServerChannel());
    second.freezeTime();
    new ClientPipelines(rig.gateway, resources(second), null).begin(second);
    second.writeInbound(
        Http2CodecUtil.connectionPrefaceBuf(),
        frame(Http2FrameTypes.SETTINGS, 0, 0, ""),
        frame(Http2FrameTypes.HEADERS, 5, 1, "\u0082\u0086\u0004\u0008/healthz\u0001\u0001x"));
    pass(second, BOUND.minusNanos(1));
    assertThat(second.isOpen()).isTrue();
    pass(second, LATE);
    assertThat(second.isOpen()).isFalse();
    second.finishAndReleaseAll();
  }

  private static ByteBuf frame(int type, int flags, int stream, String payload) {
    return Unpooled.buffer()
        .writeMedium(payload.length())
        .writeByte(type)
        .writeByte(flags)
        .writeInt(stream)
        .writeBytes(payload.getBytes(ISO_8859_1));
  }
}
