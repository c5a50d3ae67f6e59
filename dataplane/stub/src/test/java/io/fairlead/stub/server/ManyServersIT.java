package io.fairlead.stub.server;

import static io.fairlead.stub.server.Stubs.CHAT;
import static io.fairlead.stub.server.Stubs.chat;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** One process is a hundred servers. */
final class ManyServersIT {

  private static final int SERVERS = 100;

  @Test
  void aHundredServersShareTwoThreads() throws Exception {
    Set<Thread> before = loopThreads();
    try (Stubs stubs = new Stubs(2)) {
      List<ModelServer> servers = new ArrayList<>();
      for (int i = 0; i < SERVERS; i++) {
        servers.add(stubs.start(ModelServerConfig.builder("stub-" + i, "m").timeScale(0.1)));
      }
      List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
      for (int round = 0; round < 3; round++) {
        for (ModelServer server : servers) {
          answers.add(stubs.send(server, CHAT, chat("m", 10)));
        }
      }
      for (int i = 0; i < answers.size(); i++) {
        HttpResponse<String> answer = answers.get(i).get(60, TimeUnit.SECONDS);
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("x-stub-endpoint")).contains("stub-" + i % SERVERS);
      }
      for (ModelServer server : servers) {
        assertThat(server.stats().completed()).isEqualTo(3);
        assertThat(stubs.get(server, "/metrics").body()).contains("vllm:num_requests_running");
      }
      // Loops of other tests may end meanwhile.
      Set<Thread> own = loopThreads();
      own.removeAll(before);
      assertThat(own).hasSize(2);
    }
  }

  private static Set<Thread> loopThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("multiThreadIoEventLoopGroup"))
        .collect(Collectors.toCollection(HashSet::new));
  }
}
