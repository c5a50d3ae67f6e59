package io.fairlead.operator.children;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.fairlead.v1alpha1.ConsoleSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.fairlead.v1alpha1.SecretKeyRef;
import io.fairlead.crds.report.PickerReport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChildrenTest {
  private static final PickerDesign DESIGN =
      new PickerDesign(
          "ns",
          "pool",
          "uid-1",
          "svc",
          9002,
          "models: []\n",
          ConfigHash.of("abc"),
          null,
          Frontend.EXT_PROC,
          "example.test/epp:1",
          2,
          null,
          null);

  private static final ConsoleSpec CONSOLE =
      new ConsoleSpec(true, new SecretKeyRef("console", null));

  private static PickerDesign with(String document, String hash, int servicePort) {
    return new PickerDesign(
        "ns",
        "pool",
        "uid-1",
        "svc",
        servicePort,
        document,
        ConfigHash.of(hash),
        "models: []\n",
        Frontend.EXT_PROC,
        "example.test/epp:1",
        2,
        null,
        null);
  }

  @ParameterizedTest
  @CsvSource({"EXT_PROC,/golden/children.yaml", "GATEWAY,/golden/children-gateway.yaml"})
  void areWhatTheGoldenFilesSay(Frontend frontend, String file) throws IOException {
    String actual =
        Children.of(as(frontend, frontend == Frontend.GATEWAY ? CONSOLE : null)).stream()
            .map(Serialization::asYaml)
            .collect(Collectors.joining());
    try (InputStream in = Objects.requireNonNull(ChildrenTest.class.getResourceAsStream(file))) {
      assertThat(actual).isEqualTo(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  private static PickerDesign as(Frontend frontend) {
    return as(frontend, null);
  }

  private static PickerDesign as(Frontend frontend, @Nullable ConsoleSpec console) {
    return new PickerDesign(
        DESIGN.namespace(),
        DESIGN.pool(),
        DESIGN.poolUid(),
        DESIGN.service(),
        DESIGN.servicePort(),
        DESIGN.document(),
        DESIGN.documentHash(),
        DESIGN.lastGood(),
        frontend,
        DESIGN.image(),
        DESIGN.replicas(),
        DESIGN.resources(),
        console);
  }

  @ParameterizedTest
  @EnumSource
  void whatADeploymentRunsIsSeen(Frontend frontend) {
    Deployment deployment = (Deployment) deployment(as(frontend));
    assertThat(Children.frontend(deployment)).isEqualTo(frontend);
  }

  @Test
  void aConsolesTokenIsThatOfTheKeyInASecretThatMayBeMissing() {
    ConsoleSpec console = new ConsoleSpec(true, new SecretKeyRef("console", "secret"));
    SecretVolumeSource secret =
        pod(as(Frontend.EXT_PROC, console)).getVolumes().getLast().getSecret();
    assertThat(secret.getSecretName()).isEqualTo("console");
    assertThat(secret.getItems().getFirst().getKey()).isEqualTo("secret");
    assertThat(secret.getOptional()).isTrue();
  }

  @Test
  void aConsoleWithoutATokenMountsNothingAndOneThatIsOffIsNone() {
    PodSpec without = pod(DESIGN);
    PodSpec open = pod(as(Frontend.EXT_PROC, new ConsoleSpec(true, null)));
    assertThat(open.getContainers().getFirst().getArgs()).endsWith("--console");
    assertThat(open.getVolumes()).isEqualTo(without.getVolumes());
    ConsoleSpec off = new ConsoleSpec(false, new SecretKeyRef("console", null));
    assertThat(pod(as(Frontend.EXT_PROC, off))).isEqualTo(without);
    assertThat(pod(as(Frontend.EXT_PROC, new ConsoleSpec(null, null)))).isEqualTo(without);
  }

  private static PodSpec pod(PickerDesign design) {
    return ((Deployment) deployment(design)).getSpec().getTemplate().getSpec();
  }

  @Test
  void aNewConfigOrServicePortChangesNoPodTemplate() {
    HasMetadata before = deployment(DESIGN);
    assertThat(deployment(with("models: [x]\n", "def", 80))).isEqualTo(before);
  }

  /** Slices carry their Service's labels: by this one pickers find those of their own Service. */
  @Test
  void theServiceIsLabelledWithWhatItsPickersAreCalled() {
    Service service =
        Children.of(DESIGN).stream()
            .filter(Service.class::isInstance)
            .map(Service.class::cast)
            .findFirst()
            .orElseThrow();
    Deployment deployment = (Deployment) deployment(DESIGN);
    List<String> arguments =
        deployment.getSpec().getTemplate().getSpec().getContainers().getFirst().getArgs();
    assertThat(service.getMetadata().getLabels())
        .containsEntry(PickerReport.PICKER_LABEL, arguments.get(arguments.indexOf("--picker") + 1));
  }

  @Test
  void aLongDocumentIsCompressed() throws IOException {
    assertThat(configMap("x").getData()).containsKeys("config.yaml", "last-good.yaml");
    assertThat(configMap("x").getBinaryData()).isEmpty();
    String document = "x".repeat(2_000_000);
    ConfigMap map = configMap(document);
    assertThat(map.getData()).isEmpty();
    assertThat(map.getBinaryData()).containsOnlyKeys("config.yaml.gz", "last-good.yaml.gz");
    assertThat(ConfigMapTexts.read(map, "config.yaml")).isEqualTo(document);
  }

  private static ConfigMap configMap(String document) {
    return Children.of(with(document, "def", 80)).stream()
        .filter(ConfigMap.class::isInstance)
        .map(ConfigMap.class::cast)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void theServiceDoesNotCallAPortOfTlsClearText() {
    Service service =
        Children.of(DESIGN).stream()
            .filter(Service.class::isInstance)
            .map(Service.class::cast)
            .findFirst()
            .orElseThrow();
    assertThat(service.getSpec().getPorts().getFirst().getAppProtocol()).isEqualTo("http2");
    assertThat(Serialization.asYaml(deployment(DESIGN))).doesNotContain("--secure-serving");
  }

  private static HasMetadata deployment(PickerDesign design) {
    return Children.of(design).stream()
        .filter(child -> child.getKind().equals("Deployment"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void oneReplicaNeedsNoDisruptionBudget() {
    PickerDesign one =
        new PickerDesign(
            "ns",
            "pool",
            "uid-1",
            "svc",
            9002,
            "",
            ConfigHash.of("abc"),
            null,
            Frontend.EXT_PROC,
            "example.test/epp:1",
            1,
            null,
            null);
    assertThat(Children.of(one)).noneMatch(PodDisruptionBudget.class::isInstance);
    assertThat(Children.of(DESIGN)).anyMatch(PodDisruptionBudget.class::isInstance);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 58, 59, 60, 63, 64, 253})
  void namesAreLabelsOfAtMost63(int length) {
    assertThat(Names.child("p".repeat(length)))
        .matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?")
        .hasSizeLessThanOrEqualTo(63)
        .endsWith("-epp");
  }

  @Test
  void namesOfPoolsThatBeginAlikeOrDifferInADotAreUnique() {
    String head = "p".repeat(60);
    List<String> pools = List.of(head + "a", head + "b", head + ".a", "a.b", "a-b", "a.b-");
    assertThat(pools.stream().map(Names::child)).doesNotHaveDuplicates();
    assertThat(Names.child("a-b")).isEqualTo("a-b-epp");
    assertThat(Names.child("a.b")).doesNotContain(".");
  }
}
