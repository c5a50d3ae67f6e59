package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.PoolFolder;
import io.fairlead.epp.tracing.Chain;
import io.fairlead.epp.tracing.Collector;
import io.fairlead.epp.tracing.Tracing;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One trace joins whoever asks, the picker behind a real Envoy, and the model server stub. */
class EnvoyTracesIT {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String MARKER = "zq9-secret-prompt-7xk";

  @BeforeAll
  static void hurry() {
    Collector.hurry(true);
  }

  @AfterAll
  static void asUsual() {
    Collector.hurry(false);
  }

  @TempDir private Path folder;
  @TempDir private Path envoyFolder;

  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private Collector collector;
  private Tracing stubTracing;
  private ModelServer one;
  private ModelServer two;
  private DataPlane dataPlane;
  private Envoy envoy;

  @BeforeEach
  void start() throws Exception {
    collector = new Collector();
    stubTracing = Tracing.start(new Tracing.Settings("stub", collector.grpcUrl(), null));
    one = stub("one");
    two = stub("two");
    PoolFolder.write(folder, one.address(), two.address());
    dataPlane =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
                .extProc(
                    new DataPlaneConfig.ExtProc(
                        new DataPlaneConfig.Listen("127.0.0.1", 0), true, null, 1 << 20))
                .tracing(new Tracing.Settings("picker", collector.grpcUrl(), null))
                .loops(1)
                .build());
    dataPlane.ready().get(20, TimeUnit.SECONDS);
    envoy = Envoy.start(dataPlane.extProcPort().orElseThrow(), true, envoyFolder);
  }

  private ModelServer stub(String name) {
    return ModelServer.start(
        ModelServerConfig.builder(name, "a")
            .instant()
            .promptTokensDetails(true)
            .tracer(stubTracing.tracer())
            .build(),
        stubLoops);
  }

  @AfterEach
  void stop() throws Exception {
    envoy.close();
    dataPlane.close();
    one.close();
    two.close();
    stubTracing.close();
    collector.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void aTraceGoesFromTheCallerThroughThePickerToTheEngine() throws Exception {
    assertThat(post("01")).isEqualTo(200);

    Chain chain = Chain.of(collector.awaitSpans(TRACE, 4), 1);
    assertThat(chain.request().service()).isEqualTo("picker");
    assertThat(chain.request().attribute("fairlead.frontend")).isEqualTo("ext_proc");
    assertThat(chain.request().attribute("fairlead.outcome")).isEqualTo("completed");
    assertThat(chain.picks().getFirst().attribute("fairlead.endpoint"))
        .isEqualTo(chain.engine().getFirst().attribute("stub.name"));
    assertThat(collector.text()).contains("gateway.request").doesNotContain(MARKER);
  }

  @Test
  void whatTheCallerDoesNotTraceIsNotTracedByTheEngine() throws Exception {
    assertThat(post("00")).isEqualTo(200);
    String other = TRACE.replace('4', '5');
    assertThat(post("01", other)).isEqualTo(200);
    collector.awaitSpans(other, 4);
    assertThat(collector.all()).hasSize(4);
  }

  private int post(String flags) throws Exception {
    return post(flags, TRACE);
  }

  private int post(String flags, String trace) throws Exception {
    try (HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
      return http.send(
              HttpRequest.newBuilder(envoy.url().resolve("/v1/completions"))
                  .header("content-type", "application/json")
                  .header("traceparent", "00-%s-%s-%s".formatted(trace, Chain.CALLER, flags))
                  .POST(
                      HttpRequest.BodyPublishers.ofString(
                          "{\"model\":\"chat\",\"prompt\":\"" + MARKER + "\"}"))
                  .build(),
              HttpResponse.BodyHandlers.ofString())
          .statusCode();
    }
  }
}
