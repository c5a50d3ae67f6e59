package io.fairlead.stub.server;

import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.stub.profile.EngineProfiles;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Servers for one test, and a client to talk to them. */
final class Stubs implements AutoCloseable {

  static final String CHAT = "/v1/chat/completions";

  private final MultiThreadIoEventLoopGroup loops;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final List<ModelServer> servers = new ArrayList<>();

  Stubs(int threads) {
    loops = new MultiThreadIoEventLoopGroup(threads, NioIoHandler.newFactory());
  }

  /** Answers at once. */
  static ModelServerConfig.Builder instant() {
    return ModelServerConfig.builder("one", "m", "m2", "m3").instant();
  }

  /** A step takes 64 ms and more: slow enough to be caught in the middle of an answer. */
  static ModelServerConfig.Builder slow() {
    return instant().timeScale(1).profile(EngineProfiles.shipped().named("l4-8b"));
  }

  static String chat(String model, int tokens) {
    return "{\"model\":\"%s\",\"max_tokens\":%d,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"
        .formatted(model, tokens);
  }

  ModelServer start(ModelServerConfig.Builder config) {
    ModelServer server = ModelServer.start(config.build(), loops);
    servers.add(server);
    return server;
  }

  CompletableFuture<HttpResponse<String>> send(ModelServer server, String path, String body) {
    return client.sendAsync(
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .timeout(Duration.ofSeconds(60))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build(),
        BodyHandlers.ofString());
  }

  HttpResponse<String> post(ModelServer server, String path, String body) throws Exception {
    return send(server, path, body).get(60, TimeUnit.SECONDS);
  }

  HttpResponse<String> get(ModelServer server, String path)
      throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(server.url() + path))
            .timeout(Duration.ofSeconds(60))
            .build(),
        BodyHandlers.ofString());
  }

  /** The value of the series on the metrics page; NaN if it is not there. */
  double metric(ModelServer server, String series) throws IOException, InterruptedException {
    return get(server, "/metrics")
        .body()
        .lines()
        .filter(line -> line.startsWith(series + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(series.length() + 1)))
        .findFirst()
        .orElse(Double.NaN);
  }

  static JsonNode json(String text) throws IOException {
    return RequestParser.JSON.readTree(text);
  }

  @Override
  public void close() {
    servers.forEach(ModelServer::close);
    client.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
