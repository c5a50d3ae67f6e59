package io.fairlead.epp.kvevents;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.fairlead.core.prefix.CacheChange;
import io.fairlead.core.prefix.ExactIndex;
import io.fairlead.core.prefix.PromptTokens;
import io.fairlead.stub.server.ModelServer;
import io.fairlead.stub.server.ModelServerConfig;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Real engines of the model {@code m}, who reads their events, and the index of what they tell. */
final class KvEventFixture implements AutoCloseable {

  /** Tokens in a block. */
  static final int GRAIN = 16;

  private static final ObjectMapper JSON = new ObjectMapper();

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final KvEventCounts counts = new KvEventCounts();

  /** Guarded by itself: the reader's thread writes, the test reads. */
  private final ExactIndex index = new ExactIndex(1 << 24);

  /** The last one first: whoever reads ends before those whom it reads. */
  private final Deque<Runnable> ends = new ArrayDeque<>();

  KvEventCounts counts() {
    return counts;
  }

  /** An engine that answers at once and tells how many tokens were cached; closed with this. */
  ModelServer start(ModelServerConfig.Builder config) {
    ModelServer server =
        ModelServer.start(config.instant().promptTokensDetails(true).build(), loops);
    ends.push(server::close);
    return server;
  }

  /** Closed with this; the caller says which endpoints there are. */
  KvEventReader read(KvEventReader.Settings settings, KvEventReader.Sink sink) {
    KvEventReader reader = new KvEventReader(settings, counts, sink);
    ends.push(reader::close);
    reader.models(Set.of("m"));
    return reader;
  }

  /** Whether there was room for it. */
  boolean take(int slot, int grain, CacheChange change) {
    synchronized (index) {
      return index.change(slot, grain, change);
    }
  }

  boolean isWhole(int slot) {
    synchronized (index) {
      return index.knowsAll(slot);
    }
  }

  /** How many of a prompt's tokens are known to be cached. */
  int tokens(int slot, String prompt) {
    synchronized (index) {
      if (!index.knows(slot)) {
        return 0;
      }
      PromptTokens tokens = PromptTokens.of(StubTokenizer.tokens(prompt), GRAIN);
      index.lookUp(0, tokens);
      return index.tokens(slot, tokens);
    }
  }

  /**
   * Has an engine answer a prompt.
   *
   * @param words how long the answer is
   * @return how many of the prompt's tokens were cached
   */
  int complete(ModelServer server, String prompt, int words) throws Exception {
    String body =
        JSON.writeValueAsString(Map.of("model", "m", "prompt", prompt, "max_tokens", words));
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(URI.create(server.url() + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body))
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    JsonNode details = JSON.readTree(answer.body()).path("usage").path("prompt_tokens_details");
    return details.path("cached_tokens").asInt(0);
  }

  @Override
  public void close() {
    ends.forEach(Runnable::run);
    loops.shutdownGracefully(10, 5_000, TimeUnit.MILLISECONDS).syncUninterruptibly();
    http.close();
  }
}
