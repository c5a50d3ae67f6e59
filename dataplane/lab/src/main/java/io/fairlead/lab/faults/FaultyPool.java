package io.fairlead.lab.faults;

import io.fairlead.stub.server.Fault;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Model server stubs that are told how to misbehave, and the file that names those to be used. */
final class FaultyPool implements AutoCloseable {

  private final PoolFiles files;
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<ModelServer> servers = new ArrayList<>();

  /**
   * Starts servers, all well and in use.
   *
   * @param files of which the endpoints are written
   * @param models names of the models that each serves
   */
  FaultyPool(int count, PoolFiles files, List<String> models) throws IOException {
    this.files = files;
    for (int i = 0; i < count; i++) {
      servers.add(start("stub-" + i, models));
    }
    use(Set.of());
  }

  /** On a port that no connection is given: a server that has closed it gets it back. */
  private ModelServer start(String name, List<String> models) throws IOException {
    while (true) {
      ModelServerConfig config =
          ModelServerConfig.builder(name, models.toArray(String[]::new))
              .listen("127.0.0.1", Ports.free())
              .promptTokensDetails(true)
              .build();
      try {
        return ModelServer.start(config, loops);
      } catch (IllegalStateException e) {
        if (!(e.getCause() instanceof BindException)) {
          throw e;
        }
        // Another process has taken the port since it was looked at; none is given twice.
      }
    }
  }

  List<String> names() {
    return servers.stream().map(server -> server.config().name()).toList();
  }

  /** Requests that each server has heard of, probes included, since it last started. */
  long[] heard() {
    return servers.stream().mapToLong(server -> server.stats().requests()).toArray();
  }

  void begin(Collection<Integer> who, Map<Fault, ?> faults) {
    who.forEach(i -> servers.get(i).faults().begin(faults));
  }

  void restart(Collection<Integer> who) {
    who.forEach(i -> servers.get(i).faults().restart());
  }

  /** All is well again. */
  void clear(Collection<Integer> who) {
    who.forEach(i -> servers.get(i).faults().clear());
  }

  /** Names all servers but these as endpoints. */
  void use(Set<Integer> allBut) throws IOException {
    StringBuilder text = new StringBuilder("endpoints:\n");
    for (int i = 0; i < servers.size(); i++) {
      if (!allBut.contains(i)) {
        text.append(
            "- {name: stub-%d, address: 127.0.0.1, port: %d}%n"
                .formatted(i, servers.get(i).address().getPort()));
      }
    }
    // In one go, and from beside the folder: nobody shall read half a file.
    Path draft = files.home().resolve("endpoints.draft");
    Files.writeString(draft, text);
    Files.move(
        draft,
        files.endpoints(),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void close() {
    servers.forEach(ModelServer::close);
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
