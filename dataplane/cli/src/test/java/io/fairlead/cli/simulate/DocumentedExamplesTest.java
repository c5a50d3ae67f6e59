package io.fairlead.cli.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.PoolSpec;
import io.fairlead.lab.simulator.Scenario;
import io.fairlead.lab.workload.Workloads;
import io.fairlead.stub.profile.EngineProfiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The documents that docs/workloads.md shows can be read. */
final class DocumentedExamplesTest {

  private static final Pattern BLOCK =
      Pattern.compile("```yaml\n# ([^\n]+)\n(.*?)```", Pattern.DOTALL);
  private static final EngineProfiles PROFILES = EngineProfiles.shipped();

  private static String example(String title) throws IOException {
    return BLOCK
        .matcher(Files.readString(Path.of("../../docs/workloads.md")))
        .results()
        .filter(block -> block.group(1).equals(title))
        .map(block -> block.group(2))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aScenario() throws IOException {
    Scenario scenario = Scenario.read("mine", "mine.yaml", example("mine.yaml"), PROFILES);

    assertThat(scenario.events(240)).hasSize(3);
  }

  @Test
  void aWorkload() throws IOException {
    Workloads.Own workload = Workloads.read("alike", "alike.yaml", example("alike.yaml"), 1);

    assertThat(workload.preset().seconds()).isEqualTo(240);
  }

  @Test
  void aPool() throws IOException {
    assertThat(PoolSpec.read("mine", "mine.yaml", example("a pool"), PROFILES).engines())
        .hasSize(5);
  }

  @Test
  void allScenariosThatShipAreTold() throws IOException {
    String text = Files.readString(Path.of("../../docs/workloads.md"));

    assertThat(Scenario.names())
        .allSatisfy(name -> assertThat(text).contains("| `" + name + "` |"));
  }
}
