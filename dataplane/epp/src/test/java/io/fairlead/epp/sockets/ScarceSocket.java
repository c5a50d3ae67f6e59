package io.fairlead.epp.sockets;

import io.netty.channel.ChannelException;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.nio.channels.spi.SelectorProvider;

/** A connection that can't be made while the process has no file descriptor left. */
public final class ScarceSocket extends NioSocketChannel {

  private static volatile boolean noneLeft;

  /** As Netty makes it. */
  public ScarceSocket() {
    super(provider());
  }

  private static SelectorProvider provider() {
    if (noneLeft) {
      throw new ChannelException("Failed to open a socket: Too many open files");
    }
    return SelectorProvider.provider();
  }

  /** From now on there is none left, or there are some again. */
  public static void noneLeft(boolean none) {
    noneLeft = none;
  }
}
