package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnfinishedRecordsTest {

  private final ClientBytes all = new ClientBytes(20_000, System::nanoTime, "of the test");
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final Unfinished unfinished = new Unfinished(channel, all);

  UnfinishedRecordsTest() {
    channel.pipeline().addLast(new UnfinishedRecords(unfinished));
  }

  @AfterEach
  void close() {
    channel.finishAndReleaseAll();
  }

  private static ByteBuf record(int length) {
    return Unpooled.buffer().writeByte(23).writeShort(0x0303).writeShort(length).writeZero(length);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 5, 6, 100, 100_000})
  void whatIsWholeIsNotCountedHoweverItComes(int piece) {
    ByteBuf records =
        Unpooled.wrappedBuffer(record(1), record(300), record(0), record(16_640), record(7));
    boolean counted = false;
    while (records.isReadable()) {
      channel.writeInbound(records.readRetainedSlice(Math.min(piece, records.readableBytes())));
      counted |= unfinished.isThere();
    }
    assertThat(unfinished.isThere()).isFalse();
    assertThat(counted).isEqualTo(piece < 100_000);
    records.release();
  }

  @Test
  void whoseIsUnfinishedForLongestMakesRoom() {
    channel.writeInbound(record(16_000).readSlice(15_000));
    EmbeddedChannel other = new EmbeddedChannel();
    other.pipeline().addLast(new UnfinishedRecords(new Unfinished(other, all)));
    other.writeInbound(record(16_000), record(16_000).readSlice(4_000));
    assertThat(channel.isOpen()).isTrue();
    other.writeInbound(Unpooled.buffer().writeZero(2_000));
    assertThat(channel.isOpen()).isFalse();
    assertThat(other.isOpen()).isTrue();
    other.finishAndReleaseAll();
  }

  @Test
  void whoIsGoneTakesNoRoom() {
    channel.writeInbound(record(16_000).readSlice(15_000));
    var _ = channel.close();
    EmbeddedChannel other = new EmbeddedChannel();
    all.add(new Unfinished(other, all), 10_000);
    all.add(new Unfinished(channel, all), 10_000);
    assertThat(other.isOpen()).isTrue();
    other.finishAndReleaseAll();
  }
}
