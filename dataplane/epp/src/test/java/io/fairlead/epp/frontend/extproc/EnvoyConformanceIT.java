package io.fairlead.epp.frontend.extproc;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.memory.BodyBudget;
import io.fairlead.epp.sockets.RawBackend;
import io.fairlead.epp.sockets.RawHttp;
import io.fairlead.epp.tls.ServingSecurity;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Cases of upstream's conformance suite that ask a gateway to follow its picker, played with a real
 * Envoy: a request's header names the endpoints that it wants, and they answer.
 */
class EnvoyConformanceIT {
  private static final SchedulerConfig AS_THE_HEADER_SAYS =
      new SchedulerConfig(
          List.of(
              new PluginConfig("wanted", "header-based-testing-filter", Map.of()),
              new PluginConfig("picker", "random-picker", Map.of())),
          List.of(),
          null);

  @TempDir private Path folder;

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final TestPool pool = new TestPool(loops.next()).configured(AS_THE_HEADER_SAYS);

  /** One address, three ports: a pod's data-parallel ranks are endpoints of their own. */
  private final List<RawBackend> ranks = Stream.of("a", "b", "c").map(this::backend).toList();

  private ExtProcServer picker;
  private Envoy envoy;

  private RawBackend backend(String name) {
    try {
      return new RawBackend(
          name,
          (connection, request) ->
              connection.respond(200, "content-type: application/json\r\n", name));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @BeforeEach
  void start() throws Exception {
    pool.endpoints(ranks.get(0).spec(), ranks.get(1).spec(), ranks.get(2).spec());
    picker =
        ExtProcServer.start(
            new ExtProcConfig("127.0.0.1", 0, new ServingSecurity.SelfSigned(), 1 << 20, false),
            pool.loop,
            BodyBudget.ofHeap(),
            loops,
            new Health());
    envoy = Envoy.start(picker.port(), true, folder);
  }

  @AfterEach
  void stop() throws IOException {
    envoy.close();
    picker.close();
    for (RawBackend rank : ranks) {
      rank.close();
    }
    loops.shutdownGracefully(0, 5, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /** GatewayFollowingEPPRouting, and its form with data-parallel ports. */
  @Test
  void theEndpointThatTheHeaderNamesAnswersWhicheverPortItIs() throws Exception {
    for (int round = 0; round < 5; round++) {
      for (RawBackend rank : ranks) {
        RawHttp.Message answer = ask("127.0.0.1:" + rank.spec().port());
        assertThat(answer.status()).isEqualTo(200);
        assertThat(answer.text()).isEqualTo(rank.name);
      }
    }
  }

  @Test
  void ofSeveralThatItNamesOnlyTheseAnswer() throws Exception {
    String two =
        "127.0.0.1:%d, 127.0.0.1:%d"
            .formatted(ranks.get(0).spec().port(), ranks.get(2).spec().port());
    assertThat(answers(two)).isEqualTo(Set.of("a", "c"));
    assertThat(answers("127.0.0.1"))
        .as("an address is all its ports")
        .isEqualTo(Set.of("a", "b", "c"));
  }

  /** What a client writes into the destination's header itself counts for nothing. */
  @Test
  void noEndpointIsAnAnswerOfThePickersAndNobodyElseIsAsked() throws Exception {
    RawHttp.Message answer = ask("192.0.2.1:8000");
    assertThat(answer.status()).as(answer.text()).isEqualTo(429);
    assertThat(answer.text()).contains("no_suitable_endpoint");
    assertThat(ranks).allSatisfy(rank -> assertThat(rank.requests).isEmpty());
  }

  private Set<String> answers(String wanted) throws Exception {
    Map<String, Integer> answers = new HashMap<>();
    for (int i = 0; i < 40; i++) {
      answers.merge(ask(wanted).text(), 1, Integer::sum);
    }
    return answers.keySet();
  }

  private RawHttp.Message ask(String wanted) throws IOException {
    try (RawHttp client = RawHttp.connect(envoy.url().getPort())) {
      String body = "{\"model\":\"chat\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
      client.send(
          String.join(
              "\r\n",
              "POST /v1/chat/completions HTTP/1.1",
              "Host: x",
              "Content-Type: application/json",
              "Content-Length: " + body.length(),
              "test-epp-endpoint-selection: " + wanted,
              "x-gateway-destination-endpoint: 127.0.0.1:" + ranks.get(1).spec().port(),
              "",
              body));
      return client.read();
    }
  }
}
