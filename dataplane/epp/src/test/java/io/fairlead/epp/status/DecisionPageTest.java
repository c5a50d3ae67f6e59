package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.core.EndpointSpec;
import io.fairlead.core.PoolCore;
import io.fairlead.core.PoolLimits;
import io.fairlead.core.Rejection;
import io.fairlead.core.RequestFacts;
import io.fairlead.core.RequestListener;
import io.fairlead.core.Route;
import io.fairlead.core.receipt.NamedRequest;
import io.fairlead.core.replay.DecisionInputs;
import io.fairlead.core.replay.Replay;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.PlainPool;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What a page of a decision shows. */
class DecisionPageTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static SchedulerConfig plugins(String type) {
    return new SchedulerConfig(List.of(new PluginConfig(type, type, Map.of())), List.of(), null);
  }

  private static JsonNode inputs(SchedulerConfig scheduler) throws IOException {
    PoolCore core = new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 1 << 20));
    core.configure(0, new ConfigCompiler(List.of()).compile(PlainPool.config(scheduler)));
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of())));
    long ticket =
        core.arrive(
            0,
            new RequestFacts("m", 7, new long[] {1234567, 89}, 32, -1, 128),
            new RequestListener() {
              @Override
              public void send(long request, Route route) {}

              @Override
              public void pass(long request) {}

              @Override
              public void reject(long request, Rejection rejection) {}
            });
    String page =
        new DecisionPage(new OutEndpoints(Instant.EPOCH, 0))
            .of(
                new NamedRequest(
                    Objects.requireNonNull(core.receipts().find("request-" + ticket)), 1, 1));
    return JSON.readTree(page).path("decisions").path(0).path("inputs");
  }

  /** Whoever has the hash of a prompt and the page can test guesses of it. */
  @Test
  void tellsAHashOfAPromptOnlyWhereItIsNeededToDecideAgain() throws IOException {
    for (String type : List.of("work-cost", "prefix-cache-scorer", "random-picker")) {
      JsonNode told = inputs(plugins(type));
      assertThat(told.path("request").has("seed")).isTrue();
      assertThat(told.path("request").has("prefixKey")).as(type).isFalse();
    }
    assertThat(inputs(plugins("consistent-hash-picker")).path("request").has("prefixKey")).isTrue();
  }

  @Test
  void whatItTellsIsDecidedAgainWithoutTheHashOfThePrompt() throws IOException {
    DecisionInputs told =
        JSON.treeToValue(inputs(plugins("prefix-cache-scorer")), DecisionInputs.class);
    Replay.Outcome same =
        Replay.of(
            told,
            new ConfigCompiler(List.of())
                .compile(PlainPool.config(plugins("prefix-cache-scorer"))));
    assertThat(same.leftOut()).isEmpty();
    assertThat(same.runs()).isEqualTo(told.runs());
    Replay.Outcome other =
        Replay.of(
            told,
            new ConfigCompiler(List.of())
                .compile(PlainPool.config(plugins("consistent-hash-picker"))));
    assertThat(other.leftOut())
        .containsEntry(
            "consistent-hash-picker", "receipts don't hold the hash of a prompt's beginning");
  }
}
