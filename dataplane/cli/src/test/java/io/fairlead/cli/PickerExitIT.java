package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.testing.FreePort;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a picker ends with when it is told to, as a process. */
class PickerExitIT {

  /** Of a process that SIGTERM ended: 128 and the number of the signal. */
  private static final int TERMINATED = 143;

  @TempDir private Path folder;
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final HttpClient http = HttpClient.newHttpClient();
  private @Nullable ModelServer server;
  private @Nullable Process picker;

  @BeforeEach
  void serve() throws IOException {
    server = ModelServer.start(ModelServerConfig.builder("a", "m").build(), loops);
    Files.writeString(
        folder.resolve("endpoints.yaml"),
        "endpoints: [{name: a, address: 127.0.0.1, port: %d}]\n"
            .formatted(server.address().getPort()));
  }

  @AfterEach
  void stop() throws InterruptedException {
    if (picker != null) {
      picker.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
    if (server != null) {
      server.close();
    }
    http.shutdownNow();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void aGatewayThatFinishedAllEndsWithZero() throws Exception {
    int port = FreePort.find();
    Process process =
        start("gateway", "--listen=127.0.0.1:" + port, "--lame-duck=0s", "--drain-timeout=60s");
    try (Socket client = stream(port, 20)) {
      assertThat(client.getInputStream().read()).isEqualTo('H');
      assertThat(terminated(process)).isZero();
      String rest = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(rest).contains("data: [DONE]").endsWith("0\r\n\r\n");
    }
  }

  @Test
  void aGatewayThatCutsAnAnswerOffEndsAsTheSignalHasIt() throws Exception {
    int port = FreePort.find();
    Process process =
        start("gateway", "--listen=127.0.0.1:" + port, "--lame-duck=0s", "--drain-timeout=100ms");
    try (Socket client = stream(port, 100_000)) {
      assertThat(client.getInputStream().read()).isEqualTo('H');
      assertThat(terminated(process)).isEqualTo(TERMINATED);
      assertThat(Files.readString(folder.resolve("log"))).contains("stopped before all");
    }
  }

  @Test
  void aPickerEndsWithZero() throws Exception {
    Process process =
        start(
            "epp",
            "--grpc-port=" + FreePort.find(),
            "--grpc-health-port=" + FreePort.find(),
            "--lame-duck=0s");
    assertThat(terminated(process)).isZero();
  }

  private static int terminated(Process process) throws InterruptedException {
    process.destroy();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("ended").isTrue();
    return process.exitValue();
  }

  /** Waits until it is ready. */
  private Process start(String command, String... options) throws IOException {
    int metrics = FreePort.find();
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.add("--enable-native-access=ALL-UNNAMED");
    line.add("--sun-misc-unsafe-memory-access=allow");
    line.add("-XX:+UseSerialGC");
    line.add("-XX:TieredStopAtLevel=1");
    line.add("-cp");
    line.add(System.getProperty("java.class.path"));
    line.add(Fairlead.class.getName());
    line.add(command);
    line.add("--endpoints=" + folder.resolve("endpoints.yaml"));
    line.add("--metrics-port=" + metrics);
    line.addAll(List.of(options));
    Process started =
        new ProcessBuilder(line)
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    picker = started;
    await().atMost(Duration.ofSeconds(60)).until(() -> ready(metrics));
    return started;
  }

  private boolean ready(int metrics) throws InterruptedException {
    try {
      URI readyz = URI.create("http://127.0.0.1:" + metrics + "/readyz");
      return http.send(HttpRequest.newBuilder(readyz).build(), BodyHandlers.discarding())
              .statusCode()
          == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private static Socket stream(int port, int tokens) throws IOException {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
    client.setSoTimeout(60_000);
    String body =
        "{\"model\":\"m\",\"prompt\":\"p\",\"stream\":true,\"ignore_eos\":true,\"max_tokens\":%d}"
            .formatted(tokens);
    client
        .getOutputStream()
        .write(
            ("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: %d\r\n\r\n%s")
                .formatted(body.length(), body)
                .getBytes(StandardCharsets.UTF_8));
    return client;
  }
}
