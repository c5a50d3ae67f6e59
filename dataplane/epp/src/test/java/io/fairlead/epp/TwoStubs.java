package io.fairlead.epp;

import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Two stubs, "one" and "two", that serve a base model and adapters, and a gateway before them. */
final class TwoStubs implements AutoCloseable {

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final ModelServer one;
  private final ModelServer two;

  /**
   * Starts both.
   *
   * @param settings of each
   * @param models that they serve, the base model first
   */
  TwoStubs(UnaryOperator<ModelServerConfig.Builder> settings, String... models) {
    one = start("one", settings, models);
    two = start("two", settings, models);
  }

  private ModelServer start(
      String name, UnaryOperator<ModelServerConfig.Builder> settings, String... models) {
    return ModelServer.start(
        settings.apply(ModelServerConfig.builder(name, models)).build(), loops);
  }

  int portOfTwo() {
    return two.address().getPort();
  }

  /**
   * A gateway of both that is ready.
   *
   * @param folder for its files
   * @param config null for the defaults
   */
  DataPlane gateway(Path folder, @Nullable Path config) throws Exception {
    Path endpoints =
        Files.writeString(
            folder.resolve("endpoints.yaml"),
            """
            endpoints:
            - {name: one, address: 127.0.0.1, port: %d}
            - {name: two, address: 127.0.0.1, port: %d}
            """
                .formatted(one.address().getPort(), two.address().getPort()));
    DataPlane gateway =
        DataPlane.start(
            DataPlaneConfig.builder(new DataPlaneConfig.Files(endpoints, config))
                .gateway("127.0.0.1", 0)
                .loops(1)
                .build());
    gateway.ready().get(20, TimeUnit.SECONDS);
    return gateway;
  }

  static HttpRequest completion(int port, String model, int tokens, boolean stream) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
        .timeout(Duration.ofSeconds(60))
        .header("content-type", "application/json")
        .POST(
            HttpRequest.BodyPublishers.ofString(
                "{\"model\":\"%s\",\"prompt\":\"p\",\"max_tokens\":%d,\"stream\":%s}"
                    .formatted(model, tokens, stream)))
        .build();
  }

  @Override
  public void close() {
    one.close();
    two.close();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }
}
