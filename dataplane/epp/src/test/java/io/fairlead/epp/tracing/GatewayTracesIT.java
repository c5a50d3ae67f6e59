package io.fairlead.epp.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.PoolFolder;
import io.fairlead.epp.tracing.Collector.Received;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** One trace joins whoever asks, the gateway, and the model server stub. */
@ExtendWith(NoLeaks.class)
class GatewayTracesIT {

  private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
  private static final String MARKER = "zq9-secret-prompt-7xk";
  private static final String BODY =
      "{\"model\":\"chat\",\"prompt\":\"" + MARKER + "\",\"max_tokens\":3}";

  @BeforeAll
  static void hurry() {
    Collector.hurry(true);
  }

  @AfterAll
  static void asUsual() {
    Collector.hurry(false);
  }

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup stubLoops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Collector collector = collector();
  private final Tracing stubTracing =
      Tracing.start(new Tracing.Settings("stub", collector.grpcUrl(), null));
  private final ModelServer one = stub("one");
  private final ModelServer two = stub("two");
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private @Nullable DataPlane dataPlane;

  private static Collector collector() {
    try {
      return new Collector();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  private void start(Tracing.@Nullable Settings settings) throws Exception {
    PoolFolder.write(folder, one.address(), two.address());
    DataPlane started =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Folder(folder))
                .gateway("127.0.0.1", 0)
                .tracing(settings)
                .loops(1)
                .build());
    dataPlane = started;
    started.ready().get(20, TimeUnit.SECONDS);
  }

  private static Tracing.Settings to(String url) {
    return new Tracing.Settings("gateway", url, null);
  }

  @AfterEach
  void stop() throws Exception {
    if (dataPlane != null) {
      dataPlane.close();
    }
    one.close();
    two.close();
    stubTracing.close();
    collector.close();
    http.close();
    stubLoops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void aTraceGoesFromTheCallerToTheEngine() throws Exception {
    start(to(collector.grpcUrl()));
    assertThat(post(BODY, TRACE, "01").statusCode()).isEqualTo(200);

    Chain chain = Chain.of(collector.awaitSpans(TRACE, 4), 1);
    assertThat(chain.request().service()).isEqualTo("gateway");
    assertThat(chain.request().attribute("fairlead.frontend")).isEqualTo("gateway");
    assertThat(chain.request().attribute("gen_ai.request.model")).isEqualTo("chat");
    assertThat(chain.request().attribute("gen_ai.usage.output_tokens")).isEqualTo("3");
    assertThat(chain.request().attribute("fairlead.outcome")).isEqualTo("completed");
    Received pick = chain.picks().getFirst();
    assertThat(pick.attribute("fairlead.endpoint"))
        .isEqualTo(chain.attempts().getFirst().attribute("fairlead.endpoint"))
        .isEqualTo(chain.engine().getFirst().attribute("stub.name"));
    assertThat(pick.attribute("fairlead.target_model")).isEqualTo("a");
    assertThat(pick.attribute("fairlead.attempt")).isEqualTo("1");
    assertThat(Integer.parseInt(pick.attribute("fairlead.prompt_tokens"))).isPositive();
    assertThat(pick.attribute("fairlead.cached_tokens")).isEqualTo("0");
    assertThat(collector.text()).contains("gateway.request").doesNotContain(MARKER);
  }

  /** By a property, which counts as the environment's OTEL_EXPORTER_OTLP_PROTOCOL does. */
  @Test
  void spansAreSentOverHttpToo() throws Exception {
    System.setProperty("otel.exporter.otlp.protocol", "http/protobuf");
    try {
      start(to(collector.httpUrl()));
    } finally {
      System.clearProperty("otel.exporter.otlp.protocol");
    }
    assertThat(post(BODY, TRACE, "01").statusCode()).isEqualTo(200);
    Chain chain = Chain.of(collector.awaitSpans(TRACE, 4), 1);
    assertThat(chain.request().service()).isEqualTo("gateway");
  }

  @Test
  void eachAttemptIsASpanOfItsOwn() throws Exception {
    start(to(collector.grpcUrl()));
    one.faults().errorNext(1, 503);
    String trace = "";
    for (int i = 0; one.stats().failed() == 0; i++) {
      trace = TRACE.substring(4) + "%04x".formatted(i);
      assertThat(post(BODY, trace, "01").statusCode()).isEqualTo(200);
    }

    Chain chain = Chain.of(collector.awaitSpans(trace, 7), 2);
    assertThat(chain.attempts())
        .extracting(attempt -> attempt.attribute("fairlead.attempt"))
        .containsExactly("1", "2");
    assertThat(chain.attempts())
        .extracting(attempt -> attempt.attribute("fairlead.endpoint"))
        .containsExactly("one", "two");
    assertThat(chain.attempts())
        .extracting(attempt -> attempt.attribute("error.type"))
        .containsExactly("unavailable", "");
  }

  @Test
  void aRequestThatIsRefusedIsASpan() throws Exception {
    start(to(collector.grpcUrl()));
    assertThat(post("{\"prompt\":\"" + MARKER + "\"}", TRACE, "01").statusCode()).isEqualTo(400);
    Received request = collector.awaitSpans(TRACE, 1).getFirst();
    assertThat(request.attribute("http.response.status_code")).isEqualTo("400");
    assertThat(request.attribute("fairlead.outcome")).isEqualTo("invalid_model");
    assertThat(collector.text()).doesNotContain(MARKER);
  }

  @Test
  void whatTheCallerDoesNotTraceIsNotTraced() throws Exception {
    start(to(collector.grpcUrl()));
    assertThat(post(BODY, TRACE, "00").statusCode()).isEqualTo(200);
    assertThat(post(BODY, "", "").statusCode()).isEqualTo(200);
    String traced = TRACE.replace('4', '5');
    assertThat(post(BODY, traced, "01").statusCode()).isEqualTo(200);

    collector.awaitSpans(traced, 4);
    assertThat(collector.spans(TRACE)).isEmpty();
    assertThat(collector.all()).hasSize(4);
  }

  @Test
  void aShareOfTheOthersIsTracedWhereThatIsAskedFor() throws Exception {
    start(new Tracing.Settings("gateway", collector.grpcUrl(), 1.0));
    assertThat(post(BODY, "", "").statusCode()).isEqualTo(200);
    await().atMost(Duration.ofSeconds(20)).until(() -> collector.all().size() == 4);
    assertThat(collector.all())
        .filteredOn(one -> one.span().getName().equals("gateway.request"))
        .singleElement()
        .satisfies(request -> assertThat(request.parent()).isEmpty());
  }

  @Test
  void withoutTracingTheCallersContextPassesAsItIs() throws Exception {
    start(null);
    assertThat(post(BODY, TRACE, "01").statusCode()).isEqualTo(200);
    Received engine = collector.awaitSpans(TRACE, 1).getFirst();
    assertThat(engine.service()).isEqualTo("stub");
    assertThat(engine.parent()).isEqualTo(Chain.CALLER);
  }

  private HttpResponse<String> post(String body, String trace, String flags) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:%d/v1/completions"
                        .formatted(Objects.requireNonNull(dataPlane).gatewayPort().orElseThrow())))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (!trace.isEmpty()) {
      request.header("traceparent", "00-%s-%s-%s".formatted(trace, Chain.CALLER, flags));
    }
    return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
