package io.fairlead.epp.warmup;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.fairlead.epp.transport.Transport;
import io.grpc.ManagedChannel;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NegotiationType;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Talks to the ext_proc server as Envoy does, and plays the model server too. */
final class Proxy implements AutoCloseable {

  /** What Envoy buffers before it sends. */
  private static final int PIECE = 64 << 10;

  private static final long LONGEST_SECONDS = 10;

  private static final ProtocolConfiguration FULL_DUPLEX =
      ProtocolConfiguration.newBuilder()
          .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
          .setResponseBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
          .build();

  private final ManagedChannel channel;

  /**
   * A proxy with a connection of its own, made at its first request.
   *
   * @param secure whether the port is served over TLS; whose certificate it is does not matter here
   */
  Proxy(EventLoopGroup group, int port, boolean secure) throws SSLException {
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress("127.0.0.1", port)
            .eventLoopGroup(group)
            .channelType(Transport.client(group))
            .directExecutor()
            .negotiationType(secure ? NegotiationType.TLS : NegotiationType.PLAINTEXT);
    if (secure) {
      builder.sslContext(
          GrpcSslContexts.forClient().trustManager(InsecureTrustManagerFactory.INSTANCE).build());
    }
    channel = builder.build();
  }

  /**
   * Sends it through, and an answer back. Blocks.
   *
   * @throws IOException where the picker does not let it through
   */
  void ask(Sample sample) throws IOException, InterruptedException {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Stream stream = new Stream(sample, done);
    stream.begin(ExternalProcessorGrpc.newStub(channel).process(stream));
    try {
      done.orTimeout(LONGEST_SECONDS, TimeUnit.SECONDS).get();
    } catch (ExecutionException e) {
      throw new IOException("the picker did not let a request through", e);
    }
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }

  /** One request. What comes from the picker comes on one thread at a time. */
  private static final class Stream implements StreamObserver<ProcessingResponse> {

    private final Sample sample;
    private final CompletableFuture<Void> done;
    private @Nullable StreamObserver<ProcessingRequest> picker;

    Stream(Sample sample, CompletableFuture<Void> done) {
      this.sample = sample;
      this.done = done;
    }

    void begin(StreamObserver<ProcessingRequest> picker) {
      this.picker = picker;
      byte[] body = sample.body();
      picker.onNext(
          ProcessingRequest.newBuilder()
              .setProtocolConfig(FULL_DUPLEX)
              .setRequestHeaders(
                  headers(
                      ":method", "POST",
                      ":path", Sample.PATH,
                      ":authority", "warm-up",
                      ":scheme", "http",
                      "content-type", Answer.JSON,
                      "content-length", Integer.toString(body.length),
                      "user-agent", "fairlead",
                      "accept", "*/*",
                      "x-request-id", "8e6f8a1e-2f2f-4f5e-9a57-000000000000"))
              .build());
      ByteString whole = UnsafeByteOperations.unsafeWrap(body);
      for (int from = 0; from < body.length; from += PIECE) {
        HttpBody piece = body(whole.substring(from, Math.min(body.length, from + PIECE)), false);
        picker.onNext(ProcessingRequest.newBuilder().setRequestBody(piece).build());
      }
      picker.onNext(
          ProcessingRequest.newBuilder().setRequestBody(body(ByteString.EMPTY, true)).build());
    }

    @Override
    public void onNext(ProcessingResponse answer) {
      switch (answer.getResponseCase()) {
        case REQUEST_BODY -> {
          if (last(answer.getRequestBody().getResponse().getBodyMutation())) {
            respond();
          }
        }
        case RESPONSE_BODY -> {
          if (last(answer.getResponseBody().getResponse().getBodyMutation())) {
            done.complete(null);
          }
        }
        case IMMEDIATE_RESPONSE ->
            done.completeExceptionally(
                new IOException("refused: " + answer.getImmediateResponse().getDetails()));
        default -> {}
      }
    }

    private static boolean last(BodyMutation mutation) {
      return mutation.getStreamedResponse().getEndOfStream();
    }

    private void respond() {
      StreamObserver<ProcessingRequest> to = picker;
      if (to == null) {
        return;
      }
      to.onNext(
          ProcessingRequest.newBuilder()
              .setResponseHeaders(
                  headers(
                      ":status", "200",
                      "content-type", sample.streamed() ? Answer.EVENTS : Answer.JSON,
                      "server", "uvicorn"))
              .build());
      List<byte[]> pieces = sample.streamed() ? Answer.STREAMED : List.of(Answer.WHOLE);
      for (byte[] piece : pieces) {
        to.onNext(
            ProcessingRequest.newBuilder()
                .setResponseBody(body(UnsafeByteOperations.unsafeWrap(piece), false))
                .build());
      }
      to.onNext(
          ProcessingRequest.newBuilder().setResponseBody(body(ByteString.EMPTY, true)).build());
    }

    @Override
    public void onError(Throwable cause) {
      done.completeExceptionally(cause);
    }

    @Override
    public void onCompleted() {
      done.completeExceptionally(new IOException("the picker left the stream"));
    }

    private static HttpBody body(ByteString bytes, boolean last) {
      return HttpBody.newBuilder().setBody(bytes).setEndOfStream(last).build();
    }

    private static HttpHeaders headers(String... namesAndValues) {
      HeaderMap.Builder map = HeaderMap.newBuilder();
      for (int i = 0; i < namesAndValues.length; i += 2) {
        map.addHeaders(
            HeaderValue.newBuilder()
                .setKey(namesAndValues[i])
                .setRawValue(ByteString.copyFromUtf8(namesAndValues[i + 1])));
      }
      return HttpHeaders.newBuilder().setHeaders(map).build();
    }
  }
}
