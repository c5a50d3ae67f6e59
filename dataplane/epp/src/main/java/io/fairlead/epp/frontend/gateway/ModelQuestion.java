package io.fairlead.epp.frontend.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.core.Route;
import io.fairlead.epp.openai.ModelList;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One endpoint being asked what it serves, on a connection of its own. */
final class ModelQuestion extends SimpleChannelInboundHandler<FullHttpResponse> {

  private static final long PATIENCE_MILLIS = 2_000;
  private static final int LONGEST_ANSWER = 1 << 20;

  private final InetSocketAddress address;
  private final @Nullable EndpointTls tls;
  private final Consumer<@Nullable List<ObjectNode>> answer;
  private @Nullable Future<?> patience;
  private @Nullable Channel channel;
  private boolean over;

  /**
   * Tells {@code answer} once: the entries, or null where there was no answer.
   *
   * @param tls null for plain text
   */
  ModelQuestion(
      InetSocketAddress address,
      @Nullable EndpointTls tls,
      Consumer<@Nullable List<ObjectNode>> answer) {
    this.address = address;
    this.tls = tls;
    this.answer = answer;
  }

  void ask(EventLoop loop, Class<? extends SocketChannel> channelType) {
    patience = loop.schedule(() -> end(null), PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(channelType)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0) // bounded with the rest
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    EndpointTls.addTo(
                        ch,
                        tls,
                        EndpointTls.Protocol.HTTP_1_1,
                        address.getHostString(),
                        address.getPort(),
                        Duration.ofMillis(PATIENCE_MILLIS));
                    ch.pipeline()
                        .addLast(
                            Transport.answers(),
                            new HttpObjectAggregator(LONGEST_ANSWER),
                            ModelQuestion.this);
                  }
                });
    channel =
        Transport.connect(
            bootstrap,
            loop,
            address,
            to -> {}, // channelActive asks
            cause -> end(null));
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    FullHttpRequest request =
        new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/v1/models");
    request
        .headers()
        .set(HttpHeaderNames.HOST, Route.destination(address.getHostString(), address.getPort()))
        .set(HttpHeaderNames.USER_AGENT, "fairlead-gateway")
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    var _ = context.writeAndFlush(request);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpResponse response) {
    boolean good = response.decoderResult().isSuccess() && response.status().code() == 200;
    end(good ? ModelList.read(response.content().toString(StandardCharsets.UTF_8)) : null);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(null);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    end(null);
  }

  private void end(@Nullable List<ObjectNode> entries) {
    if (over) {
      return;
    }
    over = true;
    if (patience != null) {
      patience.cancel(false);
    }
    if (channel != null) {
      var _ = channel.close();
    }
    answer.accept(entries);
  }
}
