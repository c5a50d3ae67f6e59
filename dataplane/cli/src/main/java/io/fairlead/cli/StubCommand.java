package io.fairlead.cli;

import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs model server stubs until ended. */
@Command(
    name = "stub",
    description = "Model servers without accelerators: the OpenAI API over an engine model.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class StubCommand implements Callable<Integer> {

  @Option(
      names = "--listen",
      paramLabel = "HOST:PORT",
      split = ",",
      description = "Where to listen, one server each. Port 0 takes a free one.",
      defaultValue = "0.0.0.0:8000")
  private List<HostPort> listen = List.of();

  @Option(
      names = "--model",
      paramLabel = "NAME",
      split = ",",
      description = "Model names that are served.",
      defaultValue = "llama-3.1-8b")
  private List<String> models = List.of();

  @Option(
      names = "--name",
      description =
          "How the server names itself in x-stub-endpoint; numbered when there are several.",
      defaultValue = "${env:POD_NAME:-stub}")
  private String name = "stub";

  @Option(
      names = "--profile",
      description = "Speed and size of the engine, e.g. h100-8b, l4-8b.",
      defaultValue = "h100-8b")
  private String profile = "h100-8b";

  @Option(
      names = "--time-scale",
      description = "Wall seconds per engine second; 0.1 is ten times as fast, 0 instant.",
      defaultValue = "1")
  private double timeScale = 1;

  @Option(
      names = "--body-hash",
      description = "Send the SHA-256 of each request body back as x-stub-body-sha256.")
  private boolean bodyHash;

  @Override
  public Integer call() throws InterruptedException {
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(NioIoHandler.newFactory());
    List<ModelServer> servers = new ArrayList<>();
    var ended = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  servers.forEach(ModelServer::close);
                  ended.countDown();
                },
                "stub-shutdown"));
    for (int i = 0; i < listen.size(); i++) {
      String serverName = listen.size() == 1 ? name : name + "-" + i;
      ModelServer server = ModelServer.start(config(serverName, listen.get(i)), loops);
      servers.add(server);
      System.out.println(serverName + " listens on " + server.url());
    }
    ended.await();
    return 0;
  }

  private ModelServerConfig config(String serverName, HostPort address) {
    ModelServerConfig.Builder builder =
        ModelServerConfig.builder(serverName, models.toArray(String[]::new))
            .listen(address.host(), address.port())
            .profile(EngineProfile.named(profile))
            .timeScale(timeScale);
    return builder.bodyHash(bodyHash).build();
  }
}
