package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.testing.FreePort;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bootstrap {@code config/envoy/fail-open.yaml}: requests go on whatever becomes of the picker.
 */
class EnvoyFailOpenIT {

  private static final int[] SIZES = {256, 128 << 10};

  @TempDir private Path folder;

  private final CountDownLatch goOn = new CountDownLatch(1);
  private RawBackend backend;
  private Path endpoints;
  private int port;
  private @Nullable PickerToKill picker;
  private @Nullable Envoy envoy;

  @BeforeEach
  void start() throws IOException {
    backend = new RawBackend("a", this::answer);
    endpoints = folder.resolve("endpoints.yaml");
    Files.writeString(
        endpoints,
        "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n".formatted(backend.spec().port()));
    port = FreePort.find();
  }

  @AfterEach
  void stop() throws IOException {
    goOn.countDown();
    if (envoy != null) {
      envoy.close();
    }
    if (picker != null) {
      picker.close();
    }
    backend.close();
  }

  private void answer(RawHttp connection, RawHttp.Message request) throws Exception {
    if (request.text().contains("\"stream\":true")) {
      connection.send(
          "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
      connection.chunk("data: before\n\n");
      goOn.await();
      connection.chunk("data: after\n\n");
      connection.chunk("");
    } else {
      connection.respond(200, "content-type: application/json\r\n", "{}");
    }
  }

  private PickerToKill startPicker() throws IOException {
    PickerToKill started = PickerToKill.start(endpoints, false, true, port);
    picker = started;
    return started;
  }

  private void startEnvoy() throws IOException, InterruptedException {
    startEnvoy("1s");
  }

  /**
   * Starts one.
   *
   * @param patience how long it waits for each word of the picker
   */
  private void startEnvoy(String patience) throws IOException, InterruptedException {
    String bootstrap =
        Files.readString(Path.of("../../config/envoy/fail-open.yaml"))
            .replace("message_timeout: 1s", "message_timeout: " + patience)
            .replace("{address: 0.0.0.0, port_value: 8080}", "{address: 127.0.0.1, port_value: 0}")
            .replace("port_value: 9901", "port_value: 0")
            .replace(
                "{address: sample-epp.default.svc, port_value: 9002}",
                "{address: 127.0.0.1, port_value: %d}".formatted(port))
            .replace(
                "{address: sample-model-servers.default.svc, port_value: 8000}",
                "{address: 127.0.0.1, port_value: %d}".formatted(backend.spec().port()));
    Envoy started = Envoy.start(bootstrap, folder);
    envoy = started;
    await("the first health check, before which Envoy does not listen")
        .ignoreException(ConnectException.class)
        .until(
            () -> {
              RawHttp.connect(started.url().getPort()).close();
              return true;
            });
  }

  private static String body(int size) {
    return "{\"model\":\"m\",\"messages\":[{\"content\":\"%s\"}]}".formatted("x".repeat(size));
  }

  /** Asks once, and says whether the picker chose. */
  private boolean ask(int size) throws IOException {
    try (RawHttp client = RawHttp.connect(envoyPort())) {
      client.post("/v1/chat/completions", body(size));
      RawHttp.Message answer = client.read();
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.text()).isEqualTo("{}");
    }
    backend.requests.removeIf(request -> request.start().startsWith("GET ")); // the picker's own
    RawHttp.Message got = backend.requests.remove();
    assertThat(got.text()).isEqualTo(body(size));
    return !got.header(Destinations.NAME).isEmpty();
  }

  private int envoyPort() {
    if (envoy == null) {
      throw new AssertionError("no Envoy");
    }
    return envoy.url().getPort();
  }

  private void awaitPicks() {
    await().until(() -> ask(1));
  }

  @Test
  void withAPickerThereItIsThePickerWhoChooses() throws Exception {
    startPicker();
    startEnvoy("10s"); // a busy machine keeps one that has just begun for longer than usual
    awaitPicks();
    for (int size : SIZES) {
      assertThat(ask(size)).isTrue();
    }
  }

  @Test
  void absent() throws Exception {
    startEnvoy();
    for (int size : SIZES) {
      assertThat(ask(size)).isFalse();
    }
    startPicker();
    awaitPicks();
  }

  @Test
  void killed() throws Exception {
    PickerToKill dying = startPicker();
    startEnvoy();
    awaitPicks();
    dying.kill();
    for (int i = 0; i < 20; i++) {
      for (int size : SIZES) {
        assertThat(ask(size)).isFalse();
      }
    }
    startPicker();
    awaitPicks();
  }

  @Test
  void frozen() throws Exception {
    PickerToKill freezing = startPicker();
    startEnvoy();
    awaitPicks();
    freezing.freeze();
    for (int size : SIZES) {
      assertThat(ask(size)).isFalse();
    }
    await().until(() -> envoyStats("cluster.picker.membership_healthy").contains(": 0"));
    for (int size : SIZES) {
      assertThat(ask(size)).isFalse();
    }
  }

  private String envoyStats(String filter) throws IOException, InterruptedException {
    return envoy == null ? "" : envoy.stats(filter);
  }

  @Test
  void rolling() throws Exception {
    PickerToKill old = startPicker();
    startEnvoy();
    awaitPicks();
    AtomicBoolean over = new AtomicBoolean();
    Thread restart =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    old.terminate();
                    startPicker();
                  } catch (IOException e) {
                    throw new AssertionError(e);
                  } finally {
                    over.set(true);
                  }
                });
    int asked = 0;
    while (!over.get()) {
      for (int size : SIZES) {
        ask(size);
        asked++;
      }
    }
    restart.join();
    assertThat(asked).isGreaterThan(10);
    awaitPicks();
  }

  @Test
  void answersUnderWayGoOn() throws Exception {
    PickerToKill dying = startPicker();
    startEnvoy();
    awaitPicks();
    try (RawHttp client = RawHttp.connect(envoyPort())) {
      client.post(
          "/v1/chat/completions", body(1).replace("{\"model\"", "{\"stream\":true,\"model\""));
      assertThat(client.readHead().status()).isEqualTo(200);
      assertThat(client.readChunk()).isEqualTo("data: before\n\n");
      dying.kill();
      goOn.countDown();
      assertThat(client.readChunk()).isEqualTo("data: after\n\n");
      assertThat(client.readChunk()).isEmpty();
    }
  }
}
