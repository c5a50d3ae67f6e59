package io.fairlead.cli;

import io.fairlead.epp.DataPlane;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** A gateway in front of three model servers that answer at once. */
final class GatewayUnderTest implements AutoCloseable {

  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> stubs;
  private final Path config;
  private final DataPlane plane;

  /**
   * Starts it and waits until it is ready.
   *
   * @param folder for its files
   * @param parts it has beside the gateway
   */
  GatewayUnderTest(Path folder, UnaryOperator<DataPlaneConfig.Builder> parts) throws Exception {
    this(folder, "{}", "[]", parts);
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @param scheduling of its config, in YAML's flow style, as {@code shadows}
   */
  GatewayUnderTest(
      Path folder, String scheduling, String shadows, UnaryOperator<DataPlaneConfig.Builder> parts)
      throws Exception {
    this(folder, List.of("one", "two", "three"), scheduling, shadows, parts);
  }

  /**
   * Starts it and waits until it is ready.
   *
   * @param endpoints their names
   */
  GatewayUnderTest(
      Path folder,
      List<String> endpoints,
      String scheduling,
      String shadows,
      UnaryOperator<DataPlaneConfig.Builder> parts)
      throws Exception {
    stubs =
        endpoints.stream()
            .map(
                name ->
                    ModelServerConfig.builder(name, "m")
                        .instant()
                        .promptTokensDetails(true)
                        .build())
            .map(stub -> ModelServer.start(stub, loops))
            .toList();
    config = folder.resolve("config.yaml");
    configure(scheduling, shadows);
    Path list = Files.writeString(folder.resolve("endpoints.yaml"), endpoints());
    plane =
        DataPlane.start(
            parts
                .apply(DataPlaneConfig.builder(new DataPlaneConfig.Files(list, config)))
                .gateway("127.0.0.1", 0)
                .loops(1)
                .build());
    plane.ready().get(60, TimeUnit.SECONDS);
  }

  /** Edits its config: at once, since what is half written may be read. */
  void configure(String scheduling, String shadows) throws IOException {
    Path edited = config.resolveSibling("edited");
    Files.writeString(
        edited,
        """
      apiVersion: fairlead.io/v1alpha1
      kind: PoolConfig
      pool: {namespace: default, name: test, targetPorts: [8000]}
      models: [{name: m, criticality: Critical, targets: [{name: m, weight: 1}]}]
      requests: {trustFlowHeaders: {extProc: None, gateway: All}, receipts: {responseHeader: true}}
      scheduling: %s
      shadows: %s
      """
            .formatted(scheduling, shadows));
    Files.move(edited, config, StandardCopyOption.ATOMIC_MOVE);
  }

  private String endpoints() {
    StringBuilder text = new StringBuilder("endpoints:\n");
    stubs.forEach(
        stub ->
            text.append(
                "- {name: '%s', address: %s, port: %d}\n"
                    .formatted(
                        stub.config().name(),
                        stub.address().getAddress().getHostAddress(),
                        stub.address().getPort())));
    return text.toString();
  }

  String url() {
    return "http://127.0.0.1:" + plane.gatewayPort().orElseThrow();
  }

  int adminPort() {
    return plane.adminPort().orElseThrow();
  }

  /** Takes a server away from behind it, which it isn't told. */
  void kill(String endpoint) {
    stubs.stream()
        .filter(stub -> stub.config().name().equals(endpoint))
        .forEach(ModelServer::close);
  }

  String adminUrl() {
    return "http://127.0.0.1:" + adminPort();
  }

  @Override
  public void close() {
    plane.close();
    stubs.forEach(ModelServer::close);
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }
}
