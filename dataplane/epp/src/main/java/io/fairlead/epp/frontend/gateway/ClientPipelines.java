package io.fairlead.epp.frontend.gateway;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ApplicationProtocolNegotiationHandler;
import io.netty.handler.ssl.SslContext;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Sets a client's connection up for what it speaks: HTTP/1.1 or HTTP/2, in plain text or in TLS.
 *
 * @param tls null for plain text
 */
record ClientPipelines(Gateway gateway, LoopResources resources, @Nullable SslContext tls) {

  /**
   * An answer is read on while less than this waits for its client. Of a client that is quick
   * nothing waits: what was read is flushed at once, and the kernel takes more than this.
   */
  private static final WriteBufferWaterMark WAITING = new WriteBufferWaterMark(8 << 10, 16 << 10);

  void begin(Channel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    if (tls == null) {
      Duration patience = gateway.config().clients().idle();
      pipeline.addLast(new ProtocolDetector(patience, () -> http1(channel), () -> http2(channel)));
    } else {
      pipeline
          .addLast(new UnfinishedRecords(new Unfinished(channel, resources.unfinished())))
          .addLast(tls.newHandler(channel.alloc()))
          .addLast(new Negotiated());
    }
  }

  /** After the handshake of TLS, which has a bound of its own. */
  private final class Negotiated extends ApplicationProtocolNegotiationHandler {

    Negotiated() {
      super(ApplicationProtocolNames.HTTP_1_1);
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
      super.channelActive(ctx);
      ctx.read();
    }

    @Override
    protected void configurePipeline(ChannelHandlerContext ctx, String protocol) {
      if (protocol.equals(ApplicationProtocolNames.HTTP_2)) {
        http2(ctx.channel());
      } else {
        http1(ctx.channel());
      }
    }

    @Override
    protected void handshakeFailure(ChannelHandlerContext ctx, Throwable cause) {
      var _ = ctx.close(); // not a line of log for every port scan
    }

    /** Load balancers that look whether somebody listens reset their connections. */
    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) throws Exception {
      if (cause instanceof IOException) {
        var _ = ctx.close();
      } else {
        super.exceptionCaught(ctx, cause);
      }
    }
  }

  private void http1(Channel channel) {
    channel.config().setWriteBufferWaterMark(WAITING);
    ClientConnection connection =
        new ClientConnection(gateway, channel, resources, Hop.of(channel, tls != null, "1.1"));
    connection.addTo(channel.pipeline());
  }

  private void http2(Channel channel) {
    Hop hop = Hop.of(channel, tls != null, "2.0");
    Http2Connection connection = new Http2Connection(channel, gateway.config().clients());
    ChannelInitializer<Channel> streams =
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel stream) {
            stream.config().setAutoRead(false).setWriteBufferWaterMark(WAITING);
            connection.opened(stream);
            stream
                .pipeline()
                .addLast(Http2Heads.ofRequests())
                .addLast(new Http2StreamFrameToHttpObjectCodec(true))
                .addLast(new ClientConnection(gateway, stream, resources, hop));
          }
        };
    channel
        .pipeline()
        .addLast(
            new UnfinishedFrames(
                new Unfinished(channel, resources.unfinished()), gateway.config().clients().head()))
        .addLast(Http2Connection.codec(gateway))
        .addLast(new Http2MultiplexHandler(streams))
        .addLast(connection);
    // Flow control holds the streams back; what is about the connection must always be read.
    channel.config().setAutoRead(true);
    if (gateway.leaving()) {
      connection.leave();
    }
  }
}
