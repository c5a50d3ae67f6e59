package io.fairlead.epp.frontend.gateway;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.util.ReferenceCountUtil;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Fails a stream whose request has no method or no path, or whose answer no status, or such as
 * can't be, RFC 9113 8.1.1. Strips values of spaces at their ends. Goes before the codec that makes
 * a message of it, which loses a buffer over such a head.
 */
final class Http2Heads extends ChannelInboundHandlerAdapter {

  private final Predicate<Http2Headers> good;
  private boolean begun;
  private boolean refused;

  private Http2Heads(Predicate<Http2Headers> good) {
    this.good = good;
  }

  /** Of a client's stream. */
  static Http2Heads ofRequests() {
    return new Http2Heads(head -> isMethod(head.method()) && isPath(head.path()));
  }

  /** Of an endpoint's stream. */
  static Http2Heads ofAnswers() {
    return new Http2Heads(head -> isStatus(head.status()));
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    if (!begun && msg instanceof Http2HeadersFrame frame) {
      Http2Headers head = frame.headers();
      refused = !good.test(head) || (isInterim(head.status()) && frame.isEndStream());
      begun = refused || !isInterim(head.status());
      if (refused) {
        ctx.fireExceptionCaught(
            new Http2Exception(
                Http2Error.PROTOCOL_ERROR, "a head without a method, a path or a status"));
      }
    }
    if (refused) {
      ReferenceCountUtil.release(msg);
      return;
    }
    if (msg instanceof Http2HeadersFrame frame) {
      stripEnds(frame.headers());
    }
    ctx.fireChannelRead(msg);
  }

  /**
   * A value that ends with a space is malformed, RFC 9113 8.2.1, which the codec does not look for.
   * In HTTP/1.1 it would be no part of the value: a server that is strict ends its connection.
   */
  private static void stripEnds(Http2Headers headers) {
    for (Map.Entry<CharSequence, CharSequence> header : headers) {
      CharSequence value = header.getValue();
      int end = value.length();
      while (end > 0 && (value.charAt(end - 1) == ' ' || value.charAt(end - 1) == '\t')) {
        end--;
      }
      if (end < value.length()) {
        header.setValue(value.subSequence(0, end));
      }
    }
  }

  /** As the codec judges it. One that asks for a tunnel has no path, and is of no use here. */
  private static boolean isMethod(@Nullable CharSequence name) {
    if (name == null || HttpMethod.CONNECT.asciiName().contentEqualsIgnoreCase(name)) {
      return false;
    }
    try {
      var _ = HttpMethod.valueOf(name.toString());
      return true;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static boolean isPath(@Nullable CharSequence path) {
    return path != null && HttpUtil.isEncodingSafeStartLineToken(path);
  }

  /** Nobody asked to switch protocols, which can't be done in HTTP/2. */
  private static boolean isStatus(@Nullable CharSequence status) {
    if (status == null || status.length() != 3 || "101".contentEquals(status)) {
      return false;
    }
    boolean digits = status.charAt(0) != '0';
    for (int i = 0; i < 3; i++) {
      digits &= status.charAt(i) >= '0' && status.charAt(i) <= '9';
    }
    return digits;
  }

  private static boolean isInterim(@Nullable CharSequence status) {
    return status != null && status.charAt(0) == '1';
  }
}
