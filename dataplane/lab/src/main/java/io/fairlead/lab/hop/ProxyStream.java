package io.fairlead.lab.hop;

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
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One request as Envoy shows it to its picker: headers, the body in pieces, and a short answer. Its
 * pick has been made when the last piece of the body may go on.
 */
final class ProxyStream implements ClientResponseObserver<ProcessingRequest, ProcessingResponse> {

  /** What Envoy has buffered when it sends. */
  private static final int PIECE = 64 << 10;

  private static final ProcessingRequest ANSWER_HEAD =
      ProcessingRequest.newBuilder()
          .setResponseHeaders(headers(":status", "200", "content-type", "application/json"))
          .build();

  private static final ProcessingRequest ANSWER_BODY =
      ProcessingRequest.newBuilder()
          .setResponseBody(
              body(
                  ByteString.copyFromUtf8(
                      "{\"usage\":{\"prompt_tokens\":64,\"completion_tokens\":3}}"),
                  true))
          .build();

  private final byte[] request;
  private final long due;
  private final PickTimes times;
  private final Runnable ended;
  private final AtomicBoolean over = new AtomicBoolean();
  private @Nullable ClientCallStreamObserver<ProcessingRequest> picker;

  /**
   * A stream that is not open yet.
   *
   * @param due from when its time counts
   * @param ended told once when it is over
   */
  ProxyStream(byte[] request, long due, PickTimes times, Runnable ended) {
    this.request = request;
    this.due = due;
    this.times = times;
    this.ended = ended;
  }

  @Override
  public void beforeStart(ClientCallStreamObserver<ProcessingRequest> picker) {
    this.picker = picker;
  }

  void open(ManagedChannel channel) {
    var to = ExternalProcessorGrpc.newStub(channel).process(this);
    to.onNext(
        ProcessingRequest.newBuilder()
            .setProtocolConfig(
                ProtocolConfiguration.newBuilder()
                    .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                    .setResponseBodyMode(BodySendMode.FULL_DUPLEX_STREAMED))
            .setRequestHeaders(
                headers(
                    ":method", "POST",
                    ":path", "/v1/chat/completions",
                    ":authority", "load",
                    ":scheme", "http",
                    "content-type", "application/json",
                    "content-length", Integer.toString(request.length),
                    "x-request-id", "8e6f8a1e-2f2f-4f5e-9a57-000000000000"))
            .build());
    ByteString whole = UnsafeByteOperations.unsafeWrap(request);
    for (int from = 0; from < request.length; from += PIECE) {
      ByteString piece = whole.substring(from, Math.min(request.length, from + PIECE));
      to.onNext(ProcessingRequest.newBuilder().setRequestBody(body(piece, false)).build());
    }
    to.onNext(ProcessingRequest.newBuilder().setRequestBody(body(ByteString.EMPTY, true)).build());
  }

  @Override
  public void onNext(ProcessingResponse answer) {
    ClientCallStreamObserver<ProcessingRequest> to = picker;
    if (to == null) {
      return;
    }
    switch (answer.getResponseCase()) {
      case REQUEST_BODY -> {
        if (last(answer.getRequestBody().getResponse().getBodyMutation())) {
          times.picked(System.nanoTime() - due);
          to.onNext(ANSWER_HEAD);
          to.onNext(ANSWER_BODY);
        }
      }
      case RESPONSE_BODY -> {
        if (last(answer.getResponseBody().getResponse().getBodyMutation())) {
          end(true);
          to.cancel("as Envoy ends a stream", null);
        }
      }
      case IMMEDIATE_RESPONSE -> end(false);
      default -> {}
    }
  }

  private static boolean last(BodyMutation mutation) {
    return mutation.getStreamedResponse().getEndOfStream();
  }

  @Override
  public void onError(Throwable cause) {
    end(false);
  }

  @Override
  public void onCompleted() {
    end(true); // a picker may leave once it has picked
  }

  private void end(boolean well) {
    if (over.compareAndSet(false, true)) {
      if (!well) {
        times.failed();
      }
      ended.run();
    }
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
              .setRawValue(ByteString.copyFrom(namesAndValues[i + 1], StandardCharsets.UTF_8)));
    }
    return HttpHeaders.newBuilder().setHeaders(map).build();
  }
}
