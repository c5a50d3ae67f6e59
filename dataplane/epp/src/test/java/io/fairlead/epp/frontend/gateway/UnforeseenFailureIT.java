package io.fairlead.epp.frontend.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.NoLeaks;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.HttpServerCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A request on which the gateway itself breaks. */
@ExtendWith(NoLeaks.class)
class UnforeseenFailureIT {

  @Test
  @SuppressWarnings("NullAway") // what breaks here is that there is no reader
  void freesItsMemoryAndEndsItsConnection() throws Exception {
    EmbeddedChannel channel = new EmbeddedChannel();
    channel.config().setAutoRead(false);
    try (Rig rig = new Rig(Rig.config())) {
      BackendPool backends =
          new BackendPool(channel.eventLoop(), Rig.config(), NioSocketChannel.class);
      channel
          .pipeline()
          .addLast(new HttpServerCodec())
          .addLast(
              new ClientConnection(
                  rig.gateway,
                  channel,
                  new LoopResources(null, backends, Rig.unbounded(), Rig.unbounded()),
                  new Hop("client", "http", "1.1")));
      String request =
          "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
              .formatted(Rig.CHAT, Rig.BODY.length(), Rig.BODY);
      channel.writeInbound(Unpooled.copiedBuffer(request, US_ASCII));
      channel.runPendingTasks();
      assertThat(channel.isOpen()).isFalse();
      assertThat(rig.bodies.used()).isZero();
    } finally {
      channel.finishAndReleaseAll();
    }
  }
}
