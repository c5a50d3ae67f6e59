package io.fairlead.stub.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A server's port: open, closed for a while, or swallowing what comes. It is the same port again
 * when it opens again. Touched on the server's event loop only, {@link #address} and {@link #ended}
 * excepted.
 */
final class Listener {

  /**
   * Linux keeps one connection more than the backlog that nobody accepts, and drops the SYNs of
   * those that follow. One attempt more than needed, for who counts otherwise.
   */
  private static final int FILLERS = 3;

  private static final long RETRY_MILLIS = 20;

  /** What becomes of who connects. */
  enum Mode {
    ACCEPT,
    REFUSE,
    SWALLOW
  }

  final CompletableFuture<Void> ended = new CompletableFuture<>();
  private final EventLoop loop;
  private final ServerBootstrap bootstrap;
  private final InetSocketAddress address;
  private final List<AutoCloseable> swallowing = new ArrayList<>();
  private Mode mode = Mode.ACCEPT;
  private @Nullable Channel channel;
  private boolean over;

  /** What {@code channel} accepts, and after it has been closed {@code bootstrap} again. */
  Listener(EventLoop loop, ServerBootstrap bootstrap, Channel channel) {
    this.loop = loop;
    this.bootstrap = bootstrap;
    this.channel = channel;
    this.address = (InetSocketAddress) channel.localAddress();
  }

  /** Where it listens, with the port that was taken. */
  InetSocketAddress address() {
    return address;
  }

  Mode mode() {
    return mode;
  }

  void mode(Mode next) {
    if (next == mode || over) {
      return;
    }
    mode = next;
    shut();
    open();
  }

  /** Listens no more, once {@link #ended} is done. */
  void end() {
    if (!over) {
      over = true;
      shut();
      // A selector lets go of a closed port when it selects the next time: a round later.
      var _ = loop.schedule(() -> ended.complete(null), 0, TimeUnit.NANOSECONDS);
    }
  }

  private void shut() {
    if (channel != null) {
      // On its own loop: the port is free when that selects the next time.
      var _ = channel.close();
      channel = null;
    }
    for (AutoCloseable each : swallowing) {
      try {
        each.close();
      } catch (Exception e) {
        throw new IllegalStateException("port " + address.getPort() + " can't be closed", e);
      }
    }
    swallowing.clear();
  }

  private void open() {
    Mode wanted = mode;
    switch (wanted) {
      case REFUSE -> {}
      case ACCEPT -> bootstrap.bind(address).addListener(bound -> opened((ChannelFuture) bound));
      case SWALLOW -> {
        try {
          swallow();
        } catch (IOException taken) {
          shut();
          retry(wanted);
        }
      }
    }
  }

  private void opened(ChannelFuture bound) {
    if (!bound.isSuccess()) {
      retry(Mode.ACCEPT);
    } else if (mode == Mode.ACCEPT && !over && channel == null) {
      channel = bound.channel();
    } else {
      var _ = bound.channel().close();
    }
  }

  /** Somebody else may have the port for a moment, as the local end of a connection. */
  private void retry(Mode wanted) {
    var _ =
        loop.schedule(
            () -> {
              if (mode == wanted && !over && channel == null && swallowing.isEmpty()) {
                open();
              }
            },
            RETRY_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  /** A port with as many connections as it keeps, which nobody ever accepts. */
  private void swallow() throws IOException {
    ServerSocketChannel full = ServerSocketChannel.open();
    swallowing.add(full);
    full.bind(address, 1);
    for (int i = 0; i < FILLERS; i++) {
      SocketChannel filler = SocketChannel.open();
      swallowing.add(filler);
      filler.configureBlocking(false);
      filler.connect(
          address.getAddress().isAnyLocalAddress()
              ? new InetSocketAddress(InetAddress.getLoopbackAddress(), address.getPort())
              : address);
    }
  }
}
