package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.PoolCore;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.director.BusyPool;
import io.fairlead.epp.director.PoolLoop;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.transport.Transport;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultEventExecutor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A gateway before a pool whose loop can't keep up. */
class GatewayBusyIT {

  @Test
  void saysSoAndServesTheNextOnTheSameConnection() throws Exception {
    EventLoopGroup group = Transport.group("test", 1);
    DefaultEventExecutor loop = new DefaultEventExecutor();
    Queue<String> events = new ConcurrentLinkedQueue<>();
    PoolLoop pool =
        new PoolLoop(
            new PoolCore(),
            loop,
            System::nanoTime,
            new EventLog(events, new ConcurrentLinkedQueue<>()));
    PoolConfig config =
        new PoolConfig("n", "p", Map.of(), List.of(1), "http", List.of(), SchedulerConfig.DEFAULT);
    pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
    BodyBudget bodies = BodyBudget.ofHeap();
    RawBackend backend =
        new RawBackend("a", (connection, request) -> connection.respond(200, "", "{}"));
    pool.endpoints(List.of(backend.spec())).syncUninterruptibly();
    Gateway gateway =
        Gateway.start(Rig.config(), pool, bodies, group, () -> true, List::of, () -> 1);
    try (RawHttp client = RawHttp.connect(gateway.port())) {
      try (var _ = new BusyPool(pool, loop)) {
        client.post(Rig.CHAT, Rig.BODY);
        RawHttp.Message refused = client.read();
        assertThat(refused.status()).isEqualTo(503);
        assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("picker_busy");
        assertThat(refused.header("retry-after")).isEqualTo("1");
        assertThat(bodies.used()).isZero();
      }
      await().until(() -> pool.active().get() == 0);
      await().untilAsserted(() -> assertThat(events).contains("refused by gateway: picker_busy"));
      client.post(Rig.CHAT, Rig.BODY);
      assertThat(client.read().status()).isEqualTo(200);
      await().until(() -> pool.active().get() == 0);
    } finally {
      gateway.drain(Duration.ZERO, Duration.ZERO).syncUninterruptibly();
      backend.close();
      group.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
      loop.shutdownGracefully(0, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    }
  }
}
