package io.fairlead.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fairlead.e2e.cluster.Checkout;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the images say of themselves. */
class ImagesIT {
  private static final JsonMapper JSON = new JsonMapper();

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"dataplane", "operator"})
  void anImageSaysWhatItIsAndWhatItIsMadeOf(String name) throws Exception {
    Checkout checkout = Checkout.find();
    checkout.run("images", name, "--no-load");
    Path images = checkout.root().resolve("target/images");
    unpack(images.resolve(name + ".tar"));
    JsonNode manifest = JSON.readTree(folder.resolve("manifest.json").toFile()).path(0);
    JsonNode config =
        JSON.readTree(folder.resolve(manifest.path("Config").asText()).toFile()).path("config");

    JsonNode labels = config.path("Labels");
    String title = "org.opencontainers.image.";
    assertThat(labels.path(title + "title").asText()).isEqualTo("fairlead-" + name);
    assertThat(labels.path(title + "licenses").asText()).isEqualTo("Apache-2.0");
    assertThat(labels.path(title + "vendor").asText()).isEqualTo("Fairlead");
    assertThat(labels.path(title + "version").asText()).matches("[0-9]+\\..*");
    assertThat(labels.path(title + "revision").asText()).matches("[0-9a-f]{40}(-modified)?");
    assertThat(config.path("User").asText()).isEqualTo("65532:65532");

    for (JsonNode layer : manifest.path("Layers")) {
      unpack(folder.resolve(layer.asText()));
    }
    Path bom = folder.resolve(labels.path("io.fairlead.sbom").asText().substring(1));
    assertThat(bom).hasSameBinaryContentAs(images.resolve(name + ".cdx.json"));
    Set<String> listed = new HashSet<>();
    for (JsonNode component : JSON.readTree(bom.toFile()).path("components")) {
      listed.add(component.path("name").asText() + "-" + component.path("version").asText());
    }
    List<String> jars = new ArrayList<>();
    for (String lib : List.of("app/lib", "app/fairlead")) {
      try (Stream<Path> files = Files.list(folder.resolve(lib))) {
        files.map(file -> file.getFileName().toString()).forEach(jars::add);
      }
    }
    String own = "fairlead-" + (name.equals("dataplane") ? "cli" : name);
    assertThat(
            jars.stream()
                .filter(jar -> !jar.startsWith(own) && !jar.startsWith("fairlead-0"))
                .filter(jar -> listed.stream().noneMatch(jar::startsWith))
                .collect(Collectors.toSet()))
        .as("jars that the SBOM leaves out")
        .isEmpty();
    assertThat(jars).hasSizeGreaterThan(20);
  }

  private void unpack(Path archive) throws IOException, InterruptedException {
    Process tar =
        new ProcessBuilder("tar", "-xf", archive.toString(), "-C", folder.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(tar.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(tar.waitFor()).as(said).isZero();
  }
}
