package io.fairlead.epp.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Warm-ups that go wrong: the process serves all the same. */
class BrokenWarmUpIT {

  private final EventLoopGroup group = Transport.group("broken-warm-up", 2);

  @AfterEach
  void end() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void endsWhereAClassIsMissing() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    LongSupplier clock =
        () -> {
          if (asked.incrementAndGet() > 1) {
            throw new NoClassDefFoundError("on purpose");
          }
          return System.nanoTime();
        };
    WarmUp warmUp =
        new WarmUp(new WarmUp.Plan(true, false, false, Duration.ofMinutes(1)), group, clock);
    CompletableFuture.runAsync(warmUp::run).get(30, TimeUnit.SECONDS);
    assertThat(asked).hasValueGreaterThan(1);
  }

  @Test
  void waitsForNoAnswerForEver() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        GatewayClient client = new GatewayClient(silent.getLocalPort(), Duration.ofMillis(50))) {
      assertThatThrownBy(() -> client.ask(Sample.all().getFirst()))
          .isInstanceOf(SocketTimeoutException.class)
          .isInstanceOf(IOException.class);
    }
  }
}
