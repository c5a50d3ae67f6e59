package io.fairlead.epp.warmup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A machine on which it takes longer than the whole warm-up until its first request can be sent.
 */
class SlowBeginningIT {

  private static final Duration BOUND = Duration.ofMinutes(1);
  private static final Duration BEGINNING = BOUND.multipliedBy(3);

  private final EventLoopGroup group = Transport.group("slow-beginning", 2);

  @AfterEach
  void end() {
    group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void isWarmedUpNevertheless() {
    AtomicBoolean begun = new AtomicBoolean();
    LongSupplier clock =
        () -> System.nanoTime() + (begun.getAndSet(true) ? BEGINNING.toNanos() : 0);
    WarmUp warmUp = new WarmUp(new WarmUp.Plan(true, true, false, BOUND), group, clock);
    Thread running = Thread.ofPlatform().daemon().start(warmUp::run);
    await().until(() -> warmUp.served() > 0 || !running.isAlive());
    assertThat(warmUp.served()).isPositive();
    warmUp.close();
  }
}
