package io.fairlead.lab.hop;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc.ExternalProcessorImplBase;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import io.fairlead.epp.transport.Transport;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A picker that reads no body and takes each endpoint in turn: the least that a proxy with a picker
 * can cost. On the same stack as ours, so that the difference is what picking costs.
 *
 * <p>Arguments: {@code --endpoints HOST:PORT,...}. Prints {@code listening on PORT}.
 */
public final class NothingPicker extends ExternalProcessorImplBase {

  private static final ProcessingResponse RESPONSE_HEADERS =
      ProcessingResponse.newBuilder()
          .setResponseHeaders(
              HeadersResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()))
          .build();

  private final List<ProcessingResponse> destinations;
  private final AtomicInteger next = new AtomicInteger();

  NothingPicker(List<String> endpoints) {
    destinations = endpoints.stream().map(NothingPicker::destination).toList();
  }

  /** Runs until ended. */
  public static void main(String[] args) throws Exception {
    Programs.main(
        args,
        arguments -> {
          List<String> endpoints = List.of(arguments.text("--endpoints").split(",", -1));
          arguments.nothingElse();
          System.out.println("listening on " + start(endpoints).getPort());
          new CountDownLatch(1).await();
          return true;
        });
  }

  /** Starts one on a free loopback port. */
  static Server start(List<String> endpoints) throws IOException {
    EventLoopGroup loops = Transport.group("nothing", Runtime.getRuntime().availableProcessors());
    return NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
        .bossEventLoopGroup(loops)
        .workerEventLoopGroup(loops)
        .channelType(Transport.server(loops))
        .directExecutor()
        .addService(new NothingPicker(endpoints))
        .build()
        .start();
  }

  private static ProcessingResponse destination(String endpoint) {
    HeaderValueOption.Builder header =
        HeaderValueOption.newBuilder()
            .setHeader(
                HeaderValue.newBuilder()
                    .setKey("x-gateway-destination-endpoint")
                    .setRawValue(ByteString.copyFromUtf8(endpoint)))
            .setAppendAction(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD);
    return ProcessingResponse.newBuilder()
        .setRequestHeaders(
            HeadersResponse.newBuilder()
                .setResponse(
                    CommonResponse.newBuilder()
                        .setHeaderMutation(HeaderMutation.newBuilder().addSetHeaders(header))
                        .setClearRouteCache(true)))
        .build();
  }

  @Override
  public StreamObserver<ProcessingRequest> process(StreamObserver<ProcessingResponse> proxy) {
    return new StreamObserver<>() {
      @Override
      public void onNext(ProcessingRequest message) {
        switch (message.getRequestCase()) {
          case REQUEST_HEADERS ->
              proxy.onNext(
                  destinations.get(Math.floorMod(next.getAndIncrement(), destinations.size())));
          case REQUEST_BODY ->
              proxy.onNext(
                  ProcessingResponse.newBuilder()
                      .setRequestBody(passed(message.getRequestBody()))
                      .build());
          case REQUEST_TRAILERS ->
              proxy.onNext(
                  ProcessingResponse.newBuilder()
                      .setRequestTrailers(TrailersResponse.getDefaultInstance())
                      .build());
          case RESPONSE_HEADERS -> proxy.onNext(RESPONSE_HEADERS);
          case RESPONSE_BODY ->
              proxy.onNext(
                  ProcessingResponse.newBuilder()
                      .setResponseBody(passed(message.getResponseBody()))
                      .build());
          case RESPONSE_TRAILERS ->
              proxy.onNext(
                  ProcessingResponse.newBuilder()
                      .setResponseTrailers(TrailersResponse.getDefaultInstance())
                      .build());
          default -> {}
        }
      }

      @Override
      public void onError(Throwable cause) {
        // the usual end: Envoy cancels
      }

      @Override
      public void onCompleted() {
        proxy.onCompleted();
      }
    };
  }

  private static BodyResponse passed(HttpBody body) {
    return BodyResponse.newBuilder()
        .setResponse(
            CommonResponse.newBuilder()
                .setBodyMutation(
                    BodyMutation.newBuilder()
                        .setStreamedResponse(
                            StreamedBodyResponse.newBuilder()
                                .setBody(body.getBody())
                                .setEndOfStream(body.getEndOfStream()))))
        .build();
  }
}
