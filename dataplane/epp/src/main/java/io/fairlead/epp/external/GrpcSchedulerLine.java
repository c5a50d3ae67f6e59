package io.fairlead.epp.external;

import io.fairlead.core.scheduling.ExternalScheduler;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ClientResponseObserver;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioDomainSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.File;
import java.net.UnixDomainSocketAddress;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * A stream over gRPC, with a thread of its own. What comes is taken in pieces: a scheduler that
 * floods is slowed down, and nothing else.
 *
 * <p>Every stream has a connection of its own: certificates are read anew, a name is resolved anew,
 * and a connection whose other end has gone without a word is not used again.
 */
final class GrpcSchedulerLine implements SchedulerLine {

  /** Messages that may be on their way to the loop. */
  private static final int ON_THE_WAY = 16;

  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * The longest pause before it connects again. A stream that lived longer than this has done well:
   * the next pause is the first again.
   */
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** As the protocol has it. */
  private static final int MOST_BYTES = 4 << 20;

  private static final MethodDescriptor<PickerMessage, SchedulerMessage> SCHEDULE =
      SchedulerGrpc.getScheduleMethod().toBuilder()
          .setResponseMarshaller(new SchedulerMessages())
          .build();

  private final ExternalScheduler settings;
  private final SchedulerLoop loop;
  private final ThreadFactory starters;

  /** Made with the first connection: it takes files, which the process may lack. */
  private @Nullable EventLoopGroup thread;

  private @Nullable Listener listener;
  private volatile @Nullable Stream stream;
  private long pause = FIRST_PAUSE_NANOS;
  private volatile boolean closed;

  /**
   * Not open yet.
   *
   * @param loop where the listener is told
   */
  GrpcSchedulerLine(ExternalScheduler settings, SchedulerLoop loop) {
    this(
        settings,
        loop,
        Thread.ofPlatform().daemon().name("fairlead-external-scheduler-start").factory());
  }

  /**
   * Not open yet.
   *
   * @param starters of the threads that streams are opened on
   */
  GrpcSchedulerLine(ExternalScheduler settings, SchedulerLoop loop, ThreadFactory starters) {
    this.settings = settings;
    this.loop = loop;
    this.starters = starters;
  }

  @Override
  public void start(Listener told) {
    listener = told;
    connect();
  }

  private void connect() {
    if (closed) {
      return;
    }
    try {
      starters.newThread(this::begin).start();
    } catch (RuntimeException | Error e) { // the process has as many as it may have, say
      failed("there is no thread to open a stream on: " + e.getMessage());
    }
  }

  /** On a thread of its own: reads a file, and what it needs may be loaded for the first time. */
  private void begin() {
    try {
      ManagedChannel made = channel();
      if (!onLoop(() -> open(made))) {
        made.shutdownNow();
      }
    } catch (SSLException | RuntimeException | Error e) {
      onLoop(() -> failed("it can't be spoken to: " + e.getMessage()));
    }
  }

  private void failed(String why) {
    if (!closed) {
      try {
        listener().broken(why);
      } finally {
        connectAgain();
      }
    }
  }

  private void connectAgain() {
    loop.schedule(this::connect, pause);
    pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
  }

  private void open(ManagedChannel to) {
    if (closed) {
      to.shutdownNow();
      return;
    }
    Stream opened = new Stream(to);
    stream = opened;
    try {
      var _ = ClientCalls.asyncBidiStreamingCall(to.newCall(SCHEDULE, CallOptions.DEFAULT), opened);
    } catch (RuntimeException | Error e) {
      opened.ended("it can't be spoken to: " + e.getMessage());
      return;
    }
    if (closed) {
      opened.cancel("not asked any more"); // closed meanwhile, on another thread
      return;
    }
    listener().opened();
  }

  private ManagedChannel channel() throws SSLException {
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
    return builder
        .eventLoopGroup(thread())
        .channelType(socket ? NioDomainSocketChannel.class : NioSocketChannel.class)
        .overrideAuthority(socket ? "localhost" : settings.address())
        .maxInboundMessageSize(MOST_BYTES)
        .directExecutor()
        .build();
  }

  private synchronized EventLoopGroup thread() {
    if (closed) {
      throw new IllegalStateException("it is not asked any more");
    }
    EventLoopGroup made = thread;
    if (made == null) {
      made =
          new MultiThreadIoEventLoopGroup(
              1,
              new DefaultThreadFactory("fairlead-external-scheduler", true),
              NioIoHandler.newFactory());
      thread = made;
    }
    return made;
  }

  @Override
  public boolean isReady() {
    Stream now = stream;
    ClientCallStreamObserver<PickerMessage> call = now == null ? null : now.call;
    return call != null && call.isReady();
  }

  @Override
  public void send(PickerMessage message) {
    Stream now = stream;
    ClientCallStreamObserver<PickerMessage> call = now == null ? null : now.call;
    if (call != null && !closed) {
      call.onNext(message);
    }
  }

  @Override
  public void reset(String why) {
    Stream now = stream;
    if (now != null) {
      now.ended(why);
    }
  }

  @Override
  public void close() {
    EventLoopGroup made;
    synchronized (this) {
      closed = true;
      made = thread;
    }
    Stream now = stream;
    stream = null;
    if (now != null) {
      now.cancel("not asked any more");
    }
    if (made != null) {
      var _ = made.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  private Listener listener() {
    return Objects.requireNonNull(listener);
  }

  /** False if the loop has ended, and with it whoever wanted to know. */
  private boolean onLoop(Runnable event) {
    try {
      loop.execute(event);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  /** One call, and what comes in it. */
  private final class Stream implements ClientResponseObserver<PickerMessage, SchedulerMessage> {

    private final ManagedChannel connection;
    private final long openedAt = System.nanoTime();
    private final ReadPace pace = new ReadPace(ON_THE_WAY);
    private volatile @Nullable ClientCallStreamObserver<PickerMessage> call;

    Stream(ManagedChannel connection) {
      this.connection = connection;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<PickerMessage> started) {
      call = started;
      started.disableAutoRequestWithInitial(ON_THE_WAY);
      started.setOnReadyHandler(
          () ->
              onLoop(
                  () -> {
                    if (isCurrent()) {
                      listener().ready();
                    }
                  }));
    }

    @Override
    public void onNext(SchedulerMessage message) {
      onLoop(() -> came(message));
    }

    private void came(SchedulerMessage message) {
      if (!isCurrent()) {
        return;
      }
      int gain = -1;
      try {
        gain = listener().came(message);
      } finally {
        take(pace.came(gain));
        if (pace.isHeldBack()) {
          loop.schedule(this::takeOne, pace.pause());
        }
      }
    }

    private void takeOne() {
      pace.tookOne();
      take(1);
    }

    private void take(int messages) {
      ClientCallStreamObserver<PickerMessage> current = call;
      if (messages > 0 && isCurrent() && current != null) {
        current.request(messages);
      }
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
      ClientCallStreamObserver<PickerMessage> current = call;
      if (current != null) {
        current.cancel(why, null);
      }
      connection.shutdownNow();
    }

    private void ended(String why) {
      if (!isCurrent()) {
        return;
      }
      stream = null;
      if (System.nanoTime() - openedAt > LONGEST_PAUSE_NANOS) {
        pause = FIRST_PAUSE_NANOS;
      }
      try {
        cancel(why);
        listener().broken(why);
      } finally {
        connectAgain();
      }
    }
  }
}
