package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests that wait in the gateway for a server that takes one at a time. */
class GatewayQueueIT {

  private final Semaphore answers = new Semaphore(0);

  private RawBackend backend() throws Exception {
    return new RawBackend(
        "a",
        (connection, request) -> {
          answers.acquire();
          connection.respond(200, "", "{}");
        });
  }

  private static void queue(Rig rig, Duration ttl) throws Exception {
    queue(rig, ttl, false);
  }

  private static void queue(Rig rig, Duration ttl, boolean evicts) throws Exception {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L))),
            List.of(),
            "room",
            Map.of("flowControl", true),
            new FlowControlConfig(null, 2L, ttl, null, evicts, null, null, null, null, List.of()),
            null,
            List.of());
    PoolConfig config =
        new PoolConfig(
            "n",
            "p",
            Map.of(),
            List.of(1),
            "http",
            List.of(new ModelConfig("spare", Criticality.SHEDDABLE, List.of())),
            scheduler);
    rig.pool.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
  }

  @Test
  void whoWaitsIsServedWhenThereIsRoomAndWhoHangsUpIsNot() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp third = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      try (RawHttp second = rig.connect()) {
        second.post(Rig.CHAT, Rig.BODY);
        await().until(() -> rig.pool.active().get() == 2);
        third.post(Rig.CHAT, Rig.BODY);
        await().until(() -> rig.pool.active().get() == 3);
      }
      await().until(() -> rig.pool.active().get() == 2);
      assertThat(backend.requests).as("sent while the server was busy").hasSize(1);
      answers.release(2);
      assertThat(first.read().status()).isEqualTo(200);
      assertThat(third.read().status()).isEqualTo(200);
      assertThat(backend.requests).hasSize(2);
    }
  }

  @Test
  void whoFindsNoPlaceOrWaitsTooLongIsToldWhenToComeAgain() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect()) {
      queue(rig, Duration.ofSeconds(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      // All at once: none is to have waited too long before the last one comes.
      List<RawHttp> others = new ArrayList<>();
      CountDownLatch held = rig.holdDecisions();
      for (int i = 0; i < 3; i++) {
        RawHttp other = rig.connect();
        others.add(other);
        other.post(Rig.CHAT, Rig.BODY);
      }
      held.countDown();
      List<String> reasons = new ArrayList<>();
      for (RawHttp other : others) {
        reasons.add(refused(other));
        other.close();
      }
      assertThat(reasons).containsExactlyInAnyOrder("queue_full", "queue_timeout", "queue_timeout");
      answers.release();
      assertThat(first.read().status()).isEqualTo(200);
      assertThat(backend.requests).hasSize(1);
    }
  }

  @Test
  void whoHangsUpIsGoneWithinATenthOfASecond() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      long[] nanos = new long[9];
      for (int i = 0; i < nanos.length; i++) {
        RawHttp second = rig.connect();
        second.post(Rig.CHAT, Rig.BODY);
        await().pollInterval(Duration.ofMillis(1)).until(() -> waiting(rig) == 1);
        long from = System.nanoTime();
        second.close();
        await().pollInterval(Duration.ofMillis(1)).until(() -> waiting(rig) == 0);
        nanos[i] = System.nanoTime() - from;
      }
      Arrays.sort(nanos);
      // Where others keep the machine busy, each of them takes longer now and then.
      assertThat(Duration.ofNanos(nanos[2])).as("three of nine").isLessThan(Duration.ofMillis(100));
      answers.release();
      assertThat(first.read().status()).isEqualTo(200);
    }
  }

  @Test
  void whoWaitsWhenTheGatewayEndsIsServedWithinTheBound() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      second.post(Rig.CHAT, Rig.BODY);
      await().until(() -> waiting(rig) == 1);
      Future<?> drained = rig.gateway.drain(Duration.ZERO, Duration.ofSeconds(30));
      answers.release(2);
      assertThat(first.read().status()).isEqualTo(200);
      assertThat(second.read().status()).isEqualTo(200);
      assertThat(drained.await(60, TimeUnit.SECONDS)).isTrue();
    }
  }

  @Test
  void whoWaitsStillAtTheBoundIsToldWhy() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      second.post(Rig.CHAT, Rig.BODY);
      await().until(() -> waiting(rig) == 1);
      Future<?> drained = rig.gateway.drain(Duration.ZERO, Duration.ofSeconds(2));
      RawHttp.Message refused = second.read();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("shutting_down");
      assertThat(drained.await(60, TimeUnit.SECONDS)).isTrue();
      assertThat(backend.requests).as("none was sent that was refused").hasSize(1);
      answers.release();
    }
  }

  /** Its body may have been on its way when those that waited were refused. */
  @Test
  void whoBeginsToWaitWhenOthersWereRefusedIsToldWhyToo() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect();
        RawHttp third = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      second.post(Rig.CHAT, Rig.BODY);
      await().until(() -> waiting(rig) == 1);
      third.send(
          "POST %s HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n".formatted(Rig.CHAT)
              + "expect: 100-continue\r\ncontent-length: %d\r\n\r\n".formatted(Rig.BODY.length()));
      assertThat(third.readHead().status()).isEqualTo(100);
      var _ = rig.gateway.drain(Duration.ZERO, Duration.ofSeconds(2));
      assertThat(second.read().status()).isEqualTo(503);
      third.send(Rig.BODY);
      RawHttp.Message refused = third.read();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("shutting_down");
      answers.release();
    }
  }

  /** As a machine does in the wrong moment: all that was to be done meanwhile is due at once. */
  @Test
  void whoWaitsIsToldWhyAlsoWhereTheGatewayStandsStillUntilTheBound() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, Duration.ofMinutes(1));
      first.post(Rig.CHAT, Rig.BODY);
      await().until(() -> backend.requests.size() == 1);
      second.post(Rig.CHAT, Rig.BODY);
      await().until(() -> waiting(rig) == 1);
      Duration bound = Duration.ofSeconds(1);
      var _ = rig.gateway.drain(Duration.ZERO, bound);
      CountDownLatch held = rig.holdDecisions();
      long over = System.nanoTime() + bound.toNanos();
      await().until(() -> System.nanoTime() - over > 0);
      held.countDown();
      RawHttp.Message refused = second.read();
      assertThat(refused.status()).isEqualTo(503);
      assertThat(refused.header("x-fairlead-reject-reason")).isEqualTo("shutting_down");
      answers.release();
    }
  }

  @Test
  void whoIsSheddableMakesRoomBeforeItsAnswerHasBegun() throws Exception {
    RawBackend backend = backend();
    try (Rig rig = new Rig(Rig.config(), backend);
        RawHttp first = rig.connect();
        RawHttp second = rig.connect()) {
      queue(rig, Duration.ofMinutes(1), true);
      first.post(Rig.CHAT, Rig.BODY.replace("\"m\"", "\"spare\""));
      await().until(() -> backend.requests.size() == 1);
      second.post(Rig.CHAT, Rig.BODY);
      assertThat(refused(first)).isEqualTo("evicted_in_flight");
      await().until(() -> backend.requests.size() == 2);
      answers.release(2);
      assertThat(second.read().status()).isEqualTo(200);
      await().until(() -> rig.pool.active().get() == 0);
    }
  }

  private static int waiting(Rig rig) throws Exception {
    return rig.pool.queues().get().waiting();
  }

  /** Why a request is refused. */
  private static String refused(RawHttp client) throws Exception {
    RawHttp.Message refused = client.read();
    assertThat(refused.status()).isEqualTo(429);
    String reason = refused.header("x-fairlead-reject-reason");
    assertThat(Integer.parseInt(refused.header("retry-after"))).isBetween(1, 60);
    assertThat(refused.text()).contains("\"code\":\"" + reason + "\"");
    return reason;
  }
}
