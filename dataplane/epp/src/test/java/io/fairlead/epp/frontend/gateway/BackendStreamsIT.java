package io.fairlead.epp.frontend.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.epp.NoLeaks;
import io.fairlead.epp.openai.OpenAiError;
import io.fairlead.epp.sockets.Http2Backend;
import io.fairlead.epp.transport.Transport;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2SettingsFrame;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.AttributeKey;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The connections of one loop to an endpoint that speaks HTTP/2. */
@ExtendWith(NoLeaks.class)
class BackendStreamsIT {

  private static final class User implements BackendConnection.User {
    private final CompletableFuture<String> end = new CompletableFuture<>();

    @Override
    public void opened(BackendConnection connection) {
      DefaultFullHttpRequest request =
          new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
      request.headers().set("host", "x");
      connection.send(request, this);
    }

    @Override
    public void openFailed(Throwable cause) {
      end.completeExceptionally(cause);
    }

    @Override
    public void written() {}

    @Override
    public void head(HttpResponse response) {}

    @Override
    public void content(HttpContent content) {
      content.release();
    }

    @Override
    public void last(LastHttpContent content) {
      content.release();
      end.complete("whole");
    }

    @Override
    public boolean readyForMore() {
      return true;
    }

    @Override
    public void broken(boolean byteSeen, boolean reused) {
      end.complete("broken");
    }

    @Override
    public void refused(OpenAiError why) {
      end.complete("refused " + why.status());
    }

    @Override
    public void unprocessed(boolean reused) {
      end.complete("unprocessed");
    }

    @Override
    public void outOfMemory() {
      end.complete("out of memory");
    }
  }

  private static final AttributeKey<Boolean> ASKED = AttributeKey.valueOf("asked");

  private final AtomicInteger timers = new AtomicInteger();

  private EventLoop counting(EventLoop loop) {
    return (EventLoop)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {EventLoop.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("schedule")) {
                timers.incrementAndGet();
              }
              return method.invoke(loop, arguments);
            });
  }

  @Test
  void aConnectionHasOneTimerHoweverOftenItIsUnused() throws Exception {
    EventLoopGroup group = Transport.group("test", 1);
    EventLoop loop = group.next();
    // Longer than all of them take, also on a machine that is busy.
    Duration idle = Duration.ofSeconds(10);
    try (Http2Backend a =
        new Http2Backend(
            "a",
            100,
            (stream, request) -> {
              var _ =
                  stream.writeAndFlush(
                      new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
            })) {
      BackendPool pool = new BackendPool(loop, Rig.config(), Transport.client(group));
      BackendStreams streams =
          new BackendStreams(
              pool,
              new InetSocketAddress(a.spec().address(), a.spec().port()),
              new Bootstrap().group(loop).channel(Transport.client(group)),
              counting(loop),
              idle.toNanos(),
              Rig.config().backends().stall());
      for (int i = 0; i < 20; i++) {
        User user = new User();
        loop.execute(() -> streams.open(true, user));
        assertThat(user.end.get(20, TimeUnit.SECONDS)).isEqualTo("whole");
      }
      assertThat(a.connections).hasSize(1);
      assertThat(timers.get()).as("in less than the time after which it closes").isLessThan(5);
      await().atMost(Duration.ofSeconds(60)).until(() -> !a.connections.element().isActive());
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  /** They say something of other things: as many streams as before may be open at a time. */
  @Test
  void settingsThatDoNotNameItLeaveTheMostStreamsAsTheyAre() throws Exception {
    EventLoopGroup group = Transport.group("test", 1);
    EventLoop loop = group.next();
    List<Channel> held = new ArrayList<>();
    try (Http2Backend a =
        new Http2Backend(
            "a",
            1,
            (stream, request) -> {
              if (stream.parent().attr(ASKED).getAndSet(true) == null) {
                Http2Settings window = new Http2Settings().initialWindowSize(70_000);
                var _ = stream.parent().writeAndFlush(new DefaultHttp2SettingsFrame(window));
              }
              held.add(stream);
              if (held.size() != 2) {
                held.forEach(BackendStreamsIT::ok);
              }
            })) {
      BackendPool pool = new BackendPool(loop, Rig.config(), Transport.client(group));
      BackendStreams streams =
          new BackendStreams(
              pool,
              new InetSocketAddress(a.spec().address(), a.spec().port()),
              new Bootstrap().group(loop).channel(Transport.client(group)),
              loop,
              Duration.ofSeconds(10).toNanos(),
              Rig.config().backends().stall());
      User first = new User();
      loop.execute(() -> streams.open(true, first));
      assertThat(first.end.get(20, TimeUnit.SECONDS)).isEqualTo("whole");
      User second = new User();
      User third = new User();
      loop.execute(
          () -> {
            streams.open(true, second);
            streams.open(true, third);
          });
      assertThat(third.end.get(20, TimeUnit.SECONDS)).isEqualTo("whole");
      assertThat(second.end.get(20, TimeUnit.SECONDS)).isEqualTo("whole");
      assertThat(a.connections).hasSize(2);
    } finally {
      group.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  private static void ok(Channel stream) {
    var _ =
        stream.writeAndFlush(
            new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
  }
}
