package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A server's chunks come out of the decoder as the server made them, however the network cut them.
 */
class AnswerChunksTest {

  private static final List<String> CHUNKS =
      List.of(
          "data: {\"choices\":[{\"text\":\"Grüße\"}]}\n\n",
          "data: {\"choices\":[{\"text\":\"鰹節\"}]}\n\ndata: {}\n\n",
          ": ping\n\n",
          "data: [DO",
          "NE]\n\n");

  private static byte[] answer() {
    StringBuilder text = new StringBuilder("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (String chunk : CHUNKS) {
      text.append(Integer.toHexString(chunk.getBytes(UTF_8).length))
          .append("\r\n")
          .append(chunk)
          .append("\r\n");
    }
    return text.append("0\r\n\r\n").toString().getBytes(UTF_8);
  }

  private static List<String> decoded(byte[] answer, int... cuts) {
    EmbeddedChannel channel = new EmbeddedChannel(new AnswerDecoder());
    int from = 0;
    for (int to : cuts) {
      channel.writeInbound(Unpooled.copiedBuffer(answer, from, to - from));
      from = to;
    }
    channel.writeInbound(Unpooled.copiedBuffer(answer, from, answer.length - from));
    List<String> chunks = new ArrayList<>();
    for (Object next = channel.readInbound(); next != null; next = channel.readInbound()) {
      if (next instanceof HttpContent content) {
        if (content.content().isReadable()) {
          chunks.add(content.content().toString(UTF_8));
        }
        content.release();
      }
    }
    channel.finishAndReleaseAll();
    return chunks;
  }

  @Test
  void whereverTheNetworkCuts() {
    byte[] answer = answer();
    for (int first = 0; first <= answer.length; first++) {
      assertThat(decoded(answer, first)).as("cut at %s", first).isEqualTo(CHUNKS);
      for (int second = first; second <= answer.length; second += 7) {
        assertThat(decoded(answer, first, second))
            .as("cut at %s and %s", first, second)
            .isEqualTo(CHUNKS);
      }
    }
  }
}
