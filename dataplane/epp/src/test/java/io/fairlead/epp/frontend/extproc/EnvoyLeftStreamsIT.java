package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A picker that is killed while a real Envoy's clients get long answers. */
class EnvoyLeftStreamsIT {

  private static final String BODY =
      "{\"model\":\"chat\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
  private static final int MANY = 20;

  @TempDir private Path folder;

  private final CountDownLatch goOn = new CountDownLatch(1);

  @AfterEach
  void letGo() {
    goOn.countDown();
  }

  private void answer(RawHttp connection, RawHttp.Message request) throws Exception {
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.chunk("data: before\n\n");
    goOn.await();
    connection.chunk("data: after\n\n");
    connection.chunk("");
  }

  @Test
  void cutsNothingWhereStreamsAreLeftAfterThePick() throws Exception {
    for (String answer : answersAcrossAKill(true)) {
      assertThat(answer).isEqualTo("data: before\n\ndata: after\n\n");
    }
  }

  /** Else the test above would show nothing. */
  @Test
  void cutsAnswersThatPassThroughIt() throws Exception {
    assertThat(answersAcrossAKill(false)).allMatch(String::isEmpty);
  }

  /** What each client got; empty where it was cut. */
  private List<String> answersAcrossAKill(boolean leaveAfterPick) throws Exception {
    try (RawBackend backend = new RawBackend("a", this::answer)) {
      Path endpoints = folder.resolve("endpoints.yaml");
      Files.writeString(
          endpoints,
          "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n"
              .formatted(backend.spec().port()));
      try (PickerToKill picker = PickerToKill.start(endpoints, leaveAfterPick);
          Envoy envoy = Envoy.start(picker.port(), false, folder)) {
        List<RawHttp> clients = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
          RawHttp client = RawHttp.connect(envoy.url().getPort());
          client.post("/v1/chat/completions", BODY);
          clients.add(client);
        }
        for (RawHttp client : clients) {
          assertThat(client.readHead().status()).isEqualTo(200);
        }
        String streams = leaveAfterPick ? "server_half_closed: " : "streams_started: ";
        await().until(() -> envoy.stats("ext_proc").contains(streams + MANY));
        picker.kill();
        goOn.countDown();
        List<String> answers = new ArrayList<>();
        for (RawHttp client : clients) {
          answers.add(rest(client));
          client.close();
        }
        return answers;
      }
    }
  }

  private static String rest(RawHttp client) throws IOException {
    StringBuilder body = new StringBuilder();
    try {
      for (String chunk = client.readChunk(); !chunk.isEmpty(); chunk = client.readChunk()) {
        body.append(chunk);
      }
      return body.toString();
    } catch (EOFException e) {
      return "";
    }
  }
}
