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
import io.fairlead.core.scheduling.CompiledConfig;
import io.fairlead.core.scheduling.ConfigCompiler;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.epp.PlainPool;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.PluginFactory;
import io.fairlead.plugin.Scorer;
import java.io.IOException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a page of a decision shows. */
class DecisionPageTest {

  private static final JsonMapper JSON = JsonMapper.builder().build();

  private static SchedulerConfig plugins(String type) {
    return new SchedulerConfig(List.of(new PluginConfig(type, type, Map.of())), List.of(), null);
  }

  private static CompiledConfig compiled(SchedulerConfig scheduler) {
    return new ConfigCompiler(List.of(new ByPrompts())).compile(PlainPool.config(scheduler));
  }

  private static JsonNode inputs(SchedulerConfig scheduler) throws IOException {
    return JSON.readTree(page(scheduler, 1234567, 89)).path("decisions").path(0).path("inputs");
  }

  private static String page(SchedulerConfig scheduler, long... blocks) {
    PoolCore core = new PoolCore(new PoolLimits(4, 100, 1_000, 1 << 20, 1 << 20, 1 << 20));
    core.configure(0, compiled(scheduler));
    core.endpoints(
        0,
        List.of(
            new EndpointSpec("a", "1", "10.0.0.1", 8000, Map.of()),
            new EndpointSpec("b", "1", "10.0.0.2", 8000, Map.of())));
    long ticket =
        core.arrive(
            0,
            new RequestFacts("m", 7, blocks, 32, -1, 128),
            new RequestListener() {
              @Override
              public void send(long request, Route route) {}

              @Override
              public void pass(long request) {}

              @Override
              public void reject(long request, Rejection rejection) {}
            });
    return new DecisionPage(new OutEndpoints(Instant.EPOCH, 0))
        .of(
            new NamedRequest(
                Objects.requireNonNull(core.receipts().find("request-" + ticket)), 1, 1));
  }

  /** A scorer of one's own. */
  private static final class ByPrompts implements PluginFactory {

    @Override
    public String type() {
      return "goes-by-prompts";
    }

    @Override
    public Scorer create(Parameters parameters) {
      return (request, candidates, scores) -> scores[(int) (request.prefixKey() >>> 8 & 1)] = 1;
    }
  }

  /**
   * Whoever had something that is made from a prompt alone could test guesses of it. Which server
   * was chosen says enough already.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "work-cost",
        "prefix-cache-scorer",
        "random-picker",
        "consistent-hash-picker",
        "goes-by-prompts"
      })
  void tellsTheSameOfAnotherPromptOfThatSizeThatWentThere(String type) throws IOException {
    SchedulerConfig scheduler = plugins(type);
    Map<String, String> pages = new HashMap<>();
    int same = 0;
    for (long prompt = 1; prompt <= 20; prompt++) {
      String page = page(scheduler, prompt * 0x9e3779b97f4a7c15L, prompt + 89);
      String chosen = JSON.readTree(page).path("decisions").path(0).path("endpoint").asText();
      assertThat(chosen).isNotEmpty();
      String other = pages.putIfAbsent(chosen, page);
      if (other != null) {
        assertThat(page).isEqualTo(other);
        same++;
      }
    }
    assertThat(same).isPositive();
  }

  @ParameterizedTest
  @ValueSource(strings = {"consistent-hash-picker", "goes-by-prompts"})
  void whatGoesByPromptsSaysWhatItSaidWhenItIsDecidedAgain(String type) throws IOException {
    for (long prompt = 1; prompt <= 20; prompt++) {
      JsonNode decision = JSON.readTree(page(plugins(type), prompt, 89)).path("decisions").path(0);
      DecisionInputs told = JSON.treeToValue(decision.path("inputs"), DecisionInputs.class);
      Replay.Outcome again = Replay.of(told, compiled(plugins(type)));
      assertThat(again.leftOut()).isEmpty();
      assertThat(again.runs()).isEqualTo(told.runs());
      assertThat(told.endpoints().get(again.picked()).name())
          .isEqualTo(decision.path("endpoint").asText());
    }
  }

  @Test
  void whatItTellsIsDecidedAgainWithoutTheHashOfThePrompt() throws IOException {
    DecisionInputs told =
        JSON.treeToValue(inputs(plugins("prefix-cache-scorer")), DecisionInputs.class);
    Replay.Outcome same = Replay.of(told, compiled(plugins("prefix-cache-scorer")));
    assertThat(same.leftOut()).isEmpty();
    assertThat(same.runs()).isEqualTo(told.runs());
    Replay.Outcome other = Replay.of(told, compiled(plugins("consistent-hash-picker")));
    assertThat(other.leftOut())
        .containsEntry(
            "consistent-hash-picker", "receipts don't hold the hash of a prompt's beginning");
  }
}
