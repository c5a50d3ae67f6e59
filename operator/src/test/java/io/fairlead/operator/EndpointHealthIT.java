package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.fairlead.crds.testing.FreePort;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Model servers that are Ready and don't answer, as the pool tells of them: the operator, a picker
 * and the servers' ports, all real.
 */
@ExtendWith(KubeApi.class)
class EndpointHealthIT {

  private static Installed cluster;

  private final List<HttpServer> servers = new ArrayList<>();
  private int port;
  private volatile int waiting;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @AfterEach
  void stopServers() {
    servers.forEach(server -> server.stop(0));
  }

  @Test
  void thePoolTellsWhichOfItsEndpointsDoNotAnswer() throws Exception {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("health"));
    port = FreePort.find();
    for (int i = 1; i <= 3; i++) {
      serve(address(i));
    }
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPoolAt(port);
      for (int i = 1; i <= 4; i++) {
        pool.createModelServer("server-" + i, address(i));
      }
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker picker = new Picker(cluster, pool)) {
        awaitMessage(
            pool,
            "True/EndpointsReady",
            "3 of 4 endpoints answer; %s/server-4:%d refuses connections since \\S+Z"
                .formatted(pool.namespace(), port));
        assertThat(picker.notReady()).isEmpty();
        String told = pool.poolMessage("EndpointsAvailable");

        servers.forEach(server -> server.stop(0));
        awaitMessage(
            pool,
            "False/NoEndpointAnswers",
            "No endpoint answers: %1$s/server-1:%2$d refuses connections since \\S+Z; %1$s/server-2:.*; and 1 more"
                .formatted(pool.namespace(), port));

        servers.clear();
        for (int i = 1; i <= 3; i++) {
          serve(address(i));
        }
        awaitMessage(pool, "True/EndpointsReady", Pattern.quote(told));
        serve(address(4));
        awaitMessage(pool, "True/EndpointsReady", "The pool has ready endpoints");
      }
    }
  }

  @Test
  void thePoolAndItsModelsTellSinceWhenThereIsNoRoom() throws Exception {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("full"));
    port = FreePort.find();
    serve(address(1));
    try (OperatorUnderTest _ = OperatorUnderTest.paced(cluster, pool, OperatorUnderTest.UNSTEADY)) {
      pool.createPoolAt(port);
      pool.createModel("chat", "chat", 50);
      pool.createModelServer("server-1", address(1));
      pool.awaitPool("Ready", "False/RolloutInProgress");
      pool.becomeAvailable();
      try (Picker _ = new Picker(cluster, pool)) {
        pool.awaitPool("Saturated", "False/RoomForRequests");
        pool.awaitModel("chat", "Saturated", "False/RoomForRequests");

        waiting = 100;
        await()
            .atMost(Duration.ofSeconds(90))
            .untilAsserted(
                () ->
                    assertThat(pool.poolMessage("Saturated"))
                        .matches("No endpoint has room for more requests since \\S+Z; start .*"));
        pool.awaitPool("Saturated", "True/EveryEndpointFull");
        pool.awaitModel("chat", "Saturated", "True/EveryEndpointFull");
        assertThat(pool.poolConditions()).containsEntry("Ready", "True/Ready");

        waiting = 0;
        await()
            .atMost(Duration.ofSeconds(90)) // there must be room for a while
            .untilAsserted(
                () ->
                    assertThat(pool.poolConditions())
                        .containsEntry("Saturated", "False/RoomForRequests"));
        pool.awaitModel("chat", "Saturated", "False/RoomForRequests");
        // More than once each, where this machine stands still and what was scraped is old.
        await()
            .untilAsserted(
                () ->
                    assertThat(saturationEvents(pool))
                        .containsOnly(
                            "EndpointPicker Warning",
                            "EndpointPicker Normal",
                            "InferencePool Warning",
                            "InferencePool Normal"));
      }
    }
  }

  private static List<String> saturationEvents(PoolFixture pool) {
    return cluster.admin().v1().events().inNamespace(pool.namespace()).list().getItems().stream()
        .filter(event -> event.getMessage().startsWith("Saturated is "))
        .map(event -> event.getInvolvedObject().getKind() + " " + event.getType())
        .toList();
  }

  private static void awaitMessage(PoolFixture pool, String condition, String message) {
    await()
        .atMost(Duration.ofSeconds(90)) // probes come with growing pauses
        .untilAsserted(
            () -> {
              assertThat(pool.poolConditions()).containsEntry("EndpointsAvailable", condition);
              assertThat(pool.poolMessage("EndpointsAvailable")).matches(message);
            });
  }

  private static String address(int server) {
    return "127.0.0." + (10 + server);
  }

  /** A model server as far as the picker asks it when nobody sends requests. */
  private void serve(String address) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(address, port), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] page =
              "vllm:num_requests_waiting %d\n".formatted(waiting).getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("content-type", "text/plain");
          exchange.sendResponseHeaders(200, page.length);
          exchange.getResponseBody().write(page);
          exchange.close();
        });
    server.start();
    servers.add(server);
  }
}
