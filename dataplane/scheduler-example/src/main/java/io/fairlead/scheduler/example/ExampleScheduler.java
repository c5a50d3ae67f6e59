package io.fairlead.scheduler.example;

import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;

/**
 * A scheduler that listens for pickers. Each stream has a {@link LeastWork} of its own: the numbers
 * of endpoints mean nothing in another one.
 */
public final class ExampleScheduler extends SchedulerGrpc.SchedulerImplBase {

  private static final int VERSION = 1;
  private static final String UNIX = "unix:";

  /**
   * A picker whose node is gone does not end its stream: it is asked so often whether it is still
   * there, and given up when it has not answered as much later.
   */
  private static final long LOOK_SECONDS = 10;

  /** Answers each message at once, and with one message, so that a batch stays one. */
  @Override
  public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> picker) {
    LeastWork policy = new LeastWork();
    return new StreamObserver<>() {
      @Override
      public void onNext(PickerMessage message) {
        SchedulerMessage.Builder answer = SchedulerMessage.newBuilder();
        if (message.hasHello()) {
          answer.setHello(
              SchedulerHello.newBuilder().setVersion(VERSION).setName("least work, in Java"));
        }
        policy.learn(message);
        message.getRequestsList().forEach(one -> answer.addDecisions(policy.decide(one)));
        if (answer.hasHello() || answer.getDecisionsCount() > 0) {
          picker.onNext(answer.build());
        }
      }

      @Override
      public void onError(Throwable gone) {}

      @Override
      public void onCompleted() {
        picker.onCompleted();
      }
    };
  }

  /**
   * Listens.
   *
   * @param address {@code unix:PATH}, or a port of the loopback interface
   * @param loops the thread that it answers on
   */
  public static Server start(String address, EventLoopGroup loops) throws IOException {
    boolean unix = address.startsWith(UNIX);
    Path socket = Path.of(unix ? address.substring(UNIX.length()) : "none");
    if (unix) {
      Files.deleteIfExists(socket); // one that ended without a word has left it
    }
    SocketAddress there =
        unix
            ? UnixDomainSocketAddress.of(socket)
            : new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(address));
    Server server =
        NettyServerBuilder.forAddress(there)
            .bossEventLoopGroup(loops)
            .workerEventLoopGroup(loops)
            .channelType(unix ? NioServerDomainSocketChannel.class : NioServerSocketChannel.class)
            .directExecutor()
            .keepAliveTime(LOOK_SECONDS, TimeUnit.SECONDS)
            .keepAliveTimeout(LOOK_SECONDS, TimeUnit.SECONDS)
            .addService(new ExampleScheduler())
            .addService(new HealthStatusManager().getHealthService())
            .build()
            .start();
    if (unix) {
      // The picker is another user.
      Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rwxrwxrwx"));
    }
    return server;
  }

  /** The only argument is where to listen. */
  public static void main(String[] args) throws IOException, InterruptedException {
    if (args.length != 1) {
      System.err.println("say where to listen: unix:PATH, or a port");
      System.exit(2);
    }
    EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
    start(args[0], loops).awaitTermination();
  }
}
