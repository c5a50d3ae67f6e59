package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.UnsafeByteOperations;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.epp.memory.PodWithServer;
import io.fairlead.epp.memory.SmallPod;
import io.fairlead.epp.sockets.RawHttp;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What long bodies take while they are in the process: little more than their own bytes. */
class HeldBodiesIT {

  private static final int BODIES = 15;
  private static final int BYTES = 20_000_000;
  private static final int PIECE = 1 << 16;
  private static final double MOST = 1.5;

  /** There is room for all of them at once, also where none tells its length. */
  private static final int POD_MEBIBYTES = 3072;

  private static final byte[] BODY = body();

  @TempDir private Path folder;

  private PodWithServer both;
  private SmallPod pod;

  private static byte[] body() {
    byte[] bytes = new byte[BYTES];
    Arrays.fill(bytes, (byte) 'x');
    String begins = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"";
    byte[] head = begins.getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(head, 0, bytes, 0, head.length);
    byte[] end = "\"}]}".getBytes(StandardCharsets.US_ASCII);
    System.arraycopy(end, 0, bytes, BYTES - end.length, end.length);
    return bytes;
  }

  @BeforeEach
  void start() throws IOException {
    both = PodWithServer.start(folder, POD_MEBIBYTES, false);
    pod = both.pod;
  }

  @AfterEach
  void stop() throws IOException {
    both.close();
  }

  private double charged() throws IOException, InterruptedException {
    return pod.metric("fairlead_request_body_memory_bytes");
  }

  /** Once all bodies are there. */
  private void holdsLittleMore(String frontend, long idle) throws Exception {
    long held = pod.memoryBytes() - idle;
    System.out.printf(
        "%s: %d bodies of %d bytes are charged %.0f bytes and take %d, %.2f times as many as they have; at most %d MiB in memory%n",
        frontend,
        BODIES,
        BYTES,
        charged(),
        held,
        (double) held / BODIES / BYTES,
        pod.peakBytes() >> 20);
    assertThat(held).isBetween((long) BODIES * BYTES * 9 / 10, (long) (MOST * BODIES * BYTES));
    assertThat(charged()).isBetween(0.99 * BODIES * BYTES, 1.1 * BODIES * BYTES);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void throughTheGateway(boolean announced) throws Exception {
    long idle = pod.memoryBytes();
    List<Future<RawHttp.Message>> asked = new ArrayList<>();
    for (int i = 0; i < BODIES; i++) {
      asked.add(both.client(() -> ask(announced)));
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(
            () ->
                assertThat(both.server.requests)
                    .filteredOn(request -> request.start().startsWith("POST"))
                    .hasSizeGreaterThanOrEqualTo(BODIES));
    holdsLittleMore(announced ? "gateway" : "gateway, chunked", idle);
    both.answer();
    for (Future<RawHttp.Message> each : asked) {
      assertThat(each.get().status()).isEqualTo(200);
    }
    await().until(() -> charged() == 0);
  }

  private RawHttp.Message ask(boolean announced) throws IOException {
    try (RawHttp client = RawHttp.connect(pod.gatewayPort())) {
      client.socket.setSoTimeout(120_000);
      client.send(
          "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
              + (announced ? "Content-Length: " + BYTES : "Transfer-Encoding: chunked")
              + "\r\n\r\n");
      for (int at = 0; at < BYTES; at += PIECE) {
        int length = Math.min(PIECE, BYTES - at);
        if (!announced) {
          client.send(Integer.toHexString(length) + "\r\n");
        }
        client.socket.getOutputStream().write(BODY, at, length);
        if (!announced) {
          client.send("\r\n");
        }
      }
      if (!announced) {
        client.send("0\r\n\r\n");
      }
      return client.read();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void throughExtProc(boolean announced) throws Exception {
    ManagedChannel channel =
        NettyChannelBuilder.forAddress("127.0.0.1", pod.extProcPort()).usePlaintext().build();
    try {
      long idle = pod.memoryBytes();
      List<Proxy> proxies = new ArrayList<>();
      for (int i = 0; i < BODIES; i++) {
        Proxy proxy = new Proxy(announced);
        proxies.add(proxy);
        var _ = ExternalProcessorGrpc.newStub(channel).process(proxy);
      }
      await().atMost(Duration.ofSeconds(60)).until(() -> proxies.stream().allMatch(p -> p.whole));
      holdsLittleMore(announced ? "ext_proc" : "ext_proc, length unknown", idle);
      proxies.forEach(Proxy::takeAll);
      await()
          .atMost(Duration.ofSeconds(60))
          .until(() -> proxies.stream().allMatch(p -> p.got.get() == BYTES));
      await().until(() -> charged() == 0);
      proxies.forEach(Proxy::end);
    } finally {
      channel.shutdownNow().awaitTermination(10, TimeUnit.SECONDS);
    }
  }

  /** Sends a body, and takes no more than the first answer before it is told to. */
  private static final class Proxy
      implements ClientResponseObserver<ProcessingRequest, ProcessingResponse> {

    private final boolean announced;
    private @Nullable ClientCallStreamObserver<ProcessingRequest> requests;
    private int sent = -1;

    /** Whether the picker has all of the body: it has decided. */
    volatile boolean whole;

    final AtomicInteger got = new AtomicInteger();

    Proxy(boolean announced) {
      this.announced = announced;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<ProcessingRequest> stream) {
      requests = stream;
      stream.disableAutoRequestWithInitial(1);
      stream.setOnReadyHandler(() -> send(stream));
    }

    private void send(ClientCallStreamObserver<ProcessingRequest> stream) {
      if (sent < 0) {
        sent = 0;
        stream.onNext(
            announced
                ? Messages.post(
                    "content-type", "application/json", "content-length", String.valueOf(BYTES))
                : Messages.post());
      }
      while (sent < BYTES && stream.isReady()) {
        int to = Math.min(BYTES, sent + PIECE);
        stream.onNext(
            Messages.body(UnsafeByteOperations.unsafeWrap(BODY, sent, to - sent), to == BYTES));
        sent = to;
      }
    }

    void takeAll() {
      requests().request(Integer.MAX_VALUE);
    }

    void end() {
      requests().onCompleted();
    }

    private ClientCallStreamObserver<ProcessingRequest> requests() {
      if (requests == null) {
        throw new IllegalStateException("not begun");
      }
      return requests;
    }

    @Override
    public void onNext(ProcessingResponse message) {
      BodyResponse part = message.getRequestBody();
      whole = true;
      got.addAndGet(part.getResponse().getBodyMutation().getStreamedResponse().getBody().size());
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }
}
