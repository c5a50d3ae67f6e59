package io.fairlead.operator.children;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapVolumeSource;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.EnvVarBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.KeyToPath;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.SecretVolumeSource;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.TolerationBuilder;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fairlead.crds.ConfigHash;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPickerSpec;
import io.fairlead.crds.fairlead.v1alpha1.ExternalPlace;
import io.fairlead.crds.fairlead.v1alpha1.ExternalSpec;
import io.fairlead.crds.fairlead.v1alpha1.Frontend;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.operator.children.PickerDesign.Deployed;
import io.fairlead.operator.children.PickerDesign.ServicePlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
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
          "inference.networking.k8s.io/v1",
          "uid-1",
          new ServicePlace("svc", 9002),
          "models: []\n",
          ConfigHash.of("abc"),
          null,
          Frontend.EXT_PROC,
          new PickerImage("example.test/epp:1"),
          settings("replicas: 2"),
          List.of(),
          null,
          Deployed.NOTHING);

  private static final String ALL_SETTINGS =
      """
      podTemplate:
        labels: {team: ml, app.kubernetes.io/part-of: mine}
        annotations: {linkerd.io/inject: enabled}
        nodeSelector: {disk: ssd}
        tolerations: [{key: gpu, operator: Exists, effect: NoSchedule}]
        priorityClassName: high
        imagePullSecrets: [{name: registry}]
        env: [{name: OTEL_SERVICE_NAME, value: picker}]
      tls: {secretName: pair}
      tracing: {endpoint: "http://collector:4317", samplingPercent: 5}
      capture: {volumeClaimName: captures, sharePercent: 50, files: 3, fileMebibytes: 10}
      handOver: {secretName: shared}
      console: {enabled: true, tokenSecretRef: {name: console}}
      """;

  private static PickerDesign with(String document, String hash, int servicePort) {
    return new PickerDesign(
        "ns",
        "pool",
        "inference.networking.k8s.io/v1",
        "uid-1",
        new ServicePlace("svc", servicePort),
        document,
        ConfigHash.of(hash),
        "models: []\n",
        Frontend.EXT_PROC,
        new PickerImage("example.test/epp:1"),
        settings("replicas: 2"),
        List.of(),
        null,
        Deployed.NOTHING);
  }

  @ParameterizedTest
  @CsvSource({"EXT_PROC,children.yaml", "GATEWAY,children-gateway.yaml"})
  void areWhatTheGoldenFilesSay(Frontend frontend, String file) throws IOException {
    holds(
        file,
        Children.of(with(frontend, "replicas: 2")).stream()
            .map(Serialization::asYaml)
            .collect(Collectors.joining()));
  }

  /** The API server stores it as absent: it would be put right for ever. */
  @Test
  void whatIsEmptyInThePodTemplateIsLeftOut() {
    PickerDesign design =
        with(
            """
            podTemplate:
              labels: {kept: ""}
              nodeSelector: {kept: ""}
              priorityClassName: ""
              tolerations: [{key: "", operator: Exists, effect: ""}]
              env: [{name: EMPTY, value: ""}]
            """);
    PodSpec pod = pod(design);
    assertThat(pod.getPriorityClassName()).isNull();
    assertThat(pod.getTolerations())
        .containsExactly(new TolerationBuilder().withOperator("Exists").build());
    assertThat(pod.getNodeSelector()).containsEntry("kept", "");
    assertThat(pod.getContainers().getFirst().getEnv())
        .contains(new EnvVarBuilder().withName("EMPTY").build());
  }

  @Test
  void variablesMayBeFromElsewhere() {
    PodSpec pod =
        pod(
            with(
                """
                podTemplate:
                  env:
                    - {name: TOKEN, valueFrom: {secretKeyRef: {name: collector, key: token}}}
                    - {name: NODE, value: "", valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
                """));
    assertThat(pod.getContainers().getFirst().getEnv())
        .contains(
            new EnvVarBuilder()
                .withName("TOKEN")
                .withNewValueFrom()
                .withNewSecretKeyRef("token", "collector", null)
                .endValueFrom()
                .build(),
            new EnvVarBuilder()
                .withName("NODE")
                .withNewValueFrom()
                .withNewFieldRef("v1", "spec.nodeName")
                .endValueFrom()
                .build());
  }

  @Test
  void aPriorityClassWithoutANameIsLeftOutAlsoWhereNothingElseIsEmpty() {
    PodSpec pod = pod(with("podTemplate: {priorityClassName: \"\"}"));
    assertThat(pod.getPriorityClassName()).isNull();
  }

  private static PodSpec pod(PickerDesign design) {
    return Children.of(design).stream()
        .filter(Deployment.class::isInstance)
        .map(Deployment.class::cast)
        .findFirst()
        .orElseThrow()
        .getSpec()
        .getTemplate()
        .getSpec();
  }

  private static void holds(String file, String made) throws IOException {
    Path copy = Files.writeString(Path.of("target", file), made);
    assertThat(Path.of("src/test/resources/golden", file))
        .as("cp operator/target/%1$s operator/src/test/resources/golden/%1$s", file)
        .hasSameTextualContentAs(copy);
  }

  @ParameterizedTest
  @EnumSource
  void whatADeploymentRunsIsSeen(Frontend frontend) {
    Deployment deployment = (Deployment) deployment(with(frontend, "replicas: 2"));
    assertThat(Children.frontend(deployment)).isEqualTo(frontend);
    deployment
        .getSpec()
        .getTemplate()
        .getSpec()
        .getContainers()
        .addFirst(new ContainerBuilder().withName("sidecar").withArgs("gateway").build());
    assertThat(Children.frontend(deployment)).as("beside others").isEqualTo(frontend);
  }

  /** By which it is known that a child need not be compared with what is there again. */
  @Test
  void ofTheSameDesignTheChildrenAreEqual() {
    assertThat(Children.of(DESIGN)).isEqualTo(Children.of(DESIGN));
    assertThat(Children.of(with("replicas: 3"))).isNotEqualTo(Children.of(DESIGN));
  }

  @Test
  void aConsolesTokenIsThatOfTheKeyInASecretThatMayBeMissing() {
    SecretVolumeSource secret =
        pod("console: {enabled: true, tokenSecretRef: {name: console, key: secret}}")
            .getVolumes()
            .getLast()
            .getSecret();
    assertThat(secret.getSecretName()).isEqualTo("console");
    assertThat(secret.getItems().getFirst().getKey()).isEqualTo("secret");
    assertThat(secret.getOptional()).isTrue();
  }

  @Test
  void aConsoleWithoutATokenMountsNothingAndOneThatIsOffIsNone() {
    PodSpec without = pod("replicas: 1");
    PodSpec open = pod("console: {enabled: true}");
    assertThat(open.getContainers().getFirst().getArgs()).endsWith("--console");
    assertThat(open.getVolumes()).isEqualTo(without.getVolumes());
    assertThat(pod("console: {enabled: false, tokenSecretRef: {name: console}}"))
        .isEqualTo(without);
    assertThat(pod("console: {}")).isEqualTo(without);
  }

  @Test
  void modelServersAreSpokenToOverTlsAsThePickerSays() {
    assertThat(arguments("endpointTls: {}")).endsWith("--endpoint-tls");
    assertThat(arguments("endpointTls: {insecureSkipVerify: true}"))
        .endsWith("--endpoint-tls", "--endpoint-insecure-skip-verify");
    assertThat(arguments("endpointTls: {serverName: vllm.example, caSecret: authorities}"))
        .endsWith(
            "--endpoint-tls",
            "--endpoint-server-name",
            "vllm.example",
            "--endpoint-ca-file",
            "/etc/fairlead/endpoint-ca/ca.crt");
    SecretVolumeSource secret =
        pod("endpointTls: {caSecret: authorities}").getVolumes().getLast().getSecret();
    assertThat(secret.getSecretName()).isEqualTo("authorities");
    assertThat(secret.getItems().getFirst().getKey()).as("and nothing else").isEqualTo("ca.crt");
    assertThat(pod("endpointTls: {caConfigMap: trusted}").getVolumes().getLast().getConfigMap())
        .extracting(ConfigMapVolumeSource::getName)
        .isEqualTo("trusted");
  }

  @Test
  void allowedOriginsAreAGatewaysAlone() {
    assertThat(
            arguments(
                Frontend.GATEWAY, "allowedOrigins: [\"https://a.example\", \"http://b:8080\"]"))
        .endsWith("--allowed-origins", "https://a.example,http://b:8080");
    assertThat(arguments(Frontend.GATEWAY, "allowedOrigins: []"))
        .endsWith("--allowed-origins", "none");
    assertThat(arguments(Frontend.EXT_PROC, "allowedOrigins: []"))
        .isEqualTo(arguments(Frontend.EXT_PROC, "replicas: 1"));
  }

  private static List<String> arguments(String settings) {
    return pod(settings).getContainers().getFirst().getArgs();
  }

  private static List<String> arguments(Frontend frontend, String settings) {
    return pod(with(frontend, settings)).getContainers().getFirst().getArgs();
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
    return child(design, "Deployment");
  }

  @Test
  void aSchedulerBesideThePickerIsAContainerThatMayDoLittle() {
    PodSpec pod =
        pod(
            """
            scheduling:
              external:
                sidecar:
                  image: example.test/scheduler:1
                  command: [python3]
                  args: [$(SCHEDULER_ADDRESS)]
                  env: {B: "2", A: "1"}
            """);
    assertThat(pod.getContainers())
        .extracting(Container::getName)
        .containsExactly("epp", "scheduler");
    Container scheduler = pod.getContainers().getLast();
    assertThat(scheduler.getEnv())
        .extracting(EnvVar::getName)
        .as("what refers to another comes after it")
        .containsExactly("SCHEDULER_ADDRESS", "A", "B");
    assertThat(scheduler.getEnv().getFirst().getValue())
        .isEqualTo("unix:/run/fairlead/scheduler/socket");
    assertThat(scheduler.getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(scheduler.getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
    assertThat(scheduler.getSecurityContext().getAllowPrivilegeEscalation()).isFalse();
    assertThat(scheduler.getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
    assertThat(paths(scheduler))
        .as("with nothing where the picker has the token of its account")
        .containsExactly(
            "/tmp", "/var/run/secrets/kubernetes.io/serviceaccount", "/run/fairlead/scheduler");
    assertThat(paths(pod.getContainers().getFirst()))
        .containsExactly("/tmp", "/run/fairlead/scheduler");
    assertThat(pod.getVolumes())
        .allMatch(volume -> volume.getEmptyDir() != null)
        .extracting(Volume::getName)
        .containsExactly("tmp", "tmp-scheduler", "no-token", "scheduler");
  }

  @Test
  void ofASecretThePickerGetsTheAuthoritiesAlone() {
    PodSpec pod =
        pod(
            """
            shadows:
              - name: tried
                scheduling: {external: {service: {address: "s:1", tls: {caSecret: secret}}}}
            """);
    assertThat(pod.getContainers()).hasSize(1);
    assertThat(paths(pod.getContainers().getFirst()))
        .containsExactly("/tmp", "/etc/fairlead/scheduler-tried");
    Volume volume = pod.getVolumes().getLast();
    assertThat(volume.getSecret().getSecretName()).isEqualTo("secret");
    assertThat(volume.getSecret().getOptional()).isTrue();
    assertThat(volume.getSecret().getItems())
        .extracting(KeyToPath::getKey)
        .containsExactly("ca.crt");
  }

  private static List<String> paths(Container container) {
    return container.getVolumeMounts().stream().map(VolumeMount::getMountPath).toList();
  }

  private static PodSpec pod(String settings) {
    return ((Deployment) deployment(with(settings))).getSpec().getTemplate().getSpec();
  }

  /** Else what can't be run next could not leave them as they are. */
  @Test
  void aDeploymentTellsWhichSchedulersItsPodsHave() {
    PickerDesign asked =
        with(
            """
            scheduling: {external: {timeout: 5ms, sidecar: {image: i, port: 9100, env: {A: "1"}}}}
            shadows:
              - name: tried
                scheduling: {external: {service: {address: "s:1", tls: {caSecret: secret}}}}
            """);
    Deployment made = (Deployment) deployment(asked);

    PickerDesign kept =
        new PickerDesign(
            DESIGN.namespace(),
            DESIGN.pool(),
            DESIGN.poolApiVersion(),
            DESIGN.poolUid(),
            DESIGN.service(),
            DESIGN.document(),
            DESIGN.documentHash(),
            DESIGN.lastGood(),
            DESIGN.frontend(),
            DESIGN.image(),
            settings("scheduling: {external: {sidecar: {image: other, port: 9002}}}"),
            Children.schedulers(made),
            null,
            Deployed.NOTHING);

    assertThat(deployment(kept)).isEqualTo(made);
    assertThat(Children.askedFor(kept, made)).isFalse();
    made.getMetadata().getAnnotations().put("fairlead.io/schedulers", "edited by hand");
    assertThat(Children.schedulers(made)).isEmpty();
    assertThat(Children.schedulers((Deployment) deployment(DESIGN))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 40, 41, 63})
  void placesOfSchedulersAreLabels(int length) {
    ExternalSpec spec = new ExternalSpec(null, null, null, null, null, null, null, null, List.of());
    String one = ExternalPlace.ofShadow("s".repeat(length), spec).name();
    assertThat("tmp-" + one).matches("[a-z0-9]([-a-z0-9]*[a-z0-9])?").hasSizeLessThanOrEqualTo(63);
    String other = ExternalPlace.ofShadow("s".repeat(length - 1) + "x", spec).name();
    assertThat(one).isNotEqualTo(other);
  }

  @Test
  void aPickerOfWhichOneCanRunNeedsNoDisruptionBudget() {
    assertThat(Children.of(with("replicas: 1"))).noneMatch(PodDisruptionBudget.class::isInstance);
    assertThat(Children.of(with("autoscaling: {maxReplicas: 1}")))
        .noneMatch(PodDisruptionBudget.class::isInstance);
    assertThat(Children.of(DESIGN)).anyMatch(PodDisruptionBudget.class::isInstance);
    assertThat(Children.of(with("autoscaling: {maxReplicas: 2}")))
        .anyMatch(PodDisruptionBudget.class::isInstance);
  }

  /** An absent number is somebody else's: what the Deployment has counts then. */
  @ParameterizedTest
  @CsvSource({
    "{}, 1, false",
    "{}, 2, true",
    "'replicas: 1', 10, false",
    "'autoscaling: {maxReplicas: 1}', 10, false"
  })
  void whereNobodySaysHowManyPodsThereAreThoseThatThereAreCount(
      String settings, int pods, boolean guarded) {
    PickerDesign design = deployed(settings, new Deployed(pods, false));
    assertThat(Children.of(design).stream().anyMatch(PodDisruptionBudget.class::isInstance))
        .isEqualTo(guarded);
    assertThat(design.handOver() != null).isEqualTo(guarded);
  }

  /** Each change of that replaces all pods, and an autoscaler may add and take one all day. */
  @ParameterizedTest
  @CsvSource({
    "{}, true",
    "'replicas: 1', false",
    "'autoscaling: {maxReplicas: 1}', false",
    "'handOver: {enabled: false}', false"
  })
  void whereNobodySaysHowManyPodsThereAreAHandOverStays(String settings, boolean stays) {
    PickerDesign many = deployed(settings, new Deployed(10, false));
    Deployment there = (Deployment) child(many, "Deployment");
    boolean handsOver = Children.handsOver(there.getSpec().getTemplate().getSpec(), many.picker());
    assertThat(handsOver).isEqualTo(many.handOver() != null);
    PickerDesign one = deployed(settings, new Deployed(1, true));
    assertThat(one.handOver() != null).isEqualTo(stays);
    assertThat(Children.of(one)).noneMatch(PodDisruptionBudget.class::isInstance);
    if (stays) {
      assertThat(child(one, "Deployment")).isEqualTo(there);
    }
  }

  /** What somebody shares that is none of ours is his to take away. */
  @Test
  void aHandOverByASecretOfTheAuthorsIsNotOurs() {
    Deployment theirs = (Deployment) child(with("handOver: {secretName: shared}"), "Deployment");
    assertThat(Children.handsOver(theirs.getSpec().getTemplate().getSpec(), "pool-epp")).isFalse();
  }

  private static PickerDesign deployed(String settings, Deployed deployed) {
    return new PickerDesign(
        DESIGN.namespace(),
        DESIGN.pool(),
        DESIGN.poolApiVersion(),
        DESIGN.poolUid(),
        DESIGN.service(),
        DESIGN.document(),
        DESIGN.documentHash(),
        DESIGN.lastGood(),
        DESIGN.frontend(),
        DESIGN.image(),
        settings(settings),
        List.of(),
        null,
        deployed);
  }

  @Test
  void aDisruptionBudgetIsWhatWasAskedFor() {
    assertThat(plain(child(with("disruptionBudget: {minAvailable: 50%}"), "PodDisruptionBudget")))
        .contains("minAvailable: 50%")
        .doesNotContain("maxUnavailable");
    assertThat(plain(child(with("disruptionBudget: {maxUnavailable: 2}"), "PodDisruptionBudget")))
        .contains("maxUnavailable: 2")
        .doesNotContain("minAvailable");
  }

  @Test
  void aNetworkPolicyLetsThroughWhatIsMeantForOthersAndNothingElse() {
    assertThat(Children.of(with("replicas: 1")))
        .noneMatch(child -> child.getKind().equals("NetworkPolicy"));
    assertThat(plain(child(with("networkPolicy: {}"), "NetworkPolicy")))
        .contains("port: 9002", "port: 9003", "port: 9090", "fairlead.io/metrics-reader: true")
        .contains("fairlead.io/picker: pool-epp", "- Ingress")
        .doesNotContain("9004", "8080", "Egress");
    String whole =
        plain(
            child(
                with(
                    Frontend.GATEWAY,
                    """
                    handOver: {secretName: shared}
                    networkPolicy:
                      requestsFrom: [{podSelector: {matchLabels: {app: gateway}}}]
                      metricsFrom: [{ipBlock: {cidr: 10.0.0.0/8}}]
                    """),
                "NetworkPolicy"));
    assertThat(whole)
        .contains("port: 8080", "port: 9004", "port: 9090", "app: gateway", "cidr: 10.0.0.0/8")
        .doesNotContain("9002", "metrics-reader");
  }

  @Test
  void whoIsScaledIsNotToldHowManyToRun() {
    PickerDesign scaled =
        with(
            "autoscaling: {minReplicas: 2, maxReplicas: 9, cpuUtilizationPercent: 50,"
                + " podMetrics: [{name: fairlead_streams, averageValue: '500'}]}");
    Deployment deployment = (Deployment) deployment(scaled);
    assertThat(deployment.getSpec().getReplicas()).isNull();
    assertThat(plain(child(scaled, "HorizontalPodAutoscaler")))
        .contains("minReplicas: 2", "maxReplicas: 9", "averageUtilization: 50")
        .contains("name: fairlead_streams", "averageValue: 500", "type: AverageValue")
        .contains("kind: Deployment", "name: pool-epp");
    assertThat(plain(child(with("autoscaling: {maxReplicas: 3}"), "HorizontalPodAutoscaler")))
        .contains("minReplicas: 1", "averageUtilization: 70");
    assertThat(
            plain(
                child(
                    with(
                        "autoscaling: {maxReplicas: 3, podMetrics: [{name: m, averageValue: '1'}]}"),
                    "HorizontalPodAutoscaler")))
        .doesNotContain("cpu");
  }

  @ParameterizedTest
  @EnumSource
  void whatAPickersAuthorWantsOfItsPodsIsInTheTemplate(Frontend frontend) throws IOException {
    PickerDesign all = with(frontend, ALL_SETTINGS);
    holds(
        "all-settings-" + frontend.name().toLowerCase(Locale.ROOT) + ".yaml",
        Serialization.asYaml(deployment(all)));
  }

  @Test
  void aCaptureWithoutAClaimHasRoomForAllFilesAndTheOneThatIsBegun() {
    assertThat(plain(deployment(with("capture: {files: 3, fileMebibytes: 10}"))))
        .contains("sizeLimit: 80Mi")
        .contains("- --capture\n", "- /capture\n")
        .doesNotContain("--capture-share");
  }

  @ParameterizedTest
  @CsvSource({
    "1000,1k",
    "1500,1500",
    "0.5,500m",
    "1000m,1",
    "1.5k,1500",
    "2000000,2M",
    "0,0",
    "7,7"
  })
  void quantitiesAreWrittenAsTheApiServerWritesThem(String asked, String written) {
    assertThat(
            plain(
                child(
                    with(
                        "autoscaling: {maxReplicas: 3, podMetrics: [{name: m, averageValue: '%s'}]}"
                            .formatted(asked)),
                    "HorizontalPodAutoscaler")))
        .contains("averageValue: " + written + "\n");
  }

  @ParameterizedTest
  @CsvSource({"15,64,2Gi", "3,512,4Gi", "511,1024,1Ti", "3,10,80Mi"})
  void aCapturesVolumeIsWrittenAsTheApiServerWritesIt(int files, int mebibytes, String size) {
    assertThat(
            plain(
                deployment(
                    with("capture: {files: %d, fileMebibytes: %d}".formatted(files, mebibytes)))))
        .contains("sizeLimit: " + size + "\n");
  }

  @Test
  void whatPodsCantBeMadeOfIsLeftOutOfThem() {
    assertThat(pod("scheduling: {external: {sidecar: {}}}")).isEqualTo(pod("replicas: 1"));
    assertThat(pod("scheduling: {external: {sidecar: {image: i, port: 9002}}}"))
        .isEqualTo(pod("replicas: 1"));
    assertThat(pod("shadows: [{name: a, scheduling: {external: {sidecar: {image: i}}}}]"))
        .as("it could take its picker out of service")
        .isEqualTo(pod("replicas: 1"));
  }

  @Test
  void whatThePoolsAuthorAsksForIsToldFromAnUpgrade() {
    Deployment there = (Deployment) deployment(with("replicas: 2"));
    assertThat(Children.askedFor(with("replicas: 2"), there)).isFalse();
    assertThat(Children.askedFor(with("replicas: 3"), there)).isTrue();
    assertThat(Children.askedFor(with("replicas: 2\ntls: {secretName: s}"), there)).isTrue();
    assertThat(Children.askedFor(with("replicas: 2\nscheduling: {schedulingProfiles: []}"), there))
        .as("read hot")
        .isFalse();
    String policy = "replicas: 2\nnetworkPolicy: {requestsFrom: [{podSelector: {}}]}";
    assertThat(Children.askedFor(with(policy), there)).as("a label of the pods").isTrue();
    assertThat(
            Children.askedFor(
                with("replicas: 2\nnetworkPolicy: {}"), (Deployment) deployment(with(policy))))
        .as("not in the pods")
        .isFalse();
    Deployment single = (Deployment) deployment(with("autoscaling: {maxReplicas: 1}"));
    assertThat(Children.askedFor(with("autoscaling: {maxReplicas: 3}"), single))
        .as("pods hand over from now on")
        .isTrue();
    assertThat(
            Children.askedFor(
                with("replicas: 1\ndisruptionBudget: {maxUnavailable: 1}"),
                (Deployment) deployment(with("replicas: 1"))))
        .as("and so they do")
        .isTrue();
    assertThat(
            Children.askedFor(
                deployed("{}", new Deployed(2, false)),
                (Deployment) deployment(deployed("{}", new Deployed(1, false)))))
        .as("others scale it")
        .isFalse();
    there.getMetadata().setAnnotations(null);
    assertThat(Children.askedFor(with("replicas: 3"), there)).as("of an older operator").isFalse();
    there.getMetadata().setAnnotations(Map.of(PickerDeployment.ASKED, "1c61e6e6"));
    assertThat(Children.askedFor(with("replicas: 3"), there))
        .as("of one that went by other fields")
        .isFalse();
  }

  /**
   * Other fields, or fields written in another way, are another form: else an upgrade looks like an
   * edit of every pool, and all pickers are replaced at once.
   */
  @Test
  void whatIsAskedForHasAnotherFormWhenItIsOfOtherFields() {
    String rest = "image: i\nreplicas: 2\nresources: {limits: {cpu: '1'}}\nnetworkPolicy: {}\n";
    assertThat(PickerDeployment.asked(with(Frontend.GATEWAY, ALL_SETTINGS + rest)))
        .as("if this is another hash, count PickerDeployment.FORM up")
        .isEqualTo("3-199fbe8a");
  }

  /** As YAML without quotes. */
  private static String plain(HasMetadata object) {
    return Serialization.asYaml(object).replace("\"", "");
  }

  @Test
  void theOperatorsPullSecretsAreForWhomTheAuthorNamesNone() {
    PickerImage image = new PickerImage("example.test/epp:1", List.of("registry", "mirror"));
    assertThat(pullSecrets(with(image, "replicas: 1"))).containsExactly("registry", "mirror");
    assertThat(pullSecrets(with(image.named("other"), "image: other")))
        .containsExactly("registry", "mirror");
    assertThat(pullSecrets(with(image, "podTemplate: {imagePullSecrets: [{name: own}]}")))
        .containsExactly("own");
    assertThat(pullSecrets(DESIGN)).isEmpty();
    // It is an upgrade of the operator, and takes turns as such: nobody asked for other pods.
    assertThat(Children.askedFor(with(image, "replicas: 2"), (Deployment) deployment(DESIGN)))
        .isFalse();
  }

  private static List<String> pullSecrets(PickerDesign design) {
    return ((Deployment) deployment(design))
        .getSpec().getTemplate().getSpec().getImagePullSecrets().stream()
            .map(LocalObjectReference::getName)
            .toList();
  }

  private static EndpointPickerSpec settings(String yaml) {
    return Serialization.unmarshal(yaml, EndpointPickerSpec.class);
  }

  private static PickerDesign with(String settings) {
    return with(Frontend.EXT_PROC, settings);
  }

  private static PickerDesign with(Frontend frontend, String settings) {
    return with(frontend, DESIGN.image(), settings);
  }

  private static PickerDesign with(PickerImage image, String settings) {
    return with(Frontend.EXT_PROC, image, settings);
  }

  private static PickerDesign with(Frontend frontend, PickerImage image, String settings) {
    return new PickerDesign(
        DESIGN.namespace(),
        DESIGN.pool(),
        DESIGN.poolApiVersion(),
        DESIGN.poolUid(),
        DESIGN.service(),
        DESIGN.document(),
        DESIGN.documentHash(),
        DESIGN.lastGood(),
        frontend,
        image,
        settings(settings),
        ExternalPlace.of(settings(settings)),
        null,
        Deployed.NOTHING);
  }

  private static HasMetadata child(PickerDesign design, String kind) {
    return Children.of(design).stream()
        .filter(child -> child.getKind().equals(kind))
        .findFirst()
        .orElseThrow();
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
