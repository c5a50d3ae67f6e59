package io.fairlead.epp.warmup;

import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;

/** Answers what the gateway sends: streamed to requests marked so, else in one piece. */
final class ModelServer implements AutoCloseable {

  /** Tells it to stream, since it does not read bodies. */
  static final String STREAM = "x-warm-up-stream";

  private final ChannelGroup clients = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel server;

  /** Listens on a free port of this machine only. */
  ModelServer(EventLoopGroup group) {
    server =
        new ServerBootstrap()
            .group(group)
            .channel(Transport.server(group))
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    clients.add(channel);
                    channel.pipeline().addLast(new HttpServerCodec()).addLast(new Answering());
                  }
                })
            .bind("127.0.0.1", 0)
            .syncUninterruptibly()
            .channel();
  }

  int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  @Override
  public void close() {
    server.close().syncUninterruptibly();
    clients.close().awaitUninterruptibly();
  }

  private static final class Answering extends SimpleChannelInboundHandler<HttpObject> {

    private boolean streamed;

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, HttpObject message) {
      if (message instanceof HttpRequest request) {
        streamed = request.headers().contains(STREAM);
      }
      if (message instanceof LastHttpContent) {
        if (streamed) {
          stream(ctx);
        } else {
          var _ = ctx.writeAndFlush(whole());
        }
      }
    }

    private static FullHttpResponse whole() {
      ByteBuf body = Unpooled.wrappedBuffer(Answer.WHOLE);
      FullHttpResponse response =
          new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, body);
      response
          .headers()
          .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
          .set(HttpHeaderNames.CONTENT_LENGTH, body.readableBytes());
      return response;
    }

    private static void stream(ChannelHandlerContext ctx) {
      HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
      head.headers()
          .set(HttpHeaderNames.CONTENT_TYPE, Answer.EVENTS)
          .set(HttpHeaderNames.TRANSFER_ENCODING, HttpHeaderValues.CHUNKED);
      var _ = ctx.writeAndFlush(head);
      for (byte[] event : Answer.STREAMED) {
        HttpContent piece = new DefaultHttpContent(Unpooled.wrappedBuffer(event));
        var _ = ctx.writeAndFlush(piece);
      }
      var _ = ctx.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      var _ = ctx.close();
    }
  }
}
