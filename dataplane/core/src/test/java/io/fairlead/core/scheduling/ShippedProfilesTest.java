package io.fairlead.core.scheduling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.fairlead.crds.config.PluginConfig;
import io.fairlead.crds.config.ProfileConfig;
import io.fairlead.crds.config.ProfileConfig.PluginReference;
import io.fairlead.crds.config.SchedulerConfig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShippedProfilesTest {

  @Test
  void aNameAloneMeansTheShippedProfile() {
    SchedulerConfig expanded = ShippedProfiles.expand(config(List.of(), profile("weighted")));
    assertThat(expanded.profiles().getFirst().plugins())
        .contains(new PluginReference("prefix-cache-scorer", 3))
        .hasSize(4);
    assertThat(expanded.plugins()).extracting(PluginConfig::type).hasSize(4);
  }

  @Test
  void theCostProfileIsAnObserverThatStaysOverReloads() {
    ConfigCompiler compiler = new ConfigCompiler(List.of());
    CompiledConfig first =
        compiler.compile(Documents.pool(List.of(), config(List.of(), profile("cost"))));
    assertThat(first.observers()).as("the scorer and the saturation detector").hasSize(2);
    CompiledConfig second =
        compiler.compile(Documents.pool(List.of(), config(List.of(), profile("cost"))), first);
    assertThat(second.observers()).containsExactlyElementsOf(first.observers());
  }

  @Test
  void aPluginOfTheDocumentKeepsItsParameters() {
    PluginConfig own = new PluginConfig("work-cost", "work-cost", Map.of("theta", -1L));
    assertThatExceptionOfType(InvalidConfigException.class)
        .isThrownBy(
            () ->
                new ConfigCompiler(List.of())
                    .compile(Documents.pool(List.of(), config(List.of(own), profile("cost")))))
        .withMessageContaining("plugins[0].parameters.theta");
  }

  @Test
  void aProfileWithPluginsIsWhatItSays() {
    PluginConfig queue = new PluginConfig("queue-scorer", "queue-scorer", Map.of());
    SchedulerConfig config =
        config(
            List.of(queue),
            new ProfileConfig("cost", List.of(new PluginReference("queue-scorer", 1))));
    assertThat(ShippedProfiles.expand(config)).isEqualTo(config);
  }

  private static ProfileConfig profile(String name) {
    return new ProfileConfig(name, List.of());
  }

  private static SchedulerConfig config(List<PluginConfig> plugins, ProfileConfig profile) {
    return new SchedulerConfig(plugins, List.of(profile), null);
  }
}
