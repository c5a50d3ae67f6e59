package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Follows the frames of a client's connection of HTTP/2, and counts what is here of a frame, or of
 * a head in several, that is not whole: the codec keeps it until it is. Goes before the codec. Ends
 * the connection where that takes too long.
 */
final class UnfinishedFrames extends ChannelInboundHandlerAdapter {

  private final Unfinished unfinished;
  private final long patience;

  /** How much is to come of the preface, or of a frame's payload. */
  private long rest = Http2CodecUtil.connectionPrefaceBuf().readableBytes();

  /** The bytes of a frame's own head that are here: its length and type, then its flags. */
  private int headBytes;

  private long head;

  /** Whether the head of a request goes on with the next frame. */
  private boolean goesOn;

  private long since;
  private @Nullable Future<?> timer;

  /**
   * Of a new connection.
   *
   * @param patience how long a frame or a head may take
   */
  UnfinishedFrames(Unfinished unfinished, Duration patience) {
    this.unfinished = unfinished;
    this.patience = patience.toNanos();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (msg instanceof ByteBuf bytes) {
      boolean before = unfinished.isThere();
      boolean ended = follow(bytes);
      unfinished.settle();
      if (unfinished.isThere() && (ended || !before)) {
        since = now(ctx);
        if (timer == null) {
          lookIn(ctx, patience);
        }
      }
    }
    ctx.fireChannelRead(msg);
  }

  /** Whether anything became whole. */
  private boolean follow(ByteBuf bytes) {
    boolean ended = false;
    int at = bytes.readerIndex();
    while (at < bytes.writerIndex()) {
      if (rest > 0) {
        int taken = (int) Math.min(rest, bytes.writerIndex() - at);
        at += taken;
        rest -= taken;
        unfinished.came(taken);
      } else {
        head(bytes.getUnsignedByte(at++));
      }
      if (rest == 0 && headBytes == 0 && !goesOn) {
        unfinished.whole();
        ended = true;
      }
    }
    return ended;
  }

  private void head(int next) {
    unfinished.came(1);
    headBytes++;
    if (headBytes <= 5) {
      head = head << 8 | next;
    }
    if (headBytes == Http2CodecUtil.FRAME_HEADER_LENGTH) {
      rest = head >> 16;
      int type = (int) (head >> 8) & 0xff;
      if (type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION) {
        goesOn = !new Http2Flags((short) (head & 0xff)).endOfHeaders();
      }
      headBytes = 0;
      head = 0;
    }
  }

  private void lookIn(ChannelHandlerContext ctx, long nanos) {
    timer = ctx.executor().schedule(() -> look(ctx), nanos, TimeUnit.NANOSECONDS);
  }

  private void look(ChannelHandlerContext ctx) {
    timer = null;
    if (!unfinished.isThere()) {
      return;
    }
    long left = since + patience - now(ctx);
    if (left > 0) {
      lookIn(ctx, left);
    } else {
      var _ = ctx.close();
    }
  }

  private static long now(ChannelHandlerContext ctx) {
    return ctx.executor().ticker().nanoTime();
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    unfinished.stop();
    if (timer != null) {
      timer.cancel(false);
      timer = null;
    }
  }
}
