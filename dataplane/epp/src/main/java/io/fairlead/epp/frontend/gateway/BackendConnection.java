package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection to an endpoint, lent to one exchange at a time. Reads only when asked to. On its
 * event loop, like the exchange that it is lent to.
 */
final class BackendConnection extends ChannelInboundHandlerAdapter {

  /** When a connection broke, as seen from the request on it. */
  enum Break {
    /** Before any byte, and it had served others: the endpoint may have closed it while idle. */
    STALE,
    /** Before any byte of the response. */
    UNANSWERED,
    /** The endpoint had begun to answer; how is not known. */
    IN_HEAD,
    IN_BODY
  }

  private final BackendPool pool;
  private final InetSocketAddress address;
  private final Channel channel;

  private @Nullable ProxyExchange user;
  private @Nullable ChannelFuture written;
  private boolean reused;
  private boolean byteSeen;
  private boolean headSeen;
  private boolean interim;
  private boolean keepAlive;
  private long idleSince;

  BackendConnection(BackendPool pool, InetSocketAddress address, Channel channel) {
    this.pool = pool;
    this.address = address;
    this.channel = channel;
  }

  InetSocketAddress address() {
    return address;
  }

  boolean isActive() {
    return channel.isActive();
  }

  /** It is handed out again. */
  void reuse() {
    reused = true;
  }

  /** Goes before the decoder: sees a first byte that the decoder makes nothing of yet. */
  ChannelHandler byteWatch() {
    return new ChannelInboundHandlerAdapter() {
      @Override
      public void channelRead(ChannelHandlerContext ctx, Object msg) {
        byteSeen = true;
        ctx.fireChannelRead(msg);
      }
    };
  }

  long idleSince() {
    return idleSince;
  }

  void idleSince(long nanos) {
    idleSince = nanos;
  }

  void read() {
    channel.read();
  }

  /** Sends a request whose response goes to {@code exchange}. Takes ownership of the request. */
  void send(FullHttpRequest request, ProxyExchange exchange) {
    user = exchange;
    byteSeen = false;
    headSeen = false;
    written = channel.writeAndFlush(request).addListener(ChannelFutureListener.CLOSE_ON_FAILURE);
    channel.read();
  }

  /** The exchange is over before its response: nobody listens any more. */
  void abandon() {
    user = null;
    var _ = channel.close();
  }

  /** Gives back a connection that was not used. */
  void giveBack() {
    pool.release(this);
  }

  void close() {
    var _ = channel.close();
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) {
    ProxyExchange to = user;
    if (to == null || ((HttpObject) msg).decoderResult().isFailure()) {
      ReferenceCountUtil.release(msg);
      var _ = channel.close(); // nobody asked, or it can't be understood
      return;
    }
    if (msg instanceof HttpResponse response) {
      head(response, to);
    }
    if (msg instanceof HttpContent content) {
      content(content, to);
    }
  }

  private void head(HttpResponse response, ProxyExchange to) {
    interim = response.status().code() < 200;
    if (response.status().code() == 101) {
      var _ = channel.close(); // nobody asked to switch protocols
    }
    if (!interim) {
      headSeen = true;
      keepAlive = HttpUtil.isKeepAlive(response);
      to.head(response);
    }
  }

  private void content(HttpContent content, ProxyExchange to) {
    boolean last = content instanceof LastHttpContent;
    if (interim) {
      interim = !last;
      content.release();
    } else if (!last) {
      to.content(content);
    } else {
      user = null;
      if (keepAlive && written != null && written.isSuccess() && channel.isActive()) {
        pool.release(this);
      } else {
        var _ = channel.close();
      }
      to.last((LastHttpContent) content);
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (user == null || user.readyForMore()) {
      channel.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ProxyExchange left = user;
    user = null;
    if (left == null) {
      pool.forget(this);
    } else {
      left.broken(how());
    }
  }

  private Break how() {
    if (byteSeen) {
      return headSeen ? Break.IN_BODY : Break.IN_HEAD;
    }
    return reused ? Break.STALE : Break.UNANSWERED;
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    var _ = channel.close(); // told to the user by channelInactive
  }
}
