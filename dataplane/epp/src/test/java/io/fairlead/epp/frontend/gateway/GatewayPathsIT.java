package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every call that model servers answer passes, and is picked for like any other. */
@ExtendWith(NoLeaks.class)
class GatewayPathsIT {

  private static final List<ModelConfig> MODELS =
      List.of(
          new ModelConfig("alias", Criticality.CRITICAL, List.of(new TargetModel("target", 1))));

  private static RawBackend backend() throws IOException {
    return new RawBackend(
        "a",
        (connection, request) ->
            connection.respond(200, "Content-Type: x/y\r\n", "{\"choices\":[]}"));
  }

  private static void send(RawHttp client, String start, String headers, String body)
      throws IOException {
    int length = body.getBytes(StandardCharsets.UTF_8).length;
    client.send(
        start + " HTTP/1.1\r\nHost: h\r\n" + headers + "Content-Length: " + length + "\r\n\r\n");
    client.send(body);
  }

  /** As people type them, in any encoding. */
  @Test
  void bytesOfAQueryThatAreNoAsciiAreEncoded() throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(Rig.config(), a);
        RawHttp client = rig.connect()) {
      String head =
          "POST /v1/chat/completions?a=\u00e9&b=%%C3\u00c3\u00a9 HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
              .formatted(Rig.BODY.length());
      client.send((head + Rig.BODY).getBytes(StandardCharsets.ISO_8859_1));
      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.requests.remove().start())
          .isEqualTo("POST /v1/chat/completions?a=%E9&b=%C3%C3%A9 HTTP/1.1");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "/v1/messages              | 'messages':[{'role':'user','content':'hi'}],'max_tokens':5",
        "/v1/messages/count_tokens | 'messages':[{'role':'user','content':'hi'}]",
        "/tokenize                 | 'prompt':'hi'",
        "/detokenize               | 'tokens':[1,2]",
        "/v1/embeddings            | 'input':['hi']",
        "/v1/rerank                | 'query':'q','documents':['a','b']",
        "/rerank                   | 'query':'q','documents':['a','b']",
        "/score                    | 'text_1':'a','text_2':'b'",
        "/pooling                  | 'input':'hi'",
        "/classify                 | 'input':'hi'",
        "/v1/completions/render    | 'prompt':'hi'",
        "/inference/v1/generate    | 'token_ids':[1]",
      })
  void passesWithTheTargetsName(String path, String fields) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      String body = "{\"model\":\"alias\"," + fields.replace('\'', '"') + "}";
      client.post(path, body);

      assertThat(client.read().status()).isEqualTo(200);
      RawHttp.Message seen = a.requests.remove();
      assertThat(seen.start()).isEqualTo("POST " + path + " HTTP/1.1");
      assertThat(seen.text()).isEqualTo(body.replace("alias", "target"));
      rig.awaitEvents("sent alias a 1", "ended completed -1/-1");
    }
  }

  @Test
  void anAnswerThatSaysItIsNotEncodedIsReadLikeAnyOther() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) ->
                connection.respond(
                    200,
                    "Content-Type: application/json\r\nContent-Encoding: identity\r\n",
                    "{\"model\":\"target\",\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}"));
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.post("/v1/completions", "{\"model\":\"alias\",\"prompt\":\"hi\"}");
      assertThat(client.read().text()).startsWith("{\"model\":\"alias\",");
      rig.awaitEvents("sent alias a 1", "ended completed 3/4");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/v1/models?then=http://h/v1/chat/completions",
        "then=http://h/v1/chat/completions",
        "http://h?then=/v1/chat/completions",
        "http://h",
        "//h/v1/chat/completions",
      })
  void aPathThatStandsInAQueryIsNotAskedFor(String target) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      send(client, "POST " + target, "Content-Type: application/json\r\n", Rig.BODY);
      assertThat(client.read().status()).isIn(404, 405);
      assertThat(a.requests).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"/tokenize", "/v1/rerank", "/score", "/pooling", "/classify"})
  void passesWithoutAModelWhereServersHaveADefault(String path) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.post(path, "{\"input\":\"hi\"}");

      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.requests.remove().text()).isEqualTo("{\"input\":\"hi\"}");
      rig.awaitEvents("sent  a 1", "ended completed -1/-1");
    }
  }

  @Test
  void aFormPassesWithTheTargetsName() throws Exception {
    RawBackend a = backend();
    String form =
        String.join(
            "\r\n",
            "--b",
            "Content-Disposition: form-data; name=\"file\"; filename=\"x.wav\"",
            "",
            "RIFF",
            "--b",
            "Content-Disposition: form-data; name=\"model\"",
            "",
            "alias",
            "--b--",
            "");
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      send(
          client,
          "POST /v1/audio/transcriptions",
          "Content-Type: multipart/form-data; boundary=b\r\n",
          form);

      assertThat(client.read().status()).isEqualTo(200);
      RawHttp.Message seen = a.requests.remove();
      assertThat(seen.text()).isEqualTo(form.replace("alias", "target"));
      assertThat(seen.header("content-type")).isEqualTo("multipart/form-data; boundary=b");
      rig.awaitEvents("sent alias a 1", "ended completed -1/-1");

      send(client, "POST /v1/audio/translations", "Content-Type: audio/wav\r\n", "RIFF");
      assertThat(client.read().status()).as("the server's to say").isEqualTo(200);
      assertThat(a.requests.remove().text()).isEqualTo("RIFF");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "GET /v1/responses/resp_1?stream=true",
        "DELETE /v1/responses/resp_1",
        "POST /v1/responses/resp_1/cancel",
        "GET /tokenizer_info"
      })
  void callsWithoutABodyPass(String start) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.send(start + " HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\r\n");

      assertThat(client.read().status()).isEqualTo(200);
      assertThat(a.requests.remove().start()).isEqualTo(start + " HTTP/1.1");
      rig.awaitEvents("sent  a 1", "ended completed -1/-1");
    }
  }

  /** Where a body is needed, too: the protocol has pickers pick for what shows none. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "Content-Length: 0\r\n",
        "",
        "Content-Type: application/json\r\nContent-Length: 0\r\n",
        "Content-Type: text/plain\r\nContent-Length: 0\r\n",
      })
  void whatIsWrongWithACallWithoutABodyIsTheServersToSay(String headers) throws Exception {
    RawBackend a =
        new RawBackend("a", (connection, request) -> connection.respond(422, "", "no body"));
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");

      assertThat(client.read().text()).isEqualTo("no body");
      assertThat(a.requests.remove().header("content-length")).isEqualTo("0");
      rig.awaitEvents("sent  a 1", "ended invalid -1/-1");
    }
  }

  /** As behind a proxy: that tells of a body, of which nothing comes. */
  @Test
  void aBodyOfNoBytesIsNoJson() throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: h\r\n");
      client.send("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");

      assertThat(client.read().status()).isEqualTo(400);
      assertThat(rig.refusals()).containsExactly("invalid_json");
      assertThat(a.requests).isEmpty();
    }
  }

  /** They ask nobody who it is that loads an adapter or puts an engine to sleep. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "POST /v1/load_lora_adapter",
        "POST /v1/unload_lora_adapter",
        "POST /sleep",
        "POST /collective_rpc",
        "GET /metrics",
        "GET /server_info",
        "POST /v1/responses/../load_lora_adapter",
        "POST /v1/responses/x/%2e%2e/y",
        "GET /v1/responses/",
      })
  void whatManagesAServerStaysOutOfReach(String start) throws Exception {
    RawBackend a = backend();
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      send(client, start, "Content-Type: application/json\r\n", "{}");
      assertThat(client.read().status()).isEqualTo(404);
      assertThat(a.requests).isEmpty();
    }
  }

  @Test
  void countsTheUsageOfAMessageThatIsStreamed() throws Exception {
    RawBackend a =
        new RawBackend(
            "a",
            (connection, request) -> {
              connection.send(
                  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
              connection.chunk(
                  "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":"
                      + "{\"input_tokens\":30,\"output_tokens\":1}}}\n\n");
              connection.chunk(
                  "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":7}}\n\n");
              connection.chunk("");
            });
    try (Rig rig = new Rig(MODELS, a);
        RawHttp client = rig.connect()) {
      client.post("/v1/messages", "{\"model\":\"m\",\"stream\":true,\"messages\":[1]}");
      assertThat(client.readHead().status()).isEqualTo(200);
      client.readChunkToEnd();
      rig.awaitEvents("sent m a 1", "first", "ended completed 30/7");
    }
  }

  @Test
  void errorsOfTheMessagesApiHaveItsShape() throws Exception {
    try (Rig rig = new Rig(MODELS);
        RawHttp client = rig.connect()) {
      client.post("/v1/messages", "{\"model\":\"m\"}");
      RawHttp.Message bad = client.read();
      assertThat(bad.status()).isEqualTo(400);
      assertThat(bad.header("x-fairlead-reject-reason")).isEqualTo("missing_field");
      assertThat(new ObjectMapper().readTree(bad.text()).at("/error/type").textValue())
          .isEqualTo("invalid_request_error");
      assertThat(new ObjectMapper().readTree(bad.text()).at("/type").textValue())
          .isEqualTo("error");

      client.post("/v1/messages", "{\"model\":\"m\",\"messages\":[1]}");
      RawHttp.Message none = client.read();
      assertThat(none.status()).isEqualTo(503);
      assertThat(new ObjectMapper().readTree(none.text()).at("/error/type").textValue())
          .isEqualTo("overloaded_error");
    }
  }
}
