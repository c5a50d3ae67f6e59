package io.fairlead.epp.tracing;

import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.collector.trace.v1.TraceServiceGrpc;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.ResourceSpans;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

/** A collector that keeps the spans that it is sent over OTLP: by gRPC, and by HTTP. */
public final class Collector implements AutoCloseable {

  /**
   * A span, and who sent it.
   *
   * @param service name of the service
   */
  public record Received(String service, Span span) {

    /** An attribute as text; empty where it isn't there. */
    public String attribute(String key) {
      return value(span.getAttributesList(), key);
    }

    /** In hexadecimal digits. */
    public String id() {
      return HexFormat.of().formatHex(span.getSpanId().toByteArray());
    }

    /** In hexadecimal digits; empty for none. */
    public String parent() {
      return HexFormat.of().formatHex(span.getParentSpanId().toByteArray());
    }
  }

  private final Queue<Received> received = new ConcurrentLinkedQueue<>();
  private final Queue<String> messages = new ConcurrentLinkedQueue<>();
  private final Server grpc;
  private final HttpServer http;

  /** Batches go out at once from now on, for tests that wait for them; or as usual again. */
  public static void hurry(boolean hurry) {
    if (hurry) {
      System.setProperty("otel.bsp.schedule.delay", "50");
    } else {
      System.clearProperty("otel.bsp.schedule.delay");
    }
  }

  /** Listens on free ports. */
  public Collector() throws IOException {
    grpc =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .addService(new Traces())
            .build()
            .start();
    http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
    http.createContext(
        "/v1/traces",
        exchange -> {
          boolean zipped = "gzip".equals(exchange.getRequestHeaders().getFirst("content-encoding"));
          var body =
              zipped ? new GZIPInputStream(exchange.getRequestBody()) : exchange.getRequestBody();
          take(ExportTraceServiceRequest.parseFrom(body));
          exchange.getResponseHeaders().set("content-type", "application/x-protobuf");
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    http.start();
  }

  private final class Traces extends TraceServiceGrpc.TraceServiceImplBase {
    @Override
    public void export(
        ExportTraceServiceRequest request, StreamObserver<ExportTraceServiceResponse> answer) {
      take(request);
      answer.onNext(ExportTraceServiceResponse.getDefaultInstance());
      answer.onCompleted();
    }
  }

  private void take(ExportTraceServiceRequest request) {
    messages.add(request.toString());
    for (ResourceSpans of : request.getResourceSpansList()) {
      String service = value(of.getResource().getAttributesList(), "service.name");
      of.getScopeSpansList()
          .forEach(
              scope ->
                  scope.getSpansList().forEach(span -> received.add(new Received(service, span))));
    }
  }

  private static String value(List<KeyValue> attributes, String key) {
    return attributes.stream()
        .filter(attribute -> attribute.getKey().equals(key))
        .map(attribute -> text(attribute.getValue()))
        .findFirst()
        .orElse("");
  }

  private static String text(AnyValue value) {
    return switch (value.getValueCase()) {
      case STRING_VALUE -> value.getStringValue();
      case INT_VALUE -> Long.toString(value.getIntValue());
      case BOOL_VALUE -> Boolean.toString(value.getBoolValue());
      default -> value.toString();
    };
  }

  /** Where gRPC is spoken. */
  public String grpcUrl() {
    return "http://127.0.0.1:" + grpc.getPort();
  }

  /** Where HTTP is spoken. */
  public String httpUrl() {
    return "http://127.0.0.1:" + http.getAddress().getPort();
  }

  /** Waits for as many spans of a trace. */
  public List<Received> awaitSpans(String trace, int count) {
    await("spans of " + trace)
        .atMost(20, TimeUnit.SECONDS)
        .until(() -> spans(trace).size() >= count);
    return spans(trace);
  }

  /** What has come of a trace. */
  public List<Received> spans(String trace) {
    return received.stream()
        .filter(
            one -> HexFormat.of().formatHex(one.span().getTraceId().toByteArray()).equals(trace))
        .toList();
  }

  /** What has come of all traces. */
  public List<Received> all() {
    return List.copyOf(received);
  }

  /** All that has come, as text. */
  public String text() {
    return String.join("\n", messages);
  }

  @Override
  public void close() {
    grpc.shutdownNow();
    http.stop(0);
  }
}
