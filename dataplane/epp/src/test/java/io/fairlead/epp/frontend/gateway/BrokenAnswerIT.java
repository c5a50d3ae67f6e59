package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers of which a piece can't be written. */
@ExtendWith(NoLeaks.class)
@SuppressWarnings("NullAway.Init") // set up before each test
class BrokenAnswerIT {

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final FailingWrite writes = new FailingWrite();
  private Rig rig;
  private ClientAnswer answer;

  @BeforeEach
  void connect() {
    rig = new Rig(Rig.config());
    channel.pipeline().addLast(new HttpServerCodec()).addLast(writes);
    DefaultHttpRequest request =
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/health");
    channel.writeInbound(
        Unpooled.copiedBuffer("GET /health HTTP/1.1\r\nHost: x\r\n\r\n", US_ASCII));
    channel.releaseInbound();
    answer = new ClientAnswer(rig.gateway, channel);
    answer.to(request);
  }

  @AfterEach
  void stop() throws IOException {
    channel.finishAndReleaseAll();
    rig.close();
  }

  private String sent() {
    StringBuilder all = new StringBuilder();
    for (ByteBuf next = channel.readOutbound(); next != null; next = channel.readOutbound()) {
      all.append(next.toString(US_ASCII));
      next.release();
    }
    return all.toString();
  }

  private void write() {
    answer.begin(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK), List.of());
    answer.write(new DefaultHttpContent(Unpooled.copiedBuffer("one", US_ASCII)));
    answer.write(new DefaultHttpContent(Unpooled.copiedBuffer("two", US_ASCII)));
    boolean _ = answer.flush();
    answer.write(new DefaultLastHttpContent(Unpooled.copiedBuffer("three", US_ASCII)));
    boolean _ = answer.flush();
    channel.runPendingTasks();
  }

  @Test
  void isWholeWhereAllIsWritten() {
    write();
    assertThat(sent()).endsWith("5\r\nthree\r\n0\r\n\r\n");
    assertThat(channel.isOpen()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void isBrokenOffWhereAPieceIsMissing(int piece) {
    writes.failAfter(piece);
    write();
    assertThat(channel.isOpen()).isFalse();
    assertThat(sent()).doesNotContain("0\r\n\r\n");
  }

  /** The client would wait for it for ever. */
  @Test
  void isBrokenOffToOneOfOurOwn() {
    writes.failAfter(0);
    answer.json(200, new byte[] {'{', '}'});
    channel.runPendingTasks();
    assertThat(channel.isOpen()).isFalse();
  }
}
