package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.operator.testing.Installed;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What config/ ships is taken by a real API server. */
@ExtendWith(KubeApi.class)
class ConfigIT {
  private static final Path CONFIG = Path.of("..", "config");

  @Test
  void everyShippedObjectIsTaken(KubeApi.Running server) throws IOException {
    Installed cluster = Installed.on(server);
    try (Stream<Path> samples = Files.list(CONFIG.resolve("samples"))) {
      List<Path> files = new ArrayList<>(resources(CONFIG.resolve("upstream-crd")));
      files.addAll(resources(CONFIG.resolve("default")));
      files.addAll(samples.filter(file -> file.toString().endsWith(".yaml")).toList());
      assertThat(files).hasSizeGreaterThan(10);
      for (Path file : files) {
        dryRun(cluster.admin(), file);
      }
    }
  }

  @Test
  void noKindOfOthersIsOwnedByWhatIsAppliedAndDeleted() throws IOException {
    assertThat(groups(CONFIG.resolve("default"))).containsExactly("fairlead.io");
    assertThat(groups(CONFIG.resolve("upstream-crd")))
        .containsExactlyInAnyOrder(InferencePool.GROUP, InferenceModel.GROUP);
  }

  /** The groups of the kinds that a kustomization has. */
  private static List<String> groups(Path folder) throws IOException {
    List<String> groups = new ArrayList<>();
    for (Path file : resources(folder)) {
      JsonNode object = new YAMLMapper().readTree(Files.readString(file));
      if (object.path("kind").asText().equals("CustomResourceDefinition")) {
        groups.add(object.at("/spec/group").asText());
      }
    }
    return groups;
  }

  private static void dryRun(KubernetesClient client, Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      for (HasMetadata object : client.load(in).items()) {
        String namespace = object.getMetadata().getNamespace();
        HasMetadata taken =
            client
                .resource(object)
                .inNamespace(namespace == null ? "default" : namespace)
                .dryRun()
                .serverSideApply();
        assertThat(taken.getMetadata().getName()).as(file.toString()).isNotNull();
      }
    }
  }

  /** The files of a kustomization, those of its bases included. */
  private static List<Path> resources(Path folder) throws IOException {
    List<Path> files = new ArrayList<>();
    JsonNode tree =
        new YAMLMapper().readTree(Files.readString(folder.resolve("kustomization.yaml")));
    for (JsonNode resource : tree.path("resources")) {
      Path path = folder.resolve(resource.asText()).normalize();
      if (Files.isDirectory(path)) {
        files.addAll(resources(path));
      } else {
        files.add(path);
      }
    }
    return files;
  }
}
