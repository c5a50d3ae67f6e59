package io.fairlead.core.scheduling;

import static io.fairlead.core.scheduling.Documents.plugin;
import static io.fairlead.core.scheduling.Documents.pool;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.config.PluginConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a document says of the prefix index, wherever upstream lets it say so. */
class PrefixSettingsTest {

  private static final String PRODUCER = "approx-prefix-cache-producer";
  private static final String SCORER = "prefix-cache-scorer";
  private static final int NO_LIMIT = Integer.MAX_VALUE;

  @Test
  void nothingSaidIsTheDefault() {
    assertThat(compiled()).isEqualTo(PrefixSettings.DEFAULT);
    assertThat(compiled(plugin(PRODUCER), plugin(SCORER))).isEqualTo(PrefixSettings.DEFAULT);
  }

  @Test
  void theProducersAndTheScorersParametersAreTheSame() {
    Map<String, Object> set =
        Map.of("maxPrefixBlocksToMatch", 256L, "lruCapacityPerServer", 31250L);
    PrefixSettings expected = new PrefixSettings(256, 31_250, true);
    assertThat(compiled(plugin("p", PRODUCER, set))).isEqualTo(expected);
    assertThat(compiled(plugin("s", SCORER, set))).isEqualTo(expected);
    assertThat(compiled(plugin("s", SCORER, set), plugin("p", PRODUCER, set))).isEqualTo(expected);
  }

  @Test
  void blocksOfAnotherSizeAreKeptInTokens() {
    assertThat(
            read(
                Map.of(
                    "blockSizeTokens",
                    64L,
                    "maxPrefixBlocksToMatch",
                    100L,
                    "lruCapacityPerServer",
                    1_000L)))
        .isEqualTo(new PrefixSettings(400, 4_000, true));
    assertThat(read(Map.of("blockSizeTokens", 1L, "maxPrefixBlocksToMatch", 3L)).maxBlocks())
        .as("at least one")
        .isEqualTo(1);
    assertThat(
            read(
                Map.of(
                    "blockSizeTokens",
                    1L << 20,
                    "maxPrefixBlocksToMatch",
                    (long) Integer.MAX_VALUE)))
        .isEqualTo(new PrefixSettings(NO_LIMIT, 0, true));
  }

  @Test
  void aLimitInTokensWins() {
    assertThat(read(Map.of("maxPrefixTokensToMatch", 131_072L, "maxPrefixBlocksToMatch", 5L)))
        .isEqualTo(new PrefixSettings(8_192, 0, true));
    assertThat(read(Map.of("maxPrefixTokensToMatch", 0L)).maxBlocks()).isEqualTo(NO_LIMIT);
  }

  @Test
  void withoutTuningTheCapacityIsFixed() {
    assertThat(read(Map.of("autoTune", false)))
        .isEqualTo(new PrefixSettings(NO_LIMIT, 31_250, false));
  }

  @Test
  void twoPlacesThatDifferAndWhatIsGoneAreRefused() {
    assertThatThrownBy(
            () ->
                compiled(
                    plugin("p", PRODUCER, Map.of("maxPrefixBlocksToMatch", 1L)),
                    plugin("s", SCORER, Map.of("maxPrefixBlocksToMatch", 2L))))
        .hasMessage(
            "scheduler.plugins[1].parameters differ from those of \"p\", but there is one prefix"
                + " index; set them in one place");
    assertThatThrownBy(() -> read(Map.of("blockSize", 64L)))
        .hasMessageContaining("plugins[0].parameters.blockSize is no setting any more");
    assertThatThrownBy(() -> read(Map.of("lruCapacityPerServer", 0L)))
        .hasMessageContaining("is 0; set a whole number from 1");
  }

  private static PrefixSettings read(Map<String, Object> parameters) {
    return compiled(plugin("p", PRODUCER, parameters));
  }

  private static PrefixSettings compiled(PluginConfig... plugins) {
    return new ConfigCompiler(List.of()).compile(pool(List.of(plugins), List.of(), null)).prefix();
  }
}
