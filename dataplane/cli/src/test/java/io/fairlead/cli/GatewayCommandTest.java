package io.fairlead.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fairlead.epp.DataPlaneConfig;
import io.fairlead.epp.DataPlaneConfig.Listen;
import io.fairlead.epp.capture.CaptureConfig;
import io.fairlead.epp.console.ConsoleConfig;
import io.fairlead.epp.frontend.gateway.AllowedOrigins;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.ParameterException;

class GatewayCommandTest {

  private static final String ALL_SETTINGS = "all-settings-gateway.yaml";

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
    assertThat(container.at("/args/0").asText()).isEqualTo("gateway");

    DataPlaneConfig config = config(arguments(container));

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
  }

  @Test
  void saysWhosePagesMayCall() {
    assertThat(origins("--allowed-origins", "https://a.example,http://b:8080"))
        .isEqualTo(AllowedOrigins.of("https://a.example", "http://b:8080"));
    assertThat(origins("--allowed-origins", "HTTPS://A.Example, http://b:8080,http://b:8080"))
        .as("as browsers send them")
        .isEqualTo(AllowedOrigins.of("https://a.example", "http://b:8080"));
    assertThat(origins("--allowed-origins=none")).isEqualTo(AllowedOrigins.of());
    assertThat(origins()).isEqualTo(AllowedOrigins.ANY);
    assertThatExceptionOfType(ParameterException.class)
        .isThrownBy(() -> origins("--allowed-origins", "a.example"))
        .withMessageContaining("'a.example' is no origin");
  }

  private static AllowedOrigins origins(String... args) {
    String[] all =
        Stream.concat(Stream.of("--folder", "x"), Stream.of(args)).toArray(String[]::new);
    return Objects.requireNonNull(config(all).gateway()).origins();
  }

  @Test
  void takesAllThatAnEndpointPickerMaySay() throws IOException {
    JsonNode container =
        generated(ALL_SETTINGS, "Deployment").at("/spec/template/spec/containers/0");
    DataPlaneConfig config = config(arguments(container));

    assertThat(config.console())
        .isEqualTo(new ConsoleConfig(mounted(container, "console-token").resolve("token")));
    assertThat(Objects.requireNonNull(config.handOver()).secretFile())
        .isEqualTo(mounted(container, "hand-over").resolve("secret"));
    CaptureConfig capture = Objects.requireNonNull(config.capture());
    assertThat(capture.folder()).isEqualTo(mounted(container, "capture"));
    assertThat(capture.share()).isEqualTo(0.5);
    assertThat(Objects.requireNonNull(config.tracing()).endpoint())
        .isEqualTo("http://collector:4317");
    assertThat(Objects.requireNonNull(config.gateway()).toString())
        .contains(mounted(container, "tls").toString());
  }

  private static Path mounted(JsonNode container, String volume) {
    return container
        .path("volumeMounts")
        .valueStream()
        .filter(mount -> mount.path("name").asText().equals(volume))
        .map(mount -> Path.of(mount.path("mountPath").asText()))
        .findFirst()
        .orElseThrow();
  }

  private static String[] arguments(JsonNode container) {
    return container
        .path("args")
        .valueStream()
        .skip(1)
        .map(JsonNode::asText)
        .toArray(String[]::new);
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
    return generated("children-gateway.yaml", kind);
  }

  private static JsonNode generated(String file, String kind) throws IOException {
    Path golden = Path.of("../../operator/src/test/resources/golden", file);
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
