package io.fairlead.cli.conformance;

import io.grpc.ManagedChannel;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** The scheduler, and how to get to it. */
final class SchedulerUnderTest implements AutoCloseable {

  private static final String UNIX = "unix:";

  private final String address;
  private final @Nullable SslContext tls;
  private final Duration timeout;
  private final Duration patience;
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());

  private SchedulerUnderTest(
      String address, @Nullable SslContext tls, Duration timeout, Duration patience) {
    this.address = address;
    this.tls = tls;
    this.timeout = timeout;
    this.patience = patience;
  }

  /**
   * One that listens there.
   *
   * @param caFile authorities to trust; null for those that the host trusts
   * @param timeout of a request
   * @param patience how long a case waits for what has to come
   * @throws IllegalArgumentException if there can't be any
   */
  static SchedulerUnderTest at(
      String address, boolean tls, @Nullable Path caFile, Duration timeout, Duration patience) {
    if (!address.matches("unix:.+|[^\\s/]+:[1-9][0-9]{0,4}")) {
      throw new IllegalArgumentException(
          "--address is \""
              + address
              + "\"; set host:port, such as localhost:9100, or a socket's path, such as"
              + " unix:/run/scheduler/socket");
    }
    if (caFile != null && !tls) {
      throw new IllegalArgumentException("--ca-file is set without --tls; set both");
    }
    try {
      SslContextBuilder context = GrpcSslContexts.forClient();
      if (caFile != null) {
        context.trustManager(caFile.toFile());
      }
      return new SchedulerUnderTest(address, tls ? context.build() : null, timeout, patience);
    } catch (SSLException e) {
      throw new IllegalArgumentException("--ca-file can't be used: " + e.getMessage(), e);
    }
  }

  /** How long a case waits for what has to come. */
  Duration patience() {
    return patience;
  }

  Duration timeout() {
    return timeout;
  }

  /** The socket's path; null where it is reached over TCP. */
  @Nullable Path socket() {
    return address.startsWith(UNIX) ? Path.of(address.substring(UNIX.length())) : null;
  }

  /** A connection of its own; the caller's to shut down. */
  ManagedChannel connect() {
    Path socket = socket();
    int colon = address.lastIndexOf(':');
    NettyChannelBuilder builder =
        socket == null
            ? NettyChannelBuilder.forAddress(
                    address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)))
                .channelType(NioSocketChannel.class)
            : NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(socket))
                .channelType(NioDomainSocketChannel.class);
    if (tls == null) {
      builder.usePlaintext();
    } else {
      builder.sslContext(tls);
    }
    return builder
        .eventLoopGroup(loops)
        .overrideAuthority(socket == null ? address : "localhost")
        .directExecutor()
        .build();
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, 1_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }
}
