package io.fairlead.epp.probe;

import io.fairlead.core.Failure;
import io.fairlead.core.Probe;
import io.fairlead.core.Route;
import io.fairlead.epp.director.Prober;
import io.fairlead.epp.openai.Completion;
import io.fairlead.epp.tls.EndpointTls;
import io.fairlead.epp.transport.Failures;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One probe under way. Of an answer that serves all must come, since a server that is sick may send
 * a head and close, or nothing else; where only the time is over in the midst of its body, it
 * works. Of others the head is enough. Then the connection is closed, which also ends a completion
 * that is under way.
 */
final class Question extends SimpleChannelInboundHandler<HttpObject> {

  private final Probe probe;
  private final Prober.Answer answer;
  private final @Nullable EndpointTls tls;

  private @Nullable Future<?> patience;
  private @Nullable Channel channel;
  private boolean connected;
  private boolean written;

  /** Whether the head of an answer that serves is there. */
  private boolean begun;

  /** Whether some of its body is. */
  private boolean works;

  private boolean over;

  Question(Probe probe, Prober.Answer answer, @Nullable EndpointTls tls) {
    this.probe = probe;
    this.answer = answer;
    this.tls = tls;
  }

  void ask(EventLoop loop, Class<? extends Channel> channelType) {
    patience = loop.schedule(this::late, probe.timeoutNanos(), TimeUnit.NANOSECONDS);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(loop)
            .channel(channelType)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, 0) // bounded with the rest
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel ch) {
                    EndpointTls.addTo(
                        ch,
                        tls,
                        EndpointTls.Protocol.HTTP_1_1,
                        probe.endpoint().address(),
                        probe.endpoint().port(),
                        Duration.ofNanos(probe.timeoutNanos()));
                    ch.pipeline().addLast(Transport.answers(), Question.this);
                  }
                });
    channel =
        Transport.connect(
            bootstrap,
            loop,
            new InetSocketAddress(probe.endpoint().address(), probe.endpoint().port()),
            to -> {}, // channelActive asks
            cause -> end(Failures.ofConnect(cause)));
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    connected = true;
    context.writeAndFlush(request()).addListener(done -> written = done.isSuccess());
  }

  private FullHttpRequest request() {
    boolean health = probe.model().isEmpty();
    byte[] body = health ? new byte[0] : Completion.ofOneToken(probe.model());
    FullHttpRequest request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1,
            health ? HttpMethod.GET : HttpMethod.POST,
            health ? "/health" : Completion.PATH,
            Unpooled.wrappedBuffer(body));
    request
        .headers()
        .set(
            HttpHeaderNames.HOST,
            Route.destination(probe.endpoint().address(), probe.endpoint().port()))
        .set(HttpHeaderNames.USER_AGENT, "fairlead-probe")
        .set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
    if (!health) {
      request
          .headers()
          .set(HttpHeaderNames.CONTENT_TYPE, HttpHeaderValues.APPLICATION_JSON)
          .set(HttpHeaderNames.CONTENT_LENGTH, body.length);
    }
    return request;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, HttpObject message) {
    if (message.decoderResult().isFailure()) {
      end(begun ? Failure.BROKEN_OFF : Failure.ERROR);
    } else if (message instanceof HttpResponse response && response.status().code() >= 200) {
      int status = response.status().code();
      boolean empty = HttpUtil.getContentLength(response, -1L) == 0;
      if (status < 300) {
        begun = true;
      } else {
        // Not Implemented is said of the question, by servers of embeddings for one.
        end(status < 500 || status == 501 ? null : Failures.ofStatus(status, empty));
      }
    }
    if (begun && message instanceof HttpContent content) {
      works |= content.content().isReadable();
      if (message instanceof LastHttpContent) {
        end(null);
      }
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    end(begun ? Failure.BROKEN_OFF : written ? Failure.DIED : Failure.RESET_UNSENT);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    var _ = context.close(); // channelInactive tells
  }

  private void late() {
    if (works) {
      end(null);
      return;
    }
    end(connected ? Failure.FIRST_BYTE_LATE : Failure.UNREACHABLE);
  }

  /** The first end counts; null for an answer. */
  private void end(@Nullable Failure failure) {
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
    answer.came(failure);
  }
}
