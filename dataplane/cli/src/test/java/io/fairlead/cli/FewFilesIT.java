package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.crds.testing.FreePort;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The gateway as a process that may have few files open, and more clients than that. */
class FewFilesIT {

  private static final int FILES = 400;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final List<Socket> clients = new ArrayList<>();
  private final List<ServerSocket> servers = new ArrayList<>();
  @TempDir private Path folder;
  private @Nullable Process gateway;

  @AfterEach
  void stop() throws Exception {
    leave();
    if (gateway != null) {
      gateway.destroyForcibly().waitFor(20, TimeUnit.SECONDS);
    }
    for (ServerSocket server : servers) {
      server.close();
    }
  }

  private void leave() throws IOException {
    for (Socket client : clients) {
      client.close();
    }
    clients.clear();
  }

  @Test
  void itBlamesNoServerSaysSoToClientsAndServesAgainWhenTheyHaveGone() throws Exception {
    int port = FreePort.find();
    int metrics = FreePort.find();
    start(port, metrics);
    await().atMost(PATIENCE).until(() -> answers(port));
    Socket early = connect(port);
    for (int i = 0; i < 3; i++) {
      assertThat(ask(early)).startsWith("HTTP/1.1 200");
    }
    long told = lines();
    Socket page = connect(metrics);
    assertThat(get(page, "/metrics")).contains("fairlead_gateway_connections");

    long begun = System.nanoTime();
    for (int i = 0; i < FILES; i++) {
      connect(port);
    }
    // Each scrape that ends frees a file, until a client that waits for one has it.
    await().atMost(PATIENCE).until(() -> refusedInRow(early) >= 50);
    // For longer than it takes to take a silent server out.
    await().atMost(PATIENCE).until(() -> scrapeAges(get(page, "/metrics")).getMin() > 3);
    assertThat(get(page, "/metrics"))
        .contains("no_socket")
        .doesNotContain("fairlead_endpoint_health_transitions_total{");

    leave();
    await().atMost(PATIENCE).until(() -> answers(port));
    // It says once a second that it can accept nobody.
    long seconds = (System.nanoTime() - begun) / 1_000_000_000;
    assertThat(lines() - told).as("lines of the log in %d s", seconds).isLessThan(80 + 5 * seconds);
  }

  private static DoubleSummaryStatistics scrapeAges(String page) {
    return page.lines()
        .filter(line -> line.startsWith("fairlead_endpoint_scrape_age_seconds{"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
        .summaryStatistics();
  }

  /** How many requests are refused until one is served, or fifty are. */
  private static int refusedInRow(Socket client) throws IOException {
    for (int i = 0; i < 50; i++) {
      String answer = ask(client);
      if (answer.startsWith("HTTP/1.1 200")) {
        return i;
      }
      assertThat(answer).startsWith("HTTP/1.1 503").contains("no_socket");
    }
    return 50;
  }

  private void start(int port, int metrics) throws IOException {
    StringBuilder endpoints = new StringBuilder("endpoints:\n");
    for (String name : List.of("a", "b")) {
      endpoints.append(
          "- {name: %s, address: 127.0.0.1, port: %d}\n".formatted(name, serve().getLocalPort()));
    }
    Path list = Files.writeString(folder.resolve("endpoints.yaml"), endpoints);
    ProcessBuilder builder =
        new ProcessBuilder(
            "bash",
            "-c",
            "ulimit -n " + FILES + " && exec \"$@\"",
            "bash",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-MaxFDLimit",
            "-cp",
            System.getProperty("java.class.path"),
            Fairlead.class.getName(),
            "gateway",
            "--endpoints=" + list,
            "--listen=127.0.0.1:" + port,
            "--metrics-port=" + metrics);
    gateway =
        builder
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("gateway.log").toFile())
            .start();
  }

  private long lines() throws IOException {
    try (var all = Files.lines(folder.resolve("gateway.log"))) {
      return all.count();
    }
  }

  /** A model server that ends each connection after one answer. */
  private ServerSocket serve() throws IOException {
    ServerSocket server = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    servers.add(server);
    Thread.ofVirtual()
        .start(
            () -> {
              while (!server.isClosed()) {
                try {
                  Socket socket = server.accept();
                  Thread.ofVirtual().start(() -> answer(socket));
                } catch (IOException e) {
                  // The test is over.
                }
              }
            });
    return server;
  }

  private static void answer(Socket socket) {
    try (socket) {
      String head = message(socket.getInputStream());
      String body =
          head.startsWith("GET")
              ? "vllm:num_requests_waiting 0\nvllm:num_requests_running 0\n"
              : "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}";
      socket
          .getOutputStream()
          .write(
              ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
                      + "Content-Length: %d\r\n\r\n%s")
                  .formatted(body.length(), body)
                  .getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      // Who asked has left.
    }
  }

  private Socket connect(int port) throws IOException {
    Socket client = new Socket(InetAddress.getLoopbackAddress(), port);
    client.setSoTimeout((int) PATIENCE.toMillis());
    clients.add(client);
    return client;
  }

  private static boolean answers(int port) {
    try (Socket client = new Socket(InetAddress.getLoopbackAddress(), port)) {
      client.setSoTimeout((int) PATIENCE.toMillis());
      return ask(client).startsWith("HTTP/1.1 200");
    } catch (IOException e) {
      return false;
    }
  }

  private static String ask(Socket client) throws IOException {
    String body = "{\"model\":\"m\",\"prompt\":\"p\"}";
    client
        .getOutputStream()
        .write(
            ("POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                    + "Content-Length: %d\r\n\r\n%s")
                .formatted(body.length(), body)
                .getBytes(StandardCharsets.UTF_8));
    return message(client.getInputStream());
  }

  private static String get(Socket client, String path) throws IOException {
    client
        .getOutputStream()
        .write(
            "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n"
                .formatted(path)
                .getBytes(StandardCharsets.UTF_8));
    return message(client.getInputStream());
  }

  /** The head and body of a message that says how long it is. */
  private static String message(InputStream from) throws IOException {
    StringBuilder head = new StringBuilder();
    while (head.indexOf("\r\n\r\n") < 0) {
      int next = from.read();
      if (next < 0) {
        throw new IOException("it ends in the midst of a head: " + head);
      }
      head.append((char) next);
    }
    int length =
        head.toString()
            .lines()
            .filter(line -> line.regionMatches(true, 0, "content-length:", 0, 15))
            .map(line -> Integer.valueOf(line.substring(15).strip()))
            .findFirst()
            .orElse(0);
    return head + new String(from.readNBytes(length), StandardCharsets.UTF_8);
  }
}
