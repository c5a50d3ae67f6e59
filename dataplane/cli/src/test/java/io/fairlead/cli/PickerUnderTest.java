package io.fairlead.cli;

import com.google.protobuf.ByteString;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.ExternalProcessorGrpc;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest;
import io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.fairlead.crds.testing.FreePort;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The program as a process of its own, and a proxy that asks it. */
final class PickerUnderTest implements AutoCloseable {

  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final Path log;
  private final ManagedChannel extProc;
  private final ManagedChannel health;
  private final int metricsPort;

  /**
   * What became of a request.
   *
   * @param destination as its header says; empty when it was refused
   * @param body that the endpoint gets, or the client when it was refused
   * @param status of the refusal; 0 when it was sent
   */
  record Picked(String destination, String body, int status) {}

  /** Where its metrics are. */
  int metricsPort() {
    return metricsPort;
  }

  /**
   * Starts it on free ports.
   *
   * @param properties of the JVM
   * @param args as a container has them
   */
  PickerUnderTest(
      Path folder, Map<String, String> environment, List<String> properties, List<String> args)
      throws IOException {
    log = folder.resolve("picker.log");
    List<Integer> ports = List.of(FreePort.find(), FreePort.find(), FreePort.find());
    metricsPort = ports.get(2);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1"));
    command.addAll(properties);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Fairlead.class.getName()));
    command.addAll(args);
    command.add("--grpc-port=" + ports.get(0));
    command.add("--grpc-health-port=" + ports.get(1));
    command.add("--metrics-port=" + ports.get(2));
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(environment);
    process = builder.start();
    extProc =
        NettyChannelBuilder.forAddress("127.0.0.1", ports.get(0))
            .sslContext(
                GrpcSslContexts.forClient()
                    .trustManager(InsecureTrustManagerFactory.INSTANCE)
                    .endpointIdentificationAlgorithm(null)
                    .build())
            .build();
    health = NettyChannelBuilder.forAddress("127.0.0.1", ports.get(1)).usePlaintext().build();
  }

  /** Whether it says that requests may come, as the kubelet asks. */
  boolean ready() {
    try {
      return HealthGrpc.newBlockingStub(health)
              .withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS)
              .check(HealthCheckRequest.newBuilder().setService("inference-extension").build())
              .getStatus()
          == ServingStatus.SERVING;
    } catch (StatusRuntimeException e) {
      return false; // it doesn't listen yet
    }
  }

  /** What a proxy is told of a request for {@code model}. */
  Picked pick(String model, Map<String, String> headers) {
    BlockingQueue<Object> answers = new LinkedBlockingQueue<>();
    StreamObserver<ProcessingRequest> requests =
        ExternalProcessorGrpc.newStub(extProc)
            .process(
                new StreamObserver<ProcessingResponse>() {
                  @Override
                  public void onNext(ProcessingResponse answer) {
                    answers.add(answer);
                  }

                  @Override
                  public void onError(Throwable failure) {
                    answers.add(failure);
                  }

                  @Override
                  public void onCompleted() {
                    answers.add("completed");
                  }
                });
    HeaderMap.Builder map = HeaderMap.newBuilder();
    Map.of(":method", "POST", ":path", "/v1/completions", "content-type", "application/json")
        .forEach((name, value) -> map.addHeaders(header(name, value)));
    headers.forEach((name, value) -> map.addHeaders(header(name, value)));
    requests.onNext(
        ProcessingRequest.newBuilder()
            .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(map))
            .setProtocolConfig(
                ProtocolConfiguration.newBuilder()
                    .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                    .setResponseBodyMode(BodySendMode.FULL_DUPLEX_STREAMED))
            .build());
    String body = "{\"model\":\"" + model + "\",\"prompt\":\"p\"}";
    requests.onNext(
        ProcessingRequest.newBuilder()
            .setRequestBody(
                HttpBody.newBuilder().setBody(ByteString.copyFromUtf8(body)).setEndOfStream(true))
            .build());
    Picked picked = picked(answers);
    // The client went away: nothing comes of its request any more.
    requests.onError(new IllegalStateException("seen enough"));
    return picked;
  }

  /** Ends it as a kubelet does; its exit code. */
  int terminate() throws InterruptedException {
    process.destroy();
    return process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) ? process.exitValue() : -1;
  }

  /** What it logged. */
  List<String> log() throws IOException {
    return Files.readAllLines(log);
  }

  @Override
  public void close() {
    extProc.shutdownNow();
    health.shutdownNow();
    process.destroyForcibly();
  }

  private static Picked picked(BlockingQueue<Object> answers) {
    String destination = "";
    StringBuilder body = new StringBuilder();
    while (true) {
      Object next = next(answers);
      if (!(next instanceof ProcessingResponse answer)) {
        throw new IllegalStateException("the stream ended: " + next);
      }
      if (answer.hasImmediateResponse()) {
        var refusal = answer.getImmediateResponse();
        return new Picked("", refusal.getBody().toStringUtf8(), refusal.getStatus().getCodeValue());
      }
      if (answer.hasRequestHeaders()) {
        destination =
            answer
                .getRequestHeaders()
                .getResponse()
                .getHeaderMutation()
                .getSetHeadersList()
                .stream()
                .map(option -> option.getHeader())
                .filter(header -> header.getKey().equals("x-gateway-destination-endpoint"))
                .map(PickerUnderTest::value)
                .findFirst()
                .orElse("");
      }
      if (answer.hasRequestBody()) {
        var streamed =
            answer.getRequestBody().getResponse().getBodyMutation().getStreamedResponse();
        body.append(streamed.getBody().toString(StandardCharsets.UTF_8));
        if (streamed.getEndOfStream()) {
          return new Picked(destination, body.toString(), 0);
        }
      }
    }
  }

  private static Object next(BlockingQueue<Object> answers) {
    try {
      Object next = answers.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      return next == null ? "no answer in " + PATIENCE_SECONDS + " s" : next;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String value(HeaderValue header) {
    return header.getRawValue().isEmpty() ? header.getValue() : header.getRawValue().toStringUtf8();
  }

  private static HeaderValue header(String name, String value) {
    return HeaderValue.newBuilder()
        .setKey(name)
        .setRawValue(ByteString.copyFromUtf8(value))
        .build();
  }
}
