package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnfinishedFramesTest {

  private static final int END_HEADERS = 4;

  private final ClientBytes all = new ClientBytes(1_000, System::nanoTime, "of the test");
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Unfinished unfinished = new Unfinished(channel, all);

  UnfinishedFramesTest() {
    channel.freezeTime();
    channel.pipeline().addLast(new UnfinishedFrames(unfinished, Duration.ofSeconds(30)));
    channel.writeInbound(Http2CodecUtil.connectionPrefaceBuf());
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static ByteBuf frame(int type, int flags, int length) {
    return Unpooled.buffer()
        .writeMedium(length)
        .writeByte(type)
        .writeByte(flags)
        .writeInt(1)
        .writeZero(length);
  }

  private static ByteBuf head(int length) {
    return frame(Http2FrameTypes.HEADERS, 0, length);
  }

  private void pass(long seconds) {
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, 9, 50, 1_000})
  void whatIsWholeIsNotCountedHoweverItComes(int piece) {
    ByteBuf frames =
        Unpooled.wrappedBuffer(
            frame(Http2FrameTypes.SETTINGS, 0, 0),
            head(100),
            frame(Http2FrameTypes.CONTINUATION, 0, 0),
            frame(Http2FrameTypes.CONTINUATION, END_HEADERS, 10),
            frame(Http2FrameTypes.DATA, 0, 300),
            frame(Http2FrameTypes.HEADERS, END_HEADERS, 3));
    boolean counted = false;
    while (frames.isReadable()) {
      channel.writeInbound(frames.readRetainedSlice(Math.min(piece, frames.readableBytes())));
      counted |= unfinished.isThere();
    }
    assertThat(unfinished.isThere()).isFalse();
    assertThat(counted).isEqualTo(piece < 1_000);
    frames.release();
  }

  @Test
  void whoseIsUnfinishedForLongestMakesRoom() {
    channel.writeInbound(head(600));
    EmbeddedChannel other = new EmbeddedChannel();
    other
        .pipeline()
        .addLast(new UnfinishedFrames(new Unfinished(other, all), Duration.ofSeconds(30)));
    other.writeInbound(Http2CodecUtil.connectionPrefaceBuf(), head(300));
    assertThat(channel.isOpen()).isTrue();
    other.writeInbound(frame(Http2FrameTypes.CONTINUATION, 0, 300));
    assertThat(channel.isOpen()).isFalse();
    assertThat(other.isOpen()).isTrue();
    other.finishAndReleaseAll();
  }

  @Test
  void whoIsGoneTakesNoRoom() {
    channel.writeInbound(head(600));
    var _ = channel.close();
    EmbeddedChannel first = new EmbeddedChannel();
    EmbeddedChannel second = new EmbeddedChannel();
    all.add(new Unfinished(first, all), 500);
    all.add(new Unfinished(second, all), 500);
    assertThat(first.isOpen()).isTrue();
    first.finishAndReleaseAll();
    second.finishAndReleaseAll();
  }

  @Test
  void aHeadThatTakesTooLongEndsTheConnection() {
    channel.writeInbound(head(100));
    pass(20);
    channel.writeInbound(frame(Http2FrameTypes.CONTINUATION, 0, 100));
    pass(9);
    assertThat(channel.isOpen()).isTrue();
    pass(1);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void eachFrameHasItsOwnTime() {
    ByteBuf data = Unpooled.wrappedBuffer(frame(Http2FrameTypes.DATA, 0, 100));
    for (int i = 0; i < 5; i++) {
      ByteBuf next = Unpooled.wrappedBuffer(data.copy(), data.copy());
      channel.writeInbound(next.readRetainedSlice(50));
      pass(20);
      channel.writeInbound(next.readRetainedSlice(100));
      pass(20);
      assertThat(channel.isOpen()).isTrue();
      channel.writeInbound(next);
    }
    data.release();
    pass(100);
    assertThat(channel.isOpen()).isTrue();
    assertThat(channel.hasPendingTasks()).isFalse();
  }
}
