package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What clients ask before they ask for an answer: is it well, what is there? */
class GatewayModelsIT {

  private static final String LLAMA =
      """
      {"object":"list","data":[
        {"id":"llama-v1","object":"model","created":7,"owned_by":"vllm","root":"meta/Llama","parent":null,"max_model_len":8192},
        {"id":"sql/one","object":"model","created":7,"owned_by":"vllm","root":"/adapters/sql","parent":"llama-v1"}]}
      """;

  private static final List<ModelConfig> MODELS =
      List.of(
          new ModelConfig("chat", Criticality.CRITICAL, List.of(new TargetModel("llama-v1", 1))),
          new ModelConfig("later", Criticality.STANDARD, List.of(new TargetModel("later-v1", 1))));

  private static RawBackend serving(String name, String list) throws IOException {
    return new RawBackend(name, (connection, request) -> connection.respond(200, "", list));
  }

  private static RawHttp.Message get(RawHttp client, String path) throws IOException {
    client.send("GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return client.read();
  }

  private static JsonNode json(RawHttp.Message message) throws IOException {
    return new ObjectMapper().readTree(message.text());
  }

  /**
   * What is listed when all have answered that do: nobody is waited for longer than two seconds,
   * and whoever was late then is asked again.
   */
  private static JsonNode list(RawHttp client, int models) {
    return await()
        .until(() -> json(get(client, "/v1/models")).path("data"), data -> data.size() == models);
  }

  @Test
  void listsWhatIsConfiguredAndWhatIsServedWithItsRoot() throws Exception {
    RawBackend other = serving("b", "{\"data\":[{\"id\":\"only-b\"},{\"no\":1},3]}");
    try (Rig rig = new Rig(MODELS, serving("a", LLAMA), other);
        RawHttp client = rig.connect()) {
      JsonNode data = list(client, 5);
      assertThat(data.findValuesAsText("id"))
          .containsExactly("chat", "later", "llama-v1", "sql/one", "only-b");
      assertThat(data.findValuesAsText("root"))
          .containsExactly("meta/Llama", "later-v1", "meta/Llama", "/adapters/sql", "only-b");
      assertThat(data.get(0).path("max_model_len").intValue()).isEqualTo(8192);
      assertThat(data.get(3).path("parent").textValue()).isEqualTo("llama-v1");
      assertThat(data.get(1).path("owned_by").textValue()).isEqualTo("fairlead");

      int asked = other.requests.size();
      assertThat(get(client, "/v1/models").status()).isEqualTo(200);
      assertThat(other.requests).as("remembered for a while").hasSize(asked);
      assertThat(rig.events).as("no request to a model").isEmpty();
    }
  }

  @Test
  void tellsOneModelByItsName() throws Exception {
    try (Rig rig = new Rig(MODELS, serving("a", LLAMA));
        RawHttp client = rig.connect()) {
      list(client, 4);
      assertThat(json(get(client, "/v1/models/chat")).path("root").textValue())
          .isEqualTo("meta/Llama");
      for (String name : new String[] {"sql/one", "sql%2Fone"}) {
        assertThat(json(get(client, "/v1/models/" + name)).path("id").textValue())
            .isEqualTo("sql/one");
      }
      RawHttp.Message unknown = get(client, "/v1/models/nobody");
      assertThat(unknown.status()).isEqualTo(404);
      assertThat(unknown.text()).contains("\"code\":\"model_not_found\"");
      assertThat(get(client, "/v1/models/%zz").status()).isEqualTo(400);
      assertThat(get(client, "/v1/models/").status()).isEqualTo(404);
    }
  }

  @Test
  void doesNotWaitForEndpointsThatDoNotAnswer() throws Exception {
    RawBackend broken = new RawBackend("b", (connection, request) -> connection.close());
    RawBackend silent = new RawBackend("c", (connection, request) -> {});
    RawBackend garbage = serving("d", "<html>");
    try (Rig rig = new Rig(MODELS, broken, silent, garbage, serving("a", LLAMA));
        RawHttp client = rig.connect()) {
      assertThat(list(client, 4).findValuesAsText("id"))
          .containsExactly("chat", "later", "llama-v1", "sql/one");
    }
  }

  @Test
  void aClientThatLeavesBeforeTheAnswerDisturbsNobody() throws Exception {
    RawBackend silent = new RawBackend("c", (connection, request) -> {});
    try (Rig rig = new Rig(MODELS, silent);
        RawHttp client = rig.connect()) {
      RawHttp gone = rig.connect();
      gone.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
      gone.reset();
      assertThat(get(client, "/v1/models").status()).isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/health", "/ping", "/healthz", "/readyz"})
  void saysThatItIsWell(String path) throws Exception {
    try (Rig rig = new Rig(MODELS, serving("a", LLAMA));
        RawHttp client = rig.connect()) {
      assertThat(get(client, path).status()).isEqualTo(200);
      assertThat(json(get(client, "/version")).path("version").textValue()).isNotEmpty();
    }
  }
}
