package io.fairlead.epp.datalayer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.EndpointMetrics;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.scheduling.EngineMetrics;
import io.fairlead.core.scheduling.MetricsSource;
import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.ssl.SslContext;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Metrics pages behind a certificate that nobody vouches for, on a port of their own. */
@ExtendWith(NoLeaks.class)
class MetricsOverTlsIT {

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Queue<String> paths = new ConcurrentLinkedQueue<>();
  private final Queue<EndpointMetrics> scraped = new ConcurrentLinkedQueue<>();
  private final MetricsScraper scraper =
      new MetricsScraper(
          loops,
          NioSocketChannel.class,
          // A first handshake takes long on a busy machine.
          new MetricsScraper.Settings(
              Duration.ofMillis(200), Duration.ofSeconds(20), Duration.ofSeconds(30)),
          System::nanoTime,
          (endpoint, begunAt, metrics) -> scraped.add(metrics));
  private final Channel server = serve();

  private long failures() {
    return scraper.failures().getOrDefault("e", 0L);
  }

  @AfterEach
  void stop() {
    scraper.close();
    server.close().syncUninterruptibly();
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
  }

  @Test
  void readsThemUnchecked() {
    ask(false);
    await().until(() -> scraped.size() > 1);
    assertThat(scraped).containsOnly(new EndpointMetrics(3, -1, Double.NaN, -1, -1));
    assertThat(paths).containsOnly("/engine/metrics");
    assertThat(failures()).isZero();
    assertThat(scraper.allRefuse()).as("nobody asked where inference is served").isFalse();
  }

  @Test
  void doesNotReadWhatItIsToCheck() {
    ask(true);
    await().until(() -> failures() > 1);
    assertThat(paths).isEmpty();
    assertThat(scraped).isEmpty();
  }

  private void ask(boolean verify) {
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    scraper.sources(
        List.of(
            new EnginePages(
                new MetricsSource(true, verify, "/engine/metrics", port, Duration.ofMillis(20)),
                List.of(EngineMetrics.DEFAULT))));
    scraper.endpoints(List.of(new EndpointSpec("e", "1", "127.0.0.1", 1, Map.of())));
  }

  private Channel serve() {
    SslContext tls = Objects.requireNonNull(new ServingSecurity.SelfSigned().ready().ssl());
    return new ServerBootstrap()
        .group(loops)
        .channel(NioServerSocketChannel.class)
        .childHandler(
            new ChannelInitializer<Channel>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(tls.newHandler(channel.alloc()), new HttpServerCodec(), new Page());
              }
            })
        .bind("127.0.0.1", 0)
        .syncUninterruptibly()
        .channel();
  }

  private final class Page extends SimpleChannelInboundHandler<HttpObject> {

    @Override
    protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
      if (message instanceof HttpRequest request) {
        paths.add(request.uri());
        var page =
            new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.OK,
                Unpooled.copiedBuffer("vllm:num_requests_waiting 3\n", StandardCharsets.UTF_8));
        HttpUtil.setContentLength(page, page.content().readableBytes());
        var _ = context.writeAndFlush(page);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
