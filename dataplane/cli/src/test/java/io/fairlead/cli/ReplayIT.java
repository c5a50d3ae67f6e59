package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A trace is sent through a gateway, the gateway's capture is replayed both ways. */
final class ReplayIT {

  private static final String CONFIG =
      """
      apiVersion: fairlead.io/v1alpha1
      kind: PoolConfig
      pool: {namespace: default, name: test, targetPorts: [8000]}
      models: [{name: m, criticality: Critical, targets: [{name: m, weight: 1}]}]
      scheduling: {}
      """;

  @TempDir private Path temporary;

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs =
      Stream.of("one", "two", "three")
          .map(
              name ->
                  ModelServerConfig.builder(name, "m").instant().promptTokensDetails(true).build())
          .map(config -> ModelServer.start(config, loops))
          .toList();

  private record Run(int exitCode, String out, String err) {}

  @AfterEach
  void stop() {
    stubs.forEach(ModelServer::close);
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void aTraceIsSentCapturedAndReplayed() throws Exception {
    Path trace = Files.writeString(temporary.resolve("trace.jsonl"), trace(40));
    Path capture = temporary.resolve("capture");
    Path endpoints = Files.writeString(temporary.resolve("endpoints.yaml"), endpoints());
    Path config = Files.writeString(temporary.resolve("config.yaml"), CONFIG);
    DataPlaneConfig gateway =
        DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
            .gateway("127.0.0.1", 0)
            .capture(CaptureConfig.to(capture))
            .loops(1)
            .build();
    try (DataPlane plane = DataPlane.start(gateway)) {
      plane.ready().get(20, TimeUnit.SECONDS);
      String url = "http://127.0.0.1:" + plane.gatewayPort().orElseThrow();

      Run sent = run(trace.toString(), "--url", url, "--model", "m", "--speed", "10");
      assertThat(sent.exitCode()).as(sent.err()).isZero();
      assertThat(sent.out())
          .contains("trace: 40 requests sent in ")
          .contains("40 succeeded, 0 rejected (429), 0 failed")
          .contains("time per output token")
          // Of each prompt but the first, one of two blocks of 512 tokens is in some cache.
          .containsPattern("[\\d,]+ of them cached \\([1-4]\\d\\.\\d\\d %\\), 160 put out");
      Run named =
          run("--workload", "gsp-high", "--url", url, "--model", "m", "--limit", "20", "--json");
      assertThat(named.exitCode()).as(named.err()).isZero();
      assertThat(named.out()).contains("\"workload\" : \"gsp-high\"", "\"succeeded\" : 20");
      assertThat(run(trace.toString(), "--url", url).exitCode()).isEqualTo(1);
    }

    Run picks = run(capture.toString(), "--picks");
    assertThat(picks.exitCode()).as(picks.err() + picks.out()).isZero();
    assertThat(picks.out())
        .contains("100 decisions: 100 came out the same (100.00 %)")
        .contains("The capture is complete");
    forge(capture);
    assertThat(run(capture.toString(), "--picks").exitCode()).isEqualTo(1);
  }

  @Test
  void saysWhatIsMissing() {
    assertThat(run("trace").err()).contains("either --url URL, or --picks");
    assertThat(run("--picks").err()).contains("--picks needs a capture");
    assertThat(run("--url", "http://127.0.0.1:1").err()).contains("either a trace, or --workload");
    assertThat(run("trace", "--load", "1", "--url", "http://127.0.0.1:1").err())
        .contains("--load goes with --workload");
    Run none = run("no-such-file", "--url", "http://127.0.0.1:1");
    assertThat(none.exitCode()).isEqualTo(1);
    assertThat(none.err()).contains("no-such-file: is not there");
  }

  private static void forge(Path capture) throws IOException {
    try (Stream<Path> files = Files.list(capture)) {
      Path requests =
          files.filter(f -> f.toString().endsWith(".requests.jsonl")).findFirst().orElseThrow();
      Files.writeString(
          requests, Files.readString(requests).replaceFirst("\"matched\":\\d+", "\"matched\":999"));
    }
  }

  private static String trace(int requests) {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < requests; i++) {
      lines.append(
          "{\"timestamp\": %d, \"input_length\": 1024, \"output_length\": 4, \"hash_ids\": [1, %d]}\n"
              .formatted(i * 10, i + 2));
    }
    return lines.toString();
  }

  private String endpoints() {
    StringBuilder text = new StringBuilder("endpoints:\n");
    stubs.forEach(
        stub ->
            text.append(
                "- {name: %s, address: %s, port: %d}\n"
                    .formatted(
                        stub.config().name(),
                        stub.address().getAddress().getHostAddress(),
                        stub.address().getPort())));
    return text.toString();
  }

  private static Run run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command = Fairlead.commandLine();
    command.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    String[] all = Stream.concat(Stream.of("replay"), Stream.of(arguments)).toArray(String[]::new);
    int exitCode = command.execute(all);
    return new Run(exitCode, out.toString(), err.toString());
  }
}
