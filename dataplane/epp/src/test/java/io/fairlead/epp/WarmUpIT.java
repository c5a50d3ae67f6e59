package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.DataPlaneConfig.ExtProc;
import io.fairlead.epp.DataPlaneConfig.Listen;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests of its own before the first client's, through both frontends. */
class WarmUpIT {

  private static final InetSocketAddress NOBODY =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);

  /** So long that it is seen to warm up, also on a machine that is slow to begin with it. */
  private static final Duration WARM_UP = Duration.ofSeconds(10);

  @TempDir Path folder;

  @ParameterizedTest(name = "TLS: {0}")
  @ValueSource(booleans = {false, true})
  void comesBeforeReadyAndLeavesNoTrace(boolean secure) throws Exception {
    try (DataPlane dataPlane = DataPlane.start(config(secure, WARM_UP))) {
      int extProc = dataPlane.extProcPort().orElseThrow();
      await().until(() -> dataPlane.notReady().equals("warming up"));
      assertThat(listens(extProc)).isFalse();
      dataPlane.ready().get(60, TimeUnit.SECONDS);
      assertThat(listens(extProc)).isTrue();
      assertThat(dataPlane.notReady()).isEmpty();

      assertThat(metrics(dataPlane))
          .anySatisfy(line -> assertThat(line).startsWith("fairlead_"))
          .noneMatch(line -> line.contains("warm-up"))
          .noneMatch(line -> line.startsWith("fairlead_requests") && !line.endsWith(" 0.0"));
      assertThat(dataPlane.report().endpoints().ready()).isZero();
      await().untilAsserted(() -> assertThat(warmUpThreads()).isEmpty());
    }
  }

  @Test
  void endsWithTheProcess() throws Exception {
    DataPlane dataPlane = DataPlane.start(config(true, Duration.ofMinutes(5)));
    await().until(() -> dataPlane.notReady().equals("warming up"));
    dataPlane.close();
    assertThat(dataPlane.ready()).isCompletedExceptionally();
    await().untilAsserted(() -> assertThat(warmUpThreads()).isEmpty());
  }

  private DataPlaneConfig config(boolean secure, Duration warmUp) throws IOException {
    Resources resources = new Resources(folder).pool().model("Critical", "{name: a, weight: 1}");
    resources.endpoint("one", NOBODY, false);
    return DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
        .gateway("127.0.0.1", 0)
        .extProc(new ExtProc(new Listen("127.0.0.1", 0), secure, null, 1 << 20))
        .admin("127.0.0.1", 0)
        .warmUp(warmUp)
        .loops(2)
        .build();
  }

  private static List<String> metrics(DataPlane dataPlane) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + dataPlane.adminPort().orElseThrow() + "/metrics");
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(HttpRequest.newBuilder(page).build(), HttpResponse.BodyHandlers.ofString())
          .body()
          .lines()
          .toList();
    }
  }

  private static boolean listens(int port) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException refused) {
      return false;
    }
  }

  private static List<String> warmUpThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("fairlead-warm-up"))
        .toList();
  }
}
