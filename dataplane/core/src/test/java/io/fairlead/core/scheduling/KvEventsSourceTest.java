package io.fairlead.core.scheduling;

import static io.fairlead.core.scheduling.Documents.plugin;
import static io.fairlead.core.scheduling.Documents.pool;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.core.scheduling.InvalidConfigException.Problem;
import io.fairlead.crds.config.PluginConfig;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What documents say of engines' events, and of the tokenizers that they are compared by. */
class KvEventsSourceTest {

  private static final String PRODUCER = KvEventsSource.TYPE;
  private static final String SCORER = "precise-prefix-cache-scorer";

  @Test
  void nobodyListensUnlessItIsListed() {
    assertThat(compiled(plugin("queue-scorer")).kvEvents()).isNull();
    assertThat(compiled(plugin(PRODUCER)).kvEvents())
        .isEqualTo(new KvEventsSource(16, "", 5557, 0));
  }

  @Test
  void upstreamsSettingsAreCarriedOutWhereverTheyStand() {
    Map<String, Object> set =
        Map.of(
            "tokenProcessorConfig",
            Map.of("blockSize", 64L, "hashSeed", "42"),
            "indexerConfig",
            Map.of("kvBlockIndexConfig", Map.of("enableMetrics", true)),
            "speculativeIndexing",
            true,
            "kvEventsConfig",
            Map.of(
                "topicFilter",
                "kv@",
                "concurrency",
                8L,
                "discoverPods",
                true,
                "podDiscoveryConfig",
                Map.of("socketPort", 5556L, "replaySocketPort", 5559L, "engineType", "sglang")));
    KvEventsSource expected = new KvEventsSource(64, "kv@", 5556, 5559);

    CompiledConfig compiled = compiled(plugin("p", PRODUCER, set));
    assertThat(compiled.kvEvents()).isEqualTo(expected);
    assertThat(compiled.warnings())
        .extracting(Problem::path)
        .containsExactlyInAnyOrder(
            "scheduler.profiles", // nothing listed chooses endpoints
            "scheduler.plugins[0]", // there is no tokenizer
            "scheduler.plugins[0].parameters.tokenProcessorConfig.hashSeed",
            "scheduler.plugins[0].parameters.indexerConfig",
            "scheduler.plugins[0].parameters.speculativeIndexing",
            "scheduler.plugins[0].parameters.kvEventsConfig.concurrency");
    assertThat(compiled(plugin("s", SCORER, set)).kvEvents()).isEqualTo(expected);
    assertThat(compiled(plugin("s", SCORER, set), plugin("p", PRODUCER, set)).kvEvents())
        .isEqualTo(expected);
  }

  @Test
  void aConfigTakenOverKeepsWhereEnginesTell() {
    Map<String, Object> set = Map.of("tokenProcessorConfig", Map.of("blockSizeTokens", 32L));
    ConfigCompiler compiler = new ConfigCompiler(List.of());
    CompiledConfig first =
        compiler.compile(pool(List.of(plugin("s", SCORER, set)), List.of(), null));

    CompiledConfig second =
        compiler.compile(pool(List.of(plugin("s", SCORER, set)), List.of(), null), first);

    assertThat(second.kvEvents()).isEqualTo(new KvEventsSource(32, "", 5557, 0));
  }

  @Test
  void twoPlacesThatDifferAreRefused() {
    assertThatThrownBy(
            () ->
                compiled(
                    plugin(PRODUCER),
                    plugin("s", SCORER, Map.of("kvEventsConfig", Map.of("topicFilter", "kv")))))
        .isInstanceOf(InvalidConfigException.class)
        .hasMessageContaining("scheduler.plugins[1].parameters")
        .hasMessageContaining("set them in one place");
  }

  @Test
  void whatCantBeCarriedOutIsRefusedByName() {
    refused(Map.of("kvEventsConfig", Map.of("zmqEndpoint", "tcp://*:5557")), "zmqEndpoint");
    refused(Map.of("kvEventsConfig", Map.of("discoverPods", false)), "discoverPods");
    refused(
        Map.of(
            "kvEventsConfig",
            Map.of("podDiscoveryConfig", Map.of("socketPort", 9L, "replaySocketPort", 9L))),
        "kvEventsConfig.podDiscoveryConfig.replaySocketPort");
    refused(Map.of("tokenProcessorConfig", Map.of("blockSizeTokens", 0L)), "blockSizeTokens");
    refused(Map.of("kvEventsConfig", Map.of("engineType", "other")), "engineType");
  }

  @Test
  void aTokenizerNeedsItsModelAndItsFolder() {
    assertThat(TokenizerSource.read(new Parameters(Map.of())).isThere()).isFalse();
    assertThat(
            TokenizerSource.read(
                new Parameters(
                    Map.of(
                        "modelName",
                        "m",
                        "path",
                        "/t",
                        "adapters",
                        List.of("a"),
                        "timeout",
                        "5ms"))))
        .isEqualTo(new TokenizerSource("m", List.of("a"), "/t", Duration.ofMillis(5)));
    assertThat(TokenizerSource.read(new Parameters(Map.of("modelName", "m"))).isThere())
        .as("as upstream's, which has its tokenizer elsewhere")
        .isFalse();
    refusedTokenizer(Map.of("path", "/t"), "modelName");
    refusedTokenizer(Map.of("adapters", List.of("a")), "adapters");
    refusedTokenizer(Map.of("modelName", "m", "path", "/t", "timeout", "1h"), "timeout");
  }

  private static void refused(Map<String, Object> parameters, String field) {
    assertThatThrownBy(() -> KvEventsSource.read(new Parameters(parameters)))
        .isInstanceOf(InvalidParameterException.class)
        .extracting(e -> ((InvalidParameterException) e).field())
        .asString()
        .endsWith(field);
  }

  private static void refusedTokenizer(Map<String, Object> parameters, String field) {
    assertThatThrownBy(() -> TokenizerSource.read(new Parameters(parameters)))
        .isInstanceOf(InvalidParameterException.class)
        .extracting(e -> ((InvalidParameterException) e).field())
        .isEqualTo(field);
  }

  private static CompiledConfig compiled(PluginConfig... plugins) {
    return new ConfigCompiler(List.of()).compile(pool(List.of(plugins), List.of(), null));
  }
}
