package io.fairlead.epp.frontend.extproc;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fairlead.core.Usage;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.Http2Backend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Behind a real Envoy that speaks HTTP/2 to endpoints, as to those of h2c pools. */
class EnvoyH2cIT {
  private static final String USAGE = "{\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}";

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final TestPool pool = new TestPool(loops.next()).configured();
  private Http2Backend a;
  private Http2Backend b;
  private ExtProcServer picker;
  private Envoy envoy;

  @BeforeEach
  void start() throws Exception {
    a = new Http2Backend("a", 100, EnvoyH2cIT::answer);
    b = new Http2Backend("b", 100, EnvoyH2cIT::answer);
    pool.endpoints(a.spec(), b.spec());
    picker =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.SelfSigned(), 1 << 20, false),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    envoy = Envoy.start(picker.port(), true, folder, EnvoyH2cIT::thatSpeaksHttp2);
  }

  @AfterEach
  void stop() throws Exception {
    envoy.close();
    picker.close();
    a.close();
    b.close();
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static String thatSpeaksHttp2(String printed) {
    String cluster = "    lb_policy: CLUSTER_PROVIDED\n";
    assertThat(printed).contains(cluster);
    return printed.replace(
        cluster,
        cluster
            + """
                typed_extension_protocol_options:
                  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
                    "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
                    explicit_http_config:
                      http2_protocol_options: {}
            """);
  }

  private static void answer(Channel stream, FullHttpRequest request) {
    boolean events = request.content().toString(UTF_8).contains("\"stream\":true");
    String body = events ? "data: " + USAGE + "\n\ndata: [DONE]\n\n" : USAGE;
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.OK, Unpooled.copiedBuffer(body, UTF_8));
    response.headers().set("content-type", events ? "text/event-stream" : "application/json");
    var _ = stream.writeAndFlush(response);
  }

  @Test
  void requestsOfAllSizesAreAnsweredAndTheirUsageIsRead() throws Exception {
    for (int size : new int[] {1, 1_000, 200_000}) {
      for (String more : new String[] {"", ",\"stream\":true"}) {
        String body =
            "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"%s\"}]%s}"
                .formatted("x".repeat(size), more);
        assertThat(ask(body).status()).isEqualTo(200);
        int sent = a.requests.size() + b.requests.size();
        await().until(() -> pool.usages.size() == sent);
        Usage usage = pool.usages.getLast();
        assertThat(usage.promptTokens()).isEqualTo(3);
        assertThat(usage.completionTokens()).isEqualTo(4);
      }
    }
    assertThat(a.requests.size() + b.requests.size()).isEqualTo(6);
    assertThat(a.connections.size() + b.connections.size())
        .as("with many streams each")
        .isBetween(1, 2);
    assertThat(pool.events).noneMatch(event -> event.contains("FAILED"));
    assertThat(pool.inFlight()).isZero();
  }

  private RawHttp.Message ask(String body) throws IOException {
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      client.post("/v1/chat/completions", body);
      return client.read();
    }
  }
}
