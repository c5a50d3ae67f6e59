package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.core.QueueSnapshot;
import io.fairlead.core.QueueSnapshot.Band;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.FlowControlConfig;
import io.fairlead.crds.config.FlowTrust;
import io.fairlead.crds.config.FlowTrust.Mode;
import io.fairlead.crds.config.ObjectiveConfig;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.RequestsConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.tls.ServingSecurity;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests behind a gateway that wait for a server that takes one at a time. */
class ExtProcQueueIT {

  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}";
  private static final String SECRET = "5e77ff3a9c";

  /** Of the secret. */
  private static final String DIGEST =
      "9688686bedacbf712cf7dc6c9acb6cac5fa296497933db6fecc3fa5c02e265b4";

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private final TestPool pool =
      new TestPool(loops.next()).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private ExtProcServer server;
  private ManagedChannel channel;

  @BeforeEach
  void start() {
    pool.loop.start();
    server =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.PlainText(), 8 << 20, true),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    channel =
        NettyChannelBuilder.forAddress("127.0.0.1", server.port())
            .usePlaintext()
            .maxInboundMetadataSize(8 << 20)
            .build();
  }

  @AfterEach
  void stop() {
    channel.shutdownNow();
    server.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private void queue(@Nullable FlowTrust trust) {
    queue(trust, false);
  }

  private void queue(@Nullable FlowTrust trust, boolean evicts) {
    SchedulerConfig scheduler =
        new SchedulerConfig(
            List.of(new PluginConfig("room", "concurrency-detector", Map.of("maxConcurrency", 1L))),
            List.of(),
            "room",
            Map.of("flowControl", true),
            new FlowControlConfig(
                null, null, null, null, evicts, null, null, null, null, List.of()),
            null,
            List.of());
    RequestsConfig usual = RequestsConfig.DEFAULT;
    PoolConfig config =
        new PoolConfig(
            "n",
            "p",
            Map.of(),
            List.of(1),
            "http",
            List.of(),
            List.of(new ObjectiveConfig("urgent", 5), new ObjectiveConfig("spare", -5)),
            trust == null ? usual : usual.withTrustFlowHeaders(trust),
            scheduler);
    pool.loop.configure(new ConfigCompiler(List.of()).compile(config)).syncUninterruptibly();
  }

  private QueueSnapshot queues() {
    return pool.loop.queues().syncUninterruptibly().getNow();
  }

  private Stream ask(String... headers) {
    String[] all = new String[headers.length + 2];
    all[0] = "content-type";
    all[1] = "application/json";
    System.arraycopy(headers, 0, all, 2, headers.length);
    Stream stream = new Stream(channel);
    stream.requests.onNext(Messages.post(all));
    stream.requests.onNext(Messages.body(BODY, true));
    return stream;
  }

  private Stream occupy() {
    Stream first = ask();
    await().until(() -> pool.events.contains("sent a"));
    return first;
  }

  private void free(Stream sent) {
    await().until(() -> sent.messages.size() >= 2);
    sent.requests.onNext(Messages.status(200, true));
  }

  @ParameterizedTest
  @CsvSource({
    ",,5",
    "NONE,,0",
    "NONE," + SECRET + ",0",
    "SECRET,,0",
    "SECRET,wrong,0",
    "SECRET," + SECRET + ",5"
  })
  void anObjectiveCountsWhereItIsTrustedAndNobodyBehindSeesTheSecret(
      @Nullable Mode mode, @Nullable String secret, long priority) {
    queue(mode == null ? null : new FlowTrust(mode, Mode.NONE, DIGEST));
    Stream first = occupy();
    Stream second =
        ask(
            "x-gateway-inference-objective",
            "urgent",
            secret == null ? "x-none" : "x-fairlead-trust-secret",
            secret == null ? "" : secret);
    await().until(() -> queues().waiting() == 1);
    assertThat(queues().bands())
        .filteredOn(band -> band.waiting() > 0)
        .map(Band::priority)
        .containsExactly(priority);
    if (priority == 0) {
      assertThat(pool.events).contains("flow header ignored: untrusted");
    } else {
      assertThat(pool.events).noneMatch(event -> event.startsWith("flow header"));
    }
    free(first);
    await().until(() -> second.messages.size() >= 2);
    assertThat(second.removed())
        .hasSize(secret == null ? 0 : 1)
        .allMatch("x-fairlead-trust-secret"::equals);
    free(second);
  }

  @ParameterizedTest
  @CsvSource({"200ms,1,429", "soon,1,", "9,100000,"})
  void aWaitIsShortenedByWhatMakesSense(String ttl, int times, @Nullable Integer status) {
    queue(null);
    Stream first = occupy();
    Stream second = ask("x-fairlead-queue-ttl", ttl.repeat(times));
    if (status == null) {
      await().until(() -> queues().waiting() == 1);
      assertThat(pool.events).contains("flow header ignored: invalid");
      free(first);
      await().until(() -> second.messages.size() >= 2);
      assertThat(second.removed()).containsExactly("x-fairlead-queue-ttl");
      free(second);
    } else {
      await().until(second::isRefused);
      assertThat(second.refusal().getStatus().getCodeValue()).isEqualTo(status);
      assertThat(second.header("x-llm-d-request-dropped-reason")).isEqualTo("rejected-ttl-expired");
      free(first);
    }
  }

  @Test
  void whoIsSheddableMakesRoomBeforeItsAnswerHasBegun() {
    queue(null, true);
    Stream first = ask("x-gateway-inference-objective", "spare");
    await().until(() -> pool.events.contains("sent a"));
    Stream second = ask();
    await().until(first::isRefused);
    assertThat(first.refusal().getStatus().getCodeValue()).isEqualTo(429);
    assertThat(first.header("x-fairlead-reject-reason")).isEqualTo("evicted_in_flight");
    assertThat(first.header("x-llm-d-request-dropped-reason")).isEqualTo("evicted");
    await().until(() -> second.messages.size() >= 2);
    free(second);
  }

  @Test
  void whoHangsUpIsGoneWithinATenthOfASecond() {
    queue(null);
    Stream first = occupy();
    long[] nanos = new long[9];
    for (int i = 0; i < nanos.length; i++) {
      Stream second = ask();
      await().pollInterval(Duration.ofMillis(1)).until(() -> queues().waiting() == 1);
      long from = System.nanoTime();
      second.requests.onError(Status.CANCELLED.asRuntimeException());
      await().pollInterval(Duration.ofMillis(1)).until(() -> queues().waiting() == 0);
      nanos[i] = System.nanoTime() - from;
    }
    Arrays.sort(nanos);
    // Where others keep the machine busy, each of them takes longer now and then.
    assertThat(Duration.ofNanos(nanos[2])).as("three of nine").isLessThan(Duration.ofMillis(100));
    free(first);
    await().until(() -> pool.active() == 0);
  }

  @Test
  void whoWaitsWhenThePickerEndsIsRefusedAtTheBound() throws Exception {
    queue(null);
    occupy();
    Stream second = ask();
    await().until(() -> queues().waiting() == 1);
    CompletableFuture.runAsync(() -> server.drain(Duration.ZERO, Duration.ofMillis(300)))
        .get(30, TimeUnit.SECONDS);
    await().until(second::isRefused);
    assertThat(second.refusal().getStatus().getCodeValue()).isEqualTo(503);
    assertThat(second.header("x-fairlead-reject-reason")).isEqualTo("shutting_down");
    assertThat(second.header("x-llm-d-request-dropped-reason")).isEqualTo("rejected-shutting-down");
    await().until(() -> queues().waiting() == 0);
  }

  /** A stream of the gateway's. */
  private static final class Stream {

    final List<ProcessingResponse> messages = new CopyOnWriteArrayList<>();
    final StreamObserver<ProcessingRequest> requests;

    Stream(ManagedChannel channel) {
      requests = ExternalProcessorGrpc.newStub(channel).process(new Received(messages));
    }

    boolean isRefused() {
      return messages.stream().anyMatch(ProcessingResponse::hasImmediateResponse);
    }

    ImmediateResponse refusal() {
      return messages.stream()
          .filter(ProcessingResponse::hasImmediateResponse)
          .map(ProcessingResponse::getImmediateResponse)
          .findFirst()
          .orElseThrow();
    }

    String header(String name) {
      return refusal().getHeaders().getSetHeadersList().stream()
          .map(HeaderValueOption::getHeader)
          .filter(header -> header.getKey().equals(name))
          .map(header -> header.getRawValue().toStringUtf8())
          .findFirst()
          .orElse("");
    }

    /** Headers that don't go on to the model server. */
    List<String> removed() {
      return messages.stream()
          .filter(ProcessingResponse::hasRequestHeaders)
          .flatMap(
              message ->
                  message
                      .getRequestHeaders()
                      .getResponse()
                      .getHeaderMutation()
                      .getRemoveHeadersList()
                      .stream())
          .toList();
    }
  }

  private record Received(List<ProcessingResponse> messages)
      implements StreamObserver<ProcessingResponse> {

    @Override
    public void onNext(ProcessingResponse message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }
}
