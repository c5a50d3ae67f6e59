package io.fairlead.epp.frontend.extproc;

import static io.fairlead.epp.frontend.extproc.TestPool.endpoint;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.tls.PemFiles;
import io.fairlead.epp.tls.ServingSecurity;
import io.fairlead.epp.transport.LeastIdle;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExtProcIT {

  private static final String BODY =
      "{\"model\":\"chat\",\"stream\":true,"
          + "\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

  @TempDir private static Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(2, NioIoHandler.newFactory());
  private final TestPool pool =
      new TestPool(loops.next()).configured().endpoints(endpoint("a", "10.0.0.1", 8000));
  private final Health health = new Health();
  private final BodyBudget bodies = BodyBudget.ofHeap();

  @AfterEach
  void stop() {
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "self-signed", "folder"})
  void picksOverARealConnection(String security) throws Exception {
    try (ExtProcServer server = start(security(security))) {
      ManagedChannel channel = channel(server.port(), !security.equals("plain"));
      Received answers = new Received();
      StreamObserver<ProcessingRequest> requests =
          ExternalProcessorGrpc.newStub(channel).process(answers);
      requests.onNext(Messages.post());
      requests.onNext(Messages.body(BODY, true));
      await().until(() -> answers.messages.size() == 2);
      requests.onNext(Messages.status(200, false));
      requests.onNext(Messages.responseBody("{\"choices\":[]}", true));
      await().until(() -> answers.ended != null);

      assertThat(answers.ended).isEqualTo(Status.OK);
      assertThat(answers.messages.getFirst().hasRequestHeaders()).isTrue();
      await().until(() -> pool.events.size() == 3);
      assertThat(pool.events).containsExactly("sent a", "first token a", "ended a COMPLETED");
      channel.shutdownNow();
    }
  }

  @Test
  void aCancelledCallIsADisconnect() throws Exception {
    try (ExtProcServer server = start(new ServingSecurity.PlainText())) {
      ManagedChannel channel = channel(server.port(), false);
      Received answers = new Received();
      StreamObserver<ProcessingRequest> requests =
          ExternalProcessorGrpc.newStub(channel).process(answers);
      requests.onNext(Messages.post());
      requests.onNext(Messages.body(BODY, true));
      await().until(() -> answers.messages.size() == 2);
      requests.onError(Status.CANCELLED.asRuntimeException());

      await().until(() -> pool.events.contains("ended a DISCONNECTED"));
      await().until(() -> server.counters().active() == 0);
      assertThat(pool.active()).isZero();
      channel.shutdownNow();
    }
  }

  /** While a body is read, and while the pool has the request. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMessageThatCannotBeReadLeavesNothing(boolean decided) throws Exception {
    try (ExtProcServer server = start(new ServingSecurity.PlainText())) {
      ManagedChannel channel = channel(server.port(), false);
      Received answers = new Received();
      StreamObserver<byte[]> requests =
          ClientCalls.asyncBidiStreamingCall(
              channel.newCall(anyBytes(), CallOptions.DEFAULT), answers);
      requests.onNext(Messages.post().toByteArray());
      if (decided) {
        requests.onNext(Messages.body(BODY, true).toByteArray());
        await().until(() -> answers.messages.size() == 2);
      }
      await().until(() -> server.counters().active() == 1);
      requests.onNext(new byte[] {-1, -1, -1, -1});

      await().until(() -> answers.ended != null);
      assertThat(answers.ended).isNotEqualTo(Status.OK);
      await().until(() -> server.counters().active() == 0);
      await().until(() -> pool.active() == 0);
      await().until(() -> bodies.used() == 0);
      channel.shutdownNow();
    }
  }

  private static MethodDescriptor<byte[], ProcessingResponse> anyBytes() {
    return ExternalProcessorGrpc.getProcessMethod().toBuilder(
            new MethodDescriptor.Marshaller<byte[]>() {
              @Override
              public InputStream stream(byte[] message) {
                return new ByteArrayInputStream(message);
              }

              @Override
              public byte[] parse(InputStream stream) {
                throw new UnsupportedOperationException("only sent");
              }
            },
            ExternalProcessorGrpc.getProcessMethod().getResponseMarshaller())
        .build();
  }

  @Test
  void leavesWhatIsSentWhenItDrains() throws Exception {
    ExtProcServer server = start(new ServingSecurity.PlainText());
    ManagedChannel channel = channel(server.port(), false);
    Received answers = new Received();
    StreamObserver<ProcessingRequest> requests =
        ExternalProcessorGrpc.newStub(channel).process(answers);
    requests.onNext(Messages.post());
    requests.onNext(Messages.body(BODY, true));
    await().until(() -> answers.messages.size() == 2);

    assertThat(server.drain(Duration.ZERO, Duration.ofSeconds(60))).isTrue();
    await().until(() -> pool.events.contains("left a"));
    channel.shutdownNow();
  }

  /** The rest of its body does not come, so it can be sent nowhere and can't be left. */
  @Test
  void refusesAtTheBoundWhatIsNotSent() throws Exception {
    ExtProcServer server = start(new ServingSecurity.PlainText());
    ManagedChannel channel = channel(server.port(), false);
    Received answers = new Received();
    StreamObserver<ProcessingRequest> requests =
        ExternalProcessorGrpc.newStub(channel).process(answers);
    requests.onNext(Messages.post());
    await().until(() -> server.counters().active() == 1);

    assertThat(server.drain(Duration.ZERO, Duration.ofMillis(1)))
        .as("a request is in flight")
        .isFalse();
    await().until(() -> server.counters().active() == 0);
    assertThat(server.drain(Duration.ZERO, Duration.ofSeconds(60))).isTrue();
    channel.shutdownNow();
  }

  @Test
  void tellsHealthOnItsOwnPortAndWhereAskedOnTheOther() throws Exception {
    try (ExtProcServer server = start(new ServingSecurity.PlainText());
        HealthServer own = HealthServer.start("127.0.0.1", 0, loops, health)) {
      for (int port : List.of(server.port(), own.port())) {
        health.ready(false);
        ManagedChannel channel = channel(port, false);
        assertThat(check(channel, "liveness")).isEqualTo(ServingStatus.SERVING);
        for (String name :
            List.of("", "readiness", "inference-extension", ExternalProcessorGrpc.SERVICE_NAME)) {
          health.ready(false);
          assertThat(check(channel, name)).isEqualTo(ServingStatus.NOT_SERVING);
          health.ready(true);
          assertThat(check(channel, name)).isEqualTo(ServingStatus.SERVING);
        }
        channel.shutdownNow();
      }
    }
  }

  /** Which one, of those that ask nothing, is {@link LeastIdle}'s to say. */
  @Test
  void whoHoldsConnectionsToTheHealthPortMakesRoomForOthers() throws Exception {
    List<SocketChannel> idle = new ArrayList<>();
    try (HealthServer server = HealthServer.start("127.0.0.1", 0, loops, health)) {
      InetSocketAddress address =
          new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
      for (int i = 0; i < LeastIdle.MOST; i++) {
        SocketChannel connection = SocketChannel.open(address);
        idle.add(connection);
        assertThat(connection.read(ByteBuffer.allocate(1))).as("bytes it is told").isOne();
        connection.configureBlocking(false);
      }
      assertThat(idle).noneMatch(ExtProcIT::hasEnded);
      ManagedChannel channel = channel(server.port(), false);
      assertThat(check(channel, "liveness")).isEqualTo(ServingStatus.SERVING);
      channel.shutdownNow();
      await().until(() -> idle.stream().anyMatch(ExtProcIT::hasEnded));
    } finally {
      for (SocketChannel connection : idle) {
        connection.close();
      }
    }
  }

  /** Whether the other side has closed it, after what it said. */
  private static boolean hasEnded(SocketChannel connection) {
    ByteBuffer said = ByteBuffer.allocate(1024);
    try {
      int count;
      do {
        count = connection.read(said.clear());
      } while (count > 0);
      return count < 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void newConnectionsGetACertificateThatHasChanged() throws Exception {
    Path pair = Files.createDirectory(folder.resolve("pair"));
    PemFiles.write(pair, "rsa.crt", "rsa-pkcs1.key");
    try (ExtProcServer server = start(new ServingSecurity.FromFolder(pair))) {
      assertThat(nameServed(server.port())).isEqualTo("CN=rsa");
      PemFiles.write(pair, "ec.crt", "ec-sec1.key");
      await().until(() -> nameServed(server.port()).equals("CN=ec"));
    }
  }

  private static String nameServed(int port) throws GeneralSecurityException, IOException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
    try (SSLSocket socket =
        (SSLSocket) context.getSocketFactory().createSocket("127.0.0.1", port)) {
      SSLParameters parameters = socket.getSSLParameters();
      parameters.setApplicationProtocols(new String[] {"h2"});
      socket.setSSLParameters(parameters);
      return socket.getSession().getPeerPrincipal().getName();
    }
  }

  @Test
  void namesTheCertificateThatItCannotRead() {
    Path nowhere = folder.resolve("nowhere");
    assertThatIllegalStateException()
        .isThrownBy(() -> start(new ServingSecurity.FromFolder(nowhere)))
        .withMessage("cert-path: " + nowhere.resolve("tls.crt") + " can't be read");
  }

  private ExtProcServer start(ServingSecurity security) {
    return ExtProcServer.start(
        new ExtProcConfig("127.0.0.1", 0, security, 1 << 20, true),
        pool.loop,
        bodies,
        loops,
        health);
  }

  private static ServingSecurity security(String name) {
    if (name.equals("plain")) {
      return new ServingSecurity.PlainText();
    }
    if (name.equals("self-signed")) {
      return new ServingSecurity.SelfSigned();
    }
    PemFiles.write(folder, "ec.crt", "ec-pkcs8.key");
    return new ServingSecurity.FromFolder(folder);
  }

  private static ManagedChannel channel(int port, boolean tls) throws SSLException {
    NettyChannelBuilder builder = NettyChannelBuilder.forAddress("127.0.0.1", port);
    if (!tls) {
      return builder.usePlaintext().build();
    }
    return builder
        .sslContext(
            GrpcSslContexts.forClient()
                .trustManager(InsecureTrustManagerFactory.INSTANCE)
                .endpointIdentificationAlgorithm(null)
                .build())
        .build();
  }

  private static ServingStatus check(ManagedChannel channel, String service) {
    return HealthGrpc.newBlockingStub(channel)
        .check(HealthCheckRequest.newBuilder().setService(service).build())
        .getStatus();
  }

  private static final class Received implements StreamObserver<ProcessingResponse> {

    final List<ProcessingResponse> messages = new CopyOnWriteArrayList<>();
    volatile @Nullable Status ended;

    @Override
    public void onNext(ProcessingResponse message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable cause) {
      ended = Status.fromThrowable(cause);
    }

    @Override
    public void onCompleted() {
      ended = Status.OK;
    }
  }
}
