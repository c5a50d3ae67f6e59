package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.epp.HeaderPlugin;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Headers between clients, plugins and endpoints, on sockets. */
@ExtendWith(NoLeaks.class)
class GatewayHeadersIT {

  @Test
  void pluginsSeeAndSetHeadersAndClientsCannotSteerSidecars() throws Exception {
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.respond(
                    200, "Content-Type: application/json\r\nX-Session-Token: its own\r\n", "{}"));
    try (Rig rig = new Rig(Rig.config(), backend)) {
      rig.pool
          .configure(
              new ConfigCompiler(List.of(new HeaderPlugin.Factory()))
                  .compile(
                      new PoolConfig(
                          "n", "p", Map.of(), List.of(1), "http", List.of(), HeaderPlugin.ALONE)))
          .syncUninterruptibly();
      try (RawHttp client = rig.connect()) {
        client.send(
            "POST "
                + Rig.CHAT
                + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nX-Team: blue\r\n"
                + "X-Prefiller-Host-Port: 6.6.6.6:6\r\nx-encoder-hosts-ports: 6.6.6.6:6\r\n"
                + "X-Gateway-Destination-Endpoint: 6.6.6.6:6\r\nContent-Length: "
                + Rig.BODY.getBytes(StandardCharsets.UTF_8).length
                + "\r\n\r\n"
                + Rig.BODY);
        RawHttp.Message response = client.read();

        assertThat(response.status()).isEqualTo(200);
        assertThat(response.header("x-session-token")).isEqualTo("token-of-a");
      }
      assertThat(backend.requests.remove().headers())
          .containsEntry("x-prefiller-host-port", "10.9.9.9:1")
          .containsEntry("x-team-seen", "blue")
          .containsEntry("X-Team", "blue")
          .doesNotContainKeys("x-encoder-hosts-ports", "X-Gateway-Destination-Endpoint");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "true,300ms,504,",
    "false,300ms,200,untrusted",
    "true,soon,200,invalid",
    "true,-1s,200,invalid",
    "true,0s,200,invalid",
    "true,100000h,200,invalid"
  })
  void aRequestsOwnTimeoutCountsWhereItIsTrustedAndMakesSense(
      boolean trusted, String timeout, int status, @Nullable String ignored) throws Exception {
    CountDownLatch answered = new CountDownLatch(status == 200 ? 0 : 1);
    RawBackend backend =
        new RawBackend(
            "a",
            (connection, request) -> {
              answered.await();
              connection.respond(200, "", "{}");
            });
    RequestsConfig usual = RequestsConfig.DEFAULT;
    RequestsConfig requests =
        new RequestsConfig(
            usual.unconfiguredModels(), usual.timeouts(), trusted, usual.retryBudgetPercent());
    try (Rig rig = new Rig(Rig.config(), requests, List.of(backend.spec()), backend);
        RawHttp client = rig.connect()) {
      client.send(
          "POST "
              + Rig.CHAT
              + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
              + "X-Fairlead-Timeout-First-Byte: "
              + timeout
              + "\r\nContent-Length: "
              + Rig.BODY.length()
              + "\r\n\r\n"
              + Rig.BODY);
      assertThat(client.read().status()).isEqualTo(status);
      assertThat(backend.requests.remove().headers())
          .doesNotContainKey("x-fairlead-timeout-first-byte");
      if (ignored == null) {
        assertThat(rig.events).contains("rejected m first_byte_timeout");
      } else {
        assertThat(rig.events).contains("timeout header ignored: " + ignored);
      }
    } finally {
      answered.countDown();
    }
  }
}
