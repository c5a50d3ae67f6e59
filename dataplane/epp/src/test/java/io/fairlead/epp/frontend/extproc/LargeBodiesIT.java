package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.memory.PodWithServer;
import io.fairlead.epp.memory.SmallPod;
import io.fairlead.epp.sockets.RawHttp;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * More bodies at once than there is memory for, through each frontend of a process that has what a
 * pod has: it lives, and answers all of them.
 */
class LargeBodiesIT {

  private static final int BODIES = 40;
  private static final int POD_MEBIBYTES = 1024;
  private static final int BYTES = 20_000_000;
  private static final String BEGINS =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
  private static final String ENDS = "\"}]}";

  @TempDir private Path folder;

  private PodWithServer both;
  private SmallPod pod;

  @BeforeEach
  void start() throws IOException {
    both = PodWithServer.start(folder, POD_MEBIBYTES, true);
    pod = both.pod;
  }

  @AfterEach
  void stop() throws IOException {
    both.close();
  }

  @Test
  void theGatewayAnswersAll() throws Exception {
    answersAll(pod.gatewayPort(), true);
  }

  @Test
  void thePickerBehindEnvoyAnswersAll() throws Exception {
    try (Envoy envoy = Envoy.start(pod.extProcPort(), false, folder)) {
      answersAll(envoy.url().getPort(), false);
    }
  }

  private void answersAll(int port, boolean hold) throws Exception {
    List<Future<RawHttp.Message>> asked = new ArrayList<>();
    for (int i = 0; i < BODIES; i++) {
      asked.add(both.client(() -> ask(port)));
    }
    if (hold) {
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> pod.metric("fairlead_request_body_memory_waits_total") > 0);
    }
    both.answer(); // now that there were requests that had to wait
    int served = 0;
    for (Future<RawHttp.Message> each : asked) {
      RawHttp.Message answer = each.get();
      if (answer.status() == 200) {
        served++;
      } else {
        assertThat(answer.status()).as(answer.text()).isEqualTo(429);
        // Those that were read may wait for room at the server, but not many of this size.
        assertThat(answer.header("x-fairlead-reject-reason"))
            .isIn("body_memory_full", "queue_full");
        assertThat(answer.header("retry-after")).matches("[1-9][0-9]?");
        assertThat(answer.text()).contains("\"type\":\"rate_limit_error\"");
      }
    }
    System.out.printf(
        "port %d: %d of %d served, %.0f waited, at most %d MiB in memory%n",
        port,
        served,
        BODIES,
        pod.metric("fairlead_request_body_memory_waits_total"),
        pod.peakBytes() >> 20);
    assertThat(served).isPositive();
    assertThat(pod.isAlive()).isTrue();
    assertThat(pod.peakBytes()).isLessThan((long) POD_MEBIBYTES << 20);
    await().until(() -> pod.metric("fairlead_request_body_memory_bytes") == 0);
    assertThat(pod.metric("fairlead_request_body_memory_waiting")).isZero();
  }

  private static RawHttp.Message ask(int port) throws IOException {
    byte[] text = new byte[1 << 16];
    Arrays.fill(text, (byte) 'x');
    try (RawHttp client = RawHttp.connect(port)) {
      client.socket.setSoTimeout(120_000);
      client.send(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + "Content-Length: "
              + BYTES
              + "\r\n\r\n"
              + BEGINS);
      OutputStream out = client.socket.getOutputStream();
      int left = BYTES - BEGINS.length() - ENDS.length();
      try {
        while (left > 0) {
          int next = Math.min(left, text.length);
          out.write(text, 0, next);
          left -= next;
        }
        out.write(ENDS.getBytes(StandardCharsets.US_ASCII));
      } catch (IOException e) {
        // answered before all of it was read: the answer is there
      }
      return client.read();
    }
  }
}
