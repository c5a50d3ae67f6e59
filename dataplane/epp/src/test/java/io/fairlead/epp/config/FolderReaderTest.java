package io.fairlead.epp.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a folder of resources says of requests. */
class FolderReaderTest {

  private static final String POOL =
      """
      apiVersion: inference.networking.k8s.io/v1
      kind: InferencePool
      metadata: {name: p}
      spec:
        selector: {matchLabels: {app: a}}
        targetPorts: [{number: 8000}]
        endpointPickerRef: {name: p, port: {number: 9002}}
      """;

  @TempDir Path folder;

  @Test
  void readsHowRequestsAreTreated() throws IOException {
    ConfigOffer offer = offer("{unconfiguredModels: Sheddable, timeouts: {total: 10m}}", "30s");
    assertThat(offer).isInstanceOf(ConfigOffer.Document.class);
    PoolConfig config = ((ConfigOffer.Document) offer).config();
    assertThat(config.requests().unconfiguredModels()).isEqualTo(Criticality.SHEDDABLE);
    assertThat(config.requests().timeouts())
        .isEqualTo(new TimeoutsConfig(null, null, Duration.ofMinutes(10)));
    assertThat(config.models().getFirst().timeouts())
        .isEqualTo(new TimeoutsConfig(Duration.ofSeconds(30), null, null));
  }

  @Test
  void refusesAnAnnotationThatIsWrong() throws IOException {
    assertThat(message(offer("{}", "soon")))
        .isEqualTo(
            folder.resolve("model.yaml")
                + ": InferenceModel default/m:"
                + " metadata.annotations[\"fairlead.io/first-byte-timeout\"] is \"soon\", expected a"
                + " duration as Go writes it, such as 30s or 1m30s");
  }

  @Test
  void refusesASettingThatIsWrong() throws IOException {
    assertThat(message(offer("{timeouts: {total: 0s}}", "30s")))
        .isEqualTo(
            folder.resolve("picker.yaml")
                + ": EndpointPicker default/e: spec.requests.timeouts.total is \"0s\", expected a"
                + " duration above 0s");
    assertThat(message(offer("{retryBudget: 1}", "30s"))).contains("picker.yaml", "unknown field");
  }

  private ConfigOffer offer(String requests, String timeout) throws IOException {
    Files.writeString(folder.resolve("pool.yaml"), POOL);
    Files.writeString(
        folder.resolve("model.yaml"),
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: m, annotations: {fairlead.io/first-byte-timeout: %s}}
        spec: {modelName: m, poolRef: {name: p}}
        """
            .formatted(timeout));
    Files.writeString(
        folder.resolve("picker.yaml"),
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: e}
        spec:
          poolRef: {name: p}
          requests: %s
        """
            .formatted(requests));
    return ConfigReaders.folder(FileState.read(List.of(folder)), folder);
  }

  private static String message(ConfigOffer offer) {
    assertThat(offer).isInstanceOf(ConfigOffer.Unreadable.class);
    return ((ConfigOffer.Unreadable) offer).message();
  }
}
