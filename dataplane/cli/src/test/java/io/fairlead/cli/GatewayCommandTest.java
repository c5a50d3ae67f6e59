package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Listen;
import io.fairlead.epp.console.ConsoleConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.ParameterException;

class GatewayCommandTest {

  private static final Map<String, String> POD =
      Map.of("POD_NAME", "pod-1", "POD_NAMESPACE", "ns", "POD_UID", "uid-1");

  private static DataPlaneConfig config(String... args) {
    String[] all = Stream.concat(Stream.of("gateway"), Stream.of(args)).toArray(String[]::new);
    var command =
        (GatewayCommand)
            Fairlead.commandLine().parseArgs(all).subcommand().commandSpec().userObject();
    return command.config(POD);
  }

  /** The other end of a promise: the operator's own test holds it to the same file. */
  @Test
  void takesWhatTheOperatorSays() throws IOException {
    JsonNode container = generated("Deployment").at("/spec/template/spec/containers/0");
    List<String> args = new ArrayList<>();
    container.path("args").forEach(arg -> args.add(arg.asText()));
    assertThat(args.removeFirst()).isEqualTo("gateway");

    DataPlaneConfig config = config(args.toArray(String[]::new));

    assertThat(config.source())
        .isInstanceOfSatisfying(
            DataPlaneConfig.Kubernetes.class,
            source -> {
              assertThat(source.namespace()).isEqualTo("ns");
              assertThat(source.configMap()).isEqualTo("pool-epp");
              assertThat(source.reporting())
                  .isEqualTo(new DataPlaneConfig.Reporting("pool-epp", "pod-1", "ns", "uid-1"));
            });
    Listen served = Objects.requireNonNull(config.gateway()).listen();
    assertThat(served.host()).isEqualTo("0.0.0.0");
    assertThat(generated("Service").at("/spec/ports/0/targetPort").asInt())
        .isEqualTo(served.port());
    assertThat(container.at("/readinessProbe/httpGet/port").asInt())
        .isEqualTo(Objects.requireNonNull(config.admin()).port());
    assertThat(config.drain().toSeconds())
        .as("the pod is not killed before the gateway has ended")
        .isLessThan(
            generated("Deployment")
                .at("/spec/template/spec/terminationGracePeriodSeconds")
                .asLong());
    assertThat(config.extProc()).isNull();
    JsonNode token = generated("Deployment").at("/spec/template/spec/volumes/1/secret/items/0");
    assertThat(config.console())
        .isEqualTo(
            new ConsoleConfig(
                Path.of(
                    container.at("/volumeMounts/1/mountPath").asText(),
                    token.path("path").asText())));
  }

  @Test
  void theConsoleIsOffUnlessAskedForAndItsTokenIsNothingWithoutIt() {
    assertThat(config("--folder=f").console()).isNull();
    assertThat(config("--folder=f", "--console").console()).isEqualTo(new ConsoleConfig(null));
    assertThat(config("--folder=f", "--console=false").console()).isNull();
    assertThatExceptionOfType(ParameterException.class)
        .isThrownBy(() -> config("--folder=f", "--console-token-file=token"))
        .withMessage("--console-token-file needs --console");
  }

  private static JsonNode generated(String kind) throws IOException {
    Path golden = Path.of("../../operator/src/test/resources/golden/children-gateway.yaml");
    try (MappingIterator<JsonNode> documents =
        new YAMLMapper().readerFor(JsonNode.class).readValues(golden.toFile())) {
      return documents.readAll().stream()
          .filter(document -> document.path("kind").asText().equals(kind))
          .findFirst()
          .orElseThrow();
    }
  }

  @Test
  void runsOnAFolderOrAListOfEndpoints() {
    assertThat(config("--folder=f").source()).isEqualTo(new DataPlaneConfig.Folder(Path.of("f")));
    assertThat(config("--endpoints=e.yaml").source())
        .isEqualTo(new DataPlaneConfig.Files(Path.of("e.yaml"), null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--max-connections=5      | --folder DIR, --endpoints FILE, or on Kubernetes --pool-name",
        "--folder=f --pool-name=p | --folder has all there is",
        "--picker=x               | --picker needs --config-map or --pool-name",
      })
  void saysWhatIsWrong(String args, String problem) {
    assertThatExceptionOfType(ParameterException.class)
        .isThrownBy(() -> config(args.split(" ", -1)))
        .withMessageContaining(problem);
  }
}
