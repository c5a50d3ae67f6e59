package io.fairlead.epp.frontend.extproc;

import io.fairlead.epp.transport.Transport;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A gRPC server on event loops that others use too. */
final class GrpcPort {

  /** For what was cut to end: no more than closing sockets. */
  private static final long CUT_SECONDS = 5;

  /** For calls that were told to end to say so. */
  private static final long LAST_MILLIS = 500;

  private GrpcPort() {}

  /**
   * A server whose calls run on the connection's loop.
   *
   * @param connections gives connections their loops, which are of the group
   */
  static NettyServerBuilder on(
      String host, int port, EventLoopGroup group, EventLoopGroup connections) {
    return NettyServerBuilder.forAddress(new InetSocketAddress(host, port))
        .bossEventLoopGroup(group)
        .workerEventLoopGroup(connections)
        .channelType(Transport.server(group))
        .directExecutor();
  }

  /** Starts, or says where it could not listen. */
  static Server start(NettyServerBuilder builder, String what, String host, int port) {
    try {
      return builder.build().start();
    } catch (IOException e) {
      throw Transport.cannotListen(what, host, port, e);
    }
  }

  /**
   * Takes no new calls, lets those in flight finish for so long, then cuts them. Blocks.
   *
   * @param last run at the bound, to end calls better than by a cut
   * @return whether all finished
   */
  static boolean stop(Server server, Duration bound, Runnable last) {
    server.shutdown();
    try {
      if (server.awaitTermination(bound.toMillis(), TimeUnit.MILLISECONDS)) {
        return true;
      }
      last.run();
      server.awaitTermination(LAST_MILLIS, TimeUnit.MILLISECONDS);
      server.shutdownNow();
      server.awaitTermination(CUT_SECONDS, TimeUnit.SECONDS);
      return false;
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
