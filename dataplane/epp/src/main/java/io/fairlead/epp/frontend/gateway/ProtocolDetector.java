package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Tells by its first bytes whether a connection in plain text speaks HTTP/2, which clients do that
 * know it of the gateway, or HTTP/1.1; sets the one up and leaves.
 */
final class ProtocolDetector extends ByteToMessageDecoder {

  private static final ByteBuf PREFACE = Http2CodecUtil.connectionPrefaceBuf();

  private final Duration patience;
  private final Runnable http1;
  private final Runnable http2;
  private @Nullable Future<?> timer;

  /**
   * Waits for the first bytes.
   *
   * @param patience after which a connection that brings too few is closed
   */
  ProtocolDetector(Duration patience, Runnable http1, Runnable http2) {
    this.patience = patience;
    this.http1 = http1;
    this.http2 = http2;
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    timer =
        ctx.executor()
            .schedule(
                () -> {
                  var _ = ctx.close();
                },
                patience.toNanos(),
                TimeUnit.NANOSECONDS);
    ctx.read();
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    int seen = Math.min(in.readableBytes(), PREFACE.readableBytes());
    boolean same = ByteBufUtil.equals(PREFACE, PREFACE.readerIndex(), in, in.readerIndex(), seen);
    if (same && seen < PREFACE.readableBytes()) {
      return;
    }
    if (same) {
      http2.run();
    } else {
      http1.run();
    }
    var _ = ctx.pipeline().remove(this);
  }

  /** A client that leaves at once is nothing to log. */
  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    var _ = ctx.close();
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext ctx) {
    if (timer != null) {
      timer.cancel(false);
    }
  }
}
