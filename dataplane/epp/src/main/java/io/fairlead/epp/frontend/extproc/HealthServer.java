package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.transport.FreestLoop;
import io.fairlead.epp.transport.LeastIdle;
import io.grpc.Server;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;

/**
 * A port that tells {@link Health} in plain text. Anybody may be able to connect: where as many
 * connections are open as {@link LeastIdle} allows, one makes room for a new one.
 */
public final class HealthServer implements AutoCloseable {

  private final Server server;

  private HealthServer(Server server) {
    this.server = server;
  }

  /**
   * Starts listening.
   *
   * @param port 0 takes a free one
   * @throws IllegalStateException if the address can't be listened on; the message names it
   */
  public static HealthServer start(String host, int port, EventLoopGroup group, Health health) {
    return new HealthServer(
        GrpcPort.start(
            GrpcPort.on(host, port, group, new FreestLoop(group, group.next(), new LeastIdle()))
                .addService(health.service()),
            "gRPC health",
            host,
            port));
  }

  /** The port that was taken. */
  public int port() {
    return server.getPort();
  }

  /** Stops at once. */
  @Override
  public void close() {
    GrpcPort.stop(server, Duration.ZERO, () -> {});
  }
}
