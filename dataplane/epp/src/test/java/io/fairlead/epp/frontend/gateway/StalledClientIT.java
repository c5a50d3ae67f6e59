package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.openai.RequestReader;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
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
  private static final Duration IDLE = ClientBounds.DEFAULT.idle();
  private static final int MUCH = 100_000;
  private static final String HEALTH = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  private static final String LAST =
      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

  /** A connection whose other end takes a message only when the test says so. */
  private static final class Stuck extends EmbeddedChannel {
    private int room;

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

  private final Stuck channel = new Stuck();
  private final ReadCount asked = new ReadCount();
  private Rig rig;
  private ClientConnection connection;

  @BeforeEach
  void connect() {
    GatewayConfig config = Rig.config().withClients(ClientBounds.DEFAULT.withStall(BOUND));
    rig = new Rig(config);
    channel.config().setAutoRead(false);
    channel.freezeTime();
    BackendPool backends = new BackendPool(channel.eventLoop(), config, NioSocketChannel.class);
    connection =
        new ClientConnection(
            rig.gateway,
            channel,
            new LoopResources(new RequestReader(), backends, Rig.unbounded(), Rig.unbounded()),
            new Hop("client", "http", "1.1"));
    channel.pipeline().addLast(asked).addLast(new HttpServerCodec()).addLast(connection);
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
    pass(BOUND.dividedBy(2));
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void isSlowOnlyWhileItTakesALittleNowAndThen() {
    askUntilHeldBack();
    for (int i = 0; i < 20; i++) {
      pass(BOUND.dividedBy(2));
      channel.take(1);
      assertThat(channel.isWritable()).isFalse();
      assertThat(channel.isOpen()).isTrue();
    }
    pass(BOUND.multipliedBy(2));
    assertThat(channel.isOpen()).isFalse();
  }

  /** Two answers in the kernel's stead: one goes, and the other is a sign that it reads. */
  @ParameterizedTest
  @ValueSource(strings = {HEALTH, LAST})
  void getsTheEndOfAnAnswerAfterItsIdleTimeToo(String second) {
    send(HEALTH);
    send(second);
    assertThat(channel.isWritable()).as("little waits").isTrue();
    pass(BOUND);
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
    pass(BOUND);
    assertThat(channel.isOpen()).isTrue();
    pass(IDLE.plus(BOUND.dividedBy(2)));
    assertThat(channel.isOpen()).isFalse();
  }

  /** Its timer is gone by then: it ended while the request was served. */
  @Test
  void isCutOffThatTakesNothingOfAnAnswerThatBreaksOff() throws Exception {
    CountDownLatch asked = rig.holdDecisions();
    send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
    pass(IDLE.plusSeconds(3));
    connection.startResponse(
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK), "a", List.of());
    connection.breakOff();
    assertThat(channel.isWritable()).as("little waits").isTrue();
    assertThat(channel.isOpen()).as("the beginning is on its way").isTrue();
    pass(IDLE.plus(BOUND).plus(BOUND.dividedBy(2)));
    assertThat(channel.isOpen()).isFalse();
    asked.countDown();
  }
}
