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

/**
 * The open streams of server-sent events. An event is encoded once for all of them. One that does
 * not keep up misses events, and is closed when it has taken none for ten seconds; every stream
 * ends after ten minutes, so that who may no longer look doesn't. Browsers come again by
 * themselves.
 *
 * <p>Used by one thread, the loop of all their channels.
 */
final class EventStreams {

  static final int MOST = 16;

  private static final int LONGEST_SECONDS = 600;
  private static final int SLOW_SECONDS = 10;

  /** So much may wait for a client: some events, or one of a pool of a thousand endpoints. */
  private static final WriteBufferWaterMark ROOM = new WriteBufferWaterMark(64 << 10, 512 << 10);

  private final List<Stream> open = new ArrayList<>();

  private static final class Stream {
    final Channel channel;
    int seconds;
    int full;

    Stream(Channel channel) {
      this.channel = channel;
    }
  }

  int count() {
    return open.size();
  }

  boolean hasRoom() {
    return open.size() < MOST;
  }

  /** To be called when the response's head has been written. */
  void add(Channel channel) {
    channel.config().setWriteBufferWaterMark(ROOM);
    Stream added = new Stream(channel);
    open.add(added);
    channel.closeFuture().addListener(closed -> open.remove(added));
  }

  /** A second has passed. */
  void tick() {
    for (Stream stream : List.copyOf(open)) {
      stream.seconds++;
      stream.full = stream.channel.isWritable() ? 0 : stream.full + 1;
      if (stream.full >= SLOW_SECONDS) {
        var _ = stream.channel.close();
      } else if (stream.seconds >= LONGEST_SECONDS) {
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

  void sendToNewest(String event, String data) {
    send(open.subList(open.size() - 1, open.size()), event, data);
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
