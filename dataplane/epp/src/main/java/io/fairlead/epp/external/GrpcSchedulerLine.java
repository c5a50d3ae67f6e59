package io.fairlead.epp.external;

import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutor;
import java.io.File;
import java.net.UnixDomainSocketAddress;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A stream over gRPC, with a thread of its own. What comes is taken in pieces: a scheduler that
 * floods is slowed down, and nothing else.
 */
final class GrpcSchedulerLine implements SchedulerLine {

  /** Messages that may be on their way to the pool's loop. */
  private static final int ON_THE_WAY = 16;

  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final long LONGEST_PAUSE_MILLIS = 5_000;
  private static final int MOST_BYTES = 4 << 20;

  private final ExternalScheduler settings;
  private final EventExecutor loop;
  private @Nullable Listener listener;

  /** Null until it was made. */
  private @Nullable Channel connected;

  private @Nullable Stream stream;
  private long pause = FIRST_PAUSE_MILLIS;
  private boolean closed;

  /** Where calls go, and the thread that carries them. */
  private record Channel(ManagedChannel calls, EventLoopGroup thread) {
    void close() {
      var _ = calls.shutdownNow();
      var _ = thread.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  /**
   * Not open yet.
   *
   * @param loop where the listener is told
   */
  GrpcSchedulerLine(ExternalScheduler settings, EventExecutor loop) {
    this.settings = settings;
    this.loop = loop;
  }

  @Override
  public void start(Listener told) {
    listener = told;
    connect();
  }

  /** On a thread of its own: reads a file, and what it needs may be loaded for the first time. */
  private void connect() {
    Thread.ofPlatform()
        .daemon()
        .name("fairlead-external-scheduler-start")
        .start(
            () -> {
              try {
                Channel made = channel();
                onLoop(() -> made(made));
              } catch (SSLException | IllegalArgumentException e) {
                onLoop(() -> failed("it can't be spoken to: " + e.getMessage()));
              }
            });
  }

  private void made(Channel channel) {
    if (closed) {
      channel.close();
    } else {
      connected = channel;
      open();
    }
  }

  private void failed(String why) {
    if (!closed) {
      listener().broken(why);
      again(this::connect);
    }
  }

  private void again(Runnable next) {
    var _ = loop.schedule(next, pause, TimeUnit.MILLISECONDS);
    pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
  }

  private void open() {
    Channel to = connected;
    if (closed || to == null) {
      return;
    }
    Stream opened = new Stream();
    stream = opened;
    var _ = SchedulerGrpc.newStub(to.calls()).schedule(opened);
    listener().opened();
  }

  private Channel channel() throws SSLException {
    boolean socket = !settings.socket().isEmpty();
    NettyChannelBuilder builder =
        socket
            ? NettyChannelBuilder.forAddress(UnixDomainSocketAddress.of(settings.socket()))
            : NettyChannelBuilder.forAddress(settings.host(), settings.port());
    if (settings.tls()) {
      SslContextBuilder tls = GrpcSslContexts.forClient();
      builder.sslContext(
          settings.caFile().isEmpty()
              ? tls.build()
              : tls.trustManager(new File(settings.caFile())).build());
    } else {
      builder.usePlaintext();
    }
    EventLoopGroup own =
        new MultiThreadIoEventLoopGroup(
            1,
            new DefaultThreadFactory("fairlead-external-scheduler", true),
            NioIoHandler.newFactory());
    return new Channel(
        builder
            .eventLoopGroup(own)
            .channelType(socket ? NioDomainSocketChannel.class : NioSocketChannel.class)
            .overrideAuthority(socket ? "localhost" : settings.address())
            .maxInboundMessageSize(MOST_BYTES)
            .directExecutor()
            .build(),
        own);
  }

  @Override
  public boolean isReady() {
    Stream now = stream;
    return now != null && now.call != null && now.call.isReady();
  }

  @Override
  public void send(PickerMessage message) {
    Stream now = stream;
    if (now != null && now.call != null) {
      now.call.onNext(message);
    }
  }

  @Override
  public void reset(String why) {
    Stream now = stream;
    if (now != null) {
      now.cancel(why);
      now.ended(why);
    }
  }

  @Override
  public void close() {
    closed = true;
    Stream now = stream;
    stream = null;
    if (now != null) {
      now.cancel("not asked any more");
    }
    if (connected != null) {
      connected.close();
    }
  }

  private Listener listener() {
    return Objects.requireNonNull(listener);
  }

  private void onLoop(Runnable event) {
    try {
      loop.execute(event);
    } catch (RejectedExecutionException e) {
      // The pool is gone, and with it whoever wanted to know.
    }
  }

  /** One call, and what comes in it. */
  private final class Stream implements ClientResponseObserver<PickerMessage, SchedulerMessage> {

    private @Nullable ClientCallStreamObserver<PickerMessage> call;

    @Override
    public void beforeStart(ClientCallStreamObserver<PickerMessage> started) {
      call = started;
      started.disableAutoRequestWithInitial(ON_THE_WAY);
    }

    @Override
    public void onNext(SchedulerMessage message) {
      onLoop(
          () -> {
            if (isCurrent()) {
              pause = FIRST_PAUSE_MILLIS;
              listener().came(message);
              if (call != null) {
                call.request(1);
              }
            }
          });
    }

    @Override
    public void onError(Throwable thrown) {
      Status status = Status.fromThrowable(thrown);
      Throwable cause = status.getCause();
      String why =
          cause == null || cause.getMessage() == null
              ? String.valueOf(status.getDescription())
              : cause.getMessage();
      onLoop(() -> ended(status.getCode() + ", " + why));
    }

    @Override
    public void onCompleted() {
      onLoop(() -> ended("it has ended the stream"));
    }

    private boolean isCurrent() {
      return this.equals(stream);
    }

    private void cancel(String why) {
      if (call != null) {
        call.cancel(why, null);
      }
    }

    private void ended(String why) {
      if (!isCurrent()) {
        return;
      }
      stream = null;
      listener().broken(why);
      again(GrpcSchedulerLine.this::open);
    }
  }
}
