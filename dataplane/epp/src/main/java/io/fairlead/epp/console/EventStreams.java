package io.fairlead.epp.console;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open streams of server-sent events. An event is encoded once for all of them. One that does
 * not keep up misses events, and is closed when it has taken none for ten seconds; one whose token
 * or session ends does so with it.
 *
 * <p>Used by one thread, the loop of all their channels.
 */
final class EventStreams {

  static final int MOST = 16;

  private static final int SLOW_SECONDS = 10;

  /** So much may wait for a client: some events, or one of a pool of a thousand endpoints. */
  private static final WriteBufferWaterMark ROOM = new WriteBufferWaterMark(64 << 10, 512 << 10);

  private final List<Stream> open = new ArrayList<>();

  /** One of them. */
  static final class Stream {
    private final Channel channel;
    private final BooleanSupplier admitted;
    private int full;

    private Stream(Channel channel, BooleanSupplier admitted) {
      this.channel = channel;
      this.admitted = admitted;
    }
  }

  int count() {
    return open.size();
  }

  boolean hasRoom() {
    return open.size() < MOST;
  }

  /**
   * To be called when the response's head has been written.
   *
   * @param admitted whether its client may still look
   * @return null if whoever asked for it has gone already
   */
  @Nullable Stream add(Channel channel, BooleanSupplier admitted) {
    if (!channel.isActive()) {
      return null;
    }
    channel.config().setWriteBufferWaterMark(ROOM);
    Stream added = new Stream(channel, admitted);
    open.add(added);
    channel.closeFuture().addListener(closed -> open.remove(added));
    return added;
  }

  /** A second has passed. */
  void tick() {
    for (Stream stream : List.copyOf(open)) {
      stream.full = stream.channel.isWritable() ? 0 : stream.full + 1;
      if (stream.full >= SLOW_SECONDS) {
        var _ = stream.channel.close();
      } else if (!stream.admitted.getAsBoolean()) {
        open.remove(stream);
        stream
            .channel
            .writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT)
            .addListener(ChannelFutureListener.CLOSE);
      }
    }
  }

  /** To all that keep up. */
  void send(String event, String data) {
    send(open, event, data);
  }

  /** To one alone. */
  static void send(Stream to, String event, String data) {
    send(List.of(to), event, data);
  }

  private static void send(List<Stream> to, String event, String data) {
    if (to.isEmpty()) {
      return;
    }
    ByteBuf encoded =
        Unpooled.copiedBuffer(
            "event: " + event + "\ndata: " + data + "\n\n", StandardCharsets.UTF_8);
    try {
      // A write that fails closes its channel, which leaves the list.
      for (Stream stream : List.copyOf(to)) {
        if (stream.channel.isWritable()) {
          var _ = stream.channel.writeAndFlush(new DefaultHttpContent(encoded.retainedDuplicate()));
        }
      }
    } finally {
      encoded.release();
    }
  }
}
