package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.epp.HeaderPlugin;
import io.fairlead.epp.NoLeaks;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

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
}
