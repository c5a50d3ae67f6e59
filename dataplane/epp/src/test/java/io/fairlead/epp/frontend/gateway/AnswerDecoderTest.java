package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.ReferenceCountUtil;
import org.junit.jupiter.api.Test;

class AnswerDecoderTest {

  private static final int READ = 1_000;

  /** Reads end within a chunk as a rule, and pieces are in use until the client is written to. */
  @Test
  void whatItKeepsDoesNotGrowWithTheAnswer() {
    UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
    EmbeddedChannel channel = new EmbeddedChannel(new AnswerDecoder());
    channel.config().setAllocator(buffers);
    String chunk = "2bc\r\n" + "x".repeat(0x2bc) + "\r\n";
    String head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    byte[] answer = (head + chunk.repeat(5_000)).getBytes(US_ASCII);
    long most = 0;
    int pieces = 0;
    for (int from = 0; from + READ <= answer.length; from += READ) {
      channel.writeInbound(buffers.buffer(READ).writeBytes(answer, from, READ));
      most = Math.max(most, buffers.metric().usedHeapMemory());
      for (Object next = channel.readInbound(); next != null; next = channel.readInbound()) {
        ReferenceCountUtil.release(next);
        pieces++;
      }
    }
    assertThat(pieces).as("of 5,000 chunks, and a head").isGreaterThan(4_990);
    assertThat(most).as("bytes, of 3.5 MB").isLessThan(20_000);
    channel.finishAndReleaseAll();
    assertThat(buffers.metric().usedHeapMemory()).isZero();
  }
}
