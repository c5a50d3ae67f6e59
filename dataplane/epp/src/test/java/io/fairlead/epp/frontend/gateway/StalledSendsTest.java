package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StalledSendsTest {

  private final ArrayDeque<ChannelPromise> unsent = new ArrayDeque<>();
  private final AtomicInteger stalled = new AtomicInteger();

  /** Of an endpoint that takes a frame when the test says so. */
  private final EmbeddedChannel channel =
      new EmbeddedChannel(
          new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
              unsent.add(promise);
            }
          },
          new StalledSends(Duration.ofSeconds(25), stalled::incrementAndGet));

  StalledSendsTest() {
    channel.freezeTime();
  }

  private void send() {
    var _ = channel.writeAndFlush("frame");
  }

  private void pass(long seconds) {
    channel.advanceTimeBy(seconds, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
  }

  @Test
  void anEndpointThatTakesNothingIsGivenUp() {
    send();
    pass(24);
    channel.checkException();
    assertThat(stalled).hasValue(0);
    pass(1);
    assertThatThrownBy(channel::checkException).isInstanceOf(IOException.class);
    assertThat(stalled).hasValue(1);
  }

  @Test
  void oneThatTakesAFrameNowAndThenIsNot() {
    send();
    for (int i = 0; i < 10; i++) {
      send();
      pass(24);
      unsent.remove().setSuccess();
    }
    pass(24);
    channel.checkException();
    pass(1);
    assertThatThrownBy(channel::checkException).isInstanceOf(IOException.class);
  }

  @Test
  void timeInWhichThereIsNothingToSendDoesNotCount() {
    send();
    unsent.remove().setSuccess();
    pass(100);
    send();
    pass(24);
    channel.checkException();
    assertThat(stalled).hasValue(0);
  }

  @Test
  void nothingIsLookedAtWhenAllWasTaken() {
    send();
    unsent.remove().setSuccess();
    pass(25);
    assertThat(channel.hasPendingTasks()).isFalse();
  }

  @Test
  void orWhenTheStreamIsOver() {
    send();
    var _ = channel.close();
    pass(100);
    channel.checkException();
    assertThat(channel.hasPendingTasks()).isFalse();
    assertThat(stalled).hasValue(0);
  }
}
