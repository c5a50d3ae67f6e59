package io.fairlead.epp.frontend.gateway;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;

/**
 * Follows the records of a client's TLS, and counts what is here of one that is not whole: it can't
 * be read before it is, and lies where nothing else counts it. Goes before what decrypts.
 */
final class UnfinishedRecords extends ChannelInboundHandlerAdapter {

  /** Of a record's own head: its type, its version, its length in two bytes. */
  private static final int HEAD_BYTES = 5;

  private final Unfinished unfinished;
  private int headBytes;
  private int length;

  /** How much is to come of a record. */
  private int rest;

  /** Of a new connection. */
  UnfinishedRecords(Unfinished unfinished) {
    this.unfinished = unfinished;
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (msg instanceof ByteBuf bytes) {
      follow(bytes);
      unfinished.settle();
    }
    ctx.fireChannelRead(msg);
  }

  private void follow(ByteBuf bytes) {
    int at = bytes.readerIndex();
    while (at < bytes.writerIndex()) {
      int taken = 1;
      if (headBytes < HEAD_BYTES) {
        length = (length << 8 | bytes.getUnsignedByte(at)) & 0xffff;
        headBytes++;
        rest = length;
      } else {
        taken = Math.min(rest, bytes.writerIndex() - at);
        rest -= taken;
      }
      at += taken;
      unfinished.came(taken);
      if (headBytes == HEAD_BYTES && rest == 0) {
        unfinished.whole();
        headBytes = 0;
      }
    }
  }

  @Override
  public void handlerRemoved(ChannelHandlerContext ctx) {
    unfinished.stop();
  }
}
