package io.fairlead.epp.frontend.extproc;

import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.grpc.BindableService;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;

/** Opens an {@link ExtProcStream} for each call. */
final class ExtProcService implements BindableService {

  /** Bytes queued for the proxy beyond which no more are made: a few slices of a body. */
  private static final int QUEUED = 256 << 10;

  private final StreamContext context;
  private final EventLoopGroup loops;

  ExtProcService(StreamContext context, EventLoopGroup loops) {
    this.context = context;
    this.loops = loops;
  }

  @Override
  public ServerServiceDefinition bindService() {
    MethodDescriptor<?, ProcessingResponse> usual = ExternalProcessorGrpc.getProcessMethod();
    MethodDescriptor<ProxyMessage, ProcessingResponse> process =
        usual.toBuilder(new RequestMarshaller(), usual.getResponseMarshaller()).build();
    return ServerServiceDefinition.builder(
            ServiceDescriptor.newBuilder(ExternalProcessorGrpc.SERVICE_NAME)
                .addMethod(process)
                .build())
        .addMethod(process, ServerCalls.asyncBidiStreamingCall(this::process))
        .build();
  }

  private StreamObserver<ProxyMessage> process(StreamObserver<ProcessingResponse> responses) {
    ServerCallStreamObserver<ProcessingResponse> proxy =
        (ServerCallStreamObserver<ProcessingResponse>) responses;
    ExtProcStream stream = new ExtProcStream(context, proxy, currentLoop());
    proxy.disableAutoRequest();
    proxy.setOnReadyThreshold(QUEUED);
    proxy.setOnReadyHandler(stream::onReady);
    proxy.setOnCancelHandler(stream::onCancel);
    // A message that can't be read ends the call, and is no cancellation.
    proxy.setOnCloseHandler(stream::onCancel);
    context.streams().opened(stream);
    proxy.request(1);
    return stream;
  }

  /** Calls run on their connection's loop, but gRPC does not say which that is. */
  private EventExecutor currentLoop() {
    for (EventExecutor loop : loops) {
      if (loop.inEventLoop()) {
        return loop;
      }
    }
    throw new IllegalStateException("a call runs on none of the server's event loops");
  }
}
