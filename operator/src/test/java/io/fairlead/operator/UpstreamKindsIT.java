package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.document.ConfigMapTexts;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.RefusedLists;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Outage;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.SeenReasons;
import io.fairlead.operator.testing.TestRoles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * InferenceObjectives and InferenceModelRewrites beside pools, on an API server of its own: its
 * kinds come and go.
 */
@Makes(Reason.SUPERSEDED)
class UpstreamKindsIT {
  private static final String OLD = "inference.networking.x-k8s.io";
  private static final String NEW = "llm-d.ai";

  /** A kind that wasn't there is looked for at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private static KubeApi.Running server;

  private Installed cluster;
  private PoolFixture pool;
  private final List<OperatorUnderTest> running = new ArrayList<>();

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void start() {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("upstream"));
  }

  @AfterEach
  void stop() {
    running.forEach(OperatorUnderTest::close);
    remove(OLD);
    remove(NEW);
  }

  @Test
  void kindsThatComeAndGoAreReadWithoutARestart() {
    OperatorUnderTest operator = new OperatorUnderTest(cluster, pool, true);
    running.add(operator);
    pool.createPool();
    pool.becomeReady();
    assertThat(pool.config()).doesNotContain("objectives");

    Crds.upstream(cluster.admin(), OLD);
    objective(OLD, "batch", -5);
    rewrite(OLD, "split", "chat");
    await()
        .atMost(SEEN)
        .untilAsserted(() -> assertThat(pool.config()).contains("batch", "chat-v2"));
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    awaitCondition(OLD, "InferenceModelRewrite", "split", "Accepted", "True/Accepted");
    awaitCondition(OLD, "InferenceModelRewrite", "split", "ResolvedRefs", "True/ResolvedRefs");
    assertThat(conditions(OLD, "InferenceObjective", "batch"))
        .as("upstream's default is no condition of ours")
        .containsOnlyKeys("Accepted", "ResolvedRefs");

    pool.awaitEventsSent();
    int writes = operator.writes().size();
    int reconciled = operator.reconciled("InferencePool/pool");
    edit(OLD, "InferenceObjective", "batch", "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    operator.awaitReconciled("InferencePool/pool", reconciled + 1);
    assertThat(operator.writes()).as("quiet").hasSize(writes);

    edit(OLD, "InferenceObjective", "batch", "{\"spec\":{\"priority\":7}}");
    await().untilAsserted(() -> assertThat(pool.config()).contains("priority: 7"));
    await()
        .untilAsserted(
            () ->
                assertThat(conditions(OLD, "InferenceObjective", "batch").toString())
                    .contains("observedGeneration=2")
                    .doesNotContain("observedGeneration=1"));

    Crds.upstream(cluster.admin(), NEW);
    objective(NEW, "batch", -9);
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> assertThat(pool.config()).contains("priority: -9").doesNotContain("chat-v2"));
    awaitCondition(NEW, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "False/Superseded");
    awaitCondition(OLD, "InferenceModelRewrite", "split", "Accepted", "False/Superseded");

    remove(NEW);
    await()
        .atMost(SEEN)
        .untilAsserted(() -> assertThat(pool.config()).contains("priority: 7", "chat-v2"));
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
  }

  @Test
  void theSamplesAreCarriedOut() throws IOException {
    Crds.upstream(cluster.admin(), NEW);
    pool.createPool("sample", "sample-service");
    for (String file : List.of("inferenceobjective.yaml", "inferencemodelrewrite.yaml")) {
      pool.create(Files.readString(Path.of("../config/samples/upstream-kinds", file)));
    }
    running.add(new OperatorUnderTest(cluster, pool, true));
    awaitCondition(NEW, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    awaitCondition(NEW, "InferenceModelRewrite", "chat-latest", "Accepted", "True/Accepted");
    assertThat(pool.config("sample-epp")).contains("priority: -10", "chat-latest", "chat-v2");
  }

  @Test
  void whatCannotBeCarriedOutIsToldByField() {
    Crds.upstream(cluster.admin(), OLD);
    pool.createPool();
    pool.createModel("chat", "chat", 90);
    rewrite(OLD, "lost", "chat");
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModelRewrite
        metadata: {name: all}
        spec: {poolRef: {name: pool}, rules: [{targets: [{modelRewrite: any}]}]}
        """);
    running.add(new OperatorUnderTest(cluster, pool, true));
    awaitCondition(OLD, "InferenceModelRewrite", "lost", "Accepted", "False/ModelNameInUse");
    awaitCondition(OLD, "InferenceModelRewrite", "all", "Accepted", "False/InvalidSpec");
    assertThat(message("all"))
        .startsWith("spec.rules[0].matches is empty")
        .endsWith("name the models");
    assertThat(message("lost"))
        .contains("spec.rules[0].matches[0].model.value is \"chat\"", "InferenceModel")
        .contains(pool.namespace() + "/chat");
    pool.awaitPool("Accepted", "True/Accepted");
  }

  @Test
  void ofAPoolThatIsGivenUpOrGoneItIsTold() {
    Crds.upstream(cluster.admin(), OLD);
    running.add(
        new OperatorUnderTest(
            cluster,
            pool,
            new Settings(Adoption.LABELLED, Duration.ZERO, OperatorUnderTest.PICKER)));
    pool.createPool();
    objective(OLD, "batch", -5);
    objective(OLD, "other", 5);
    label("true");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    label("false");
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "False/PoolNotManaged");
    label("true");
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "True/ResolvedRefs");
    pool.delete(InferencePool.class, PoolFixture.POOL);
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "False/PoolNotFound");
    awaitCondition(OLD, "InferenceObjective", "other", "ResolvedRefs", "False/PoolNotFound");
  }

  @Test
  void aPoolThatIsMadeAnewWhileObjectsAreToldThatItIsGoneIsServed() {
    Crds.upstream(cluster.admin(), OLD);
    AtomicReference<OperatorUnderTest> operator = new AtomicReference<>();
    AtomicBoolean deleted = new AtomicBoolean();
    CompletableFuture<Void> anew = new CompletableFuture<>();
    operator.set(
        new OperatorUnderTest(
            cluster,
            pool,
            true,
            write -> {
              if (write.contains("/inferenceobjectives/") && deleted.compareAndSet(true, false)) {
                pool.createPool();
                operator.get().awaitHeardOf(pool.need(InferencePool.class, PoolFixture.POOL));
                anew.complete(null);
              }
            }));
    running.add(operator.get());
    pool.createPool();
    objective(OLD, "batch", -5);
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    deleted.set(true);
    pool.delete(InferencePool.class, PoolFixture.POOL);
    await().atMost(SEEN).until(anew::isDone);
    pool.awaitPool("Accepted", "True/Accepted");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
  }

  @Test
  void objectsThatDoNotCountAreToldOfAPoolThatIsGivenUpOrGone() {
    Crds.upstream(cluster.admin(), OLD);
    Crds.upstream(cluster.admin(), NEW);
    running.add(
        new OperatorUnderTest(
            cluster,
            pool,
            new Settings(Adoption.LABELLED, Duration.ZERO, OperatorUnderTest.PICKER)));
    pool.createPool();
    objective(OLD, "batch", -5);
    label("true");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "False/Superseded");
    label("false");
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "False/PoolNotManaged");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "Unknown/Pending");
    label("true");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "False/Superseded");
    pool.delete(InferencePool.class, PoolFixture.POOL);
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "False/PoolNotFound");
  }

  /** Else the two would overwrite each other's for ever. */
  @Test
  void whatOthersTellOfAnObjectStays() {
    Crds.upstream(cluster.admin(), OLD);
    // The pool is left to its Service, which may be seen after it.
    running.add(
        new OperatorUnderTest(
            cluster,
            pool,
            new Settings(Adoption.ALL, Duration.ofMinutes(10), OperatorUnderTest.PICKER)));
    objective(OLD, "theirs", -5);
    objective(OLD, "untold", 5);
    for (String name : List.of("theirs", "untold")) {
      awaitCondition(OLD, "InferenceObjective", name, "ResolvedRefs", "False/PoolNotFound");
    }
    pool.acceptedByOthers(OLD, "InferenceObjective", "theirs");
    awaitOnlyTheirs();

    pool.createServiceOfAnother();
    pool.createPool();
    awaitCondition(OLD, "InferenceObjective", "untold", "ResolvedRefs", "False/PoolNotManaged");
    awaitOnlyTheirs();
    pool.delete(InferencePool.class, PoolFixture.POOL);
    awaitCondition(OLD, "InferenceObjective", "untold", "ResolvedRefs", "False/PoolNotFound");
    awaitOnlyTheirs();
  }

  private void awaitOnlyTheirs() {
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> {
              Map<String, Map<String, Object>> told =
                  conditions(OLD, "InferenceObjective", "theirs");
              assertThat(told).containsOnlyKeys("Accepted");
              assertThat(told.get("Accepted")).containsEntry("reason", "ByOthers");
            });
  }

  @Test
  void anObjectThatMovesLeavesItsOldPoolAndIsToldOfItsNewOne() {
    Crds.upstream(cluster.admin(), OLD);
    pool.createPool();
    pool.createPool("other", "other-service");
    objective(OLD, "batch", -5);
    rewrite(OLD, "split", "chat");
    running.add(new OperatorUnderTest(cluster, pool, true));
    for (String kind : List.of("InferenceObjective", "InferenceModelRewrite")) {
      awaitCondition(OLD, kind, name(kind), "Accepted", "True/Accepted");
      move(kind, "other");
    }
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> {
              assertThat(pool.config("other-epp")).contains("batch", "chat-v2");
              assertThat(pool.config()).doesNotContain("batch", "chat-v2");
            });
    for (String kind : List.of("InferenceObjective", "InferenceModelRewrite")) {
      awaitObserved(kind, 2);
      awaitCondition(OLD, kind, name(kind), "Accepted", "True/Accepted");
      assertThat(conditions(OLD, kind, name(kind)).toString())
          .contains("InferencePool other is served by Fairlead");
      move(kind, "nowhere");
      awaitCondition(OLD, kind, name(kind), "ResolvedRefs", "False/PoolNotFound");
      awaitCondition(OLD, kind, name(kind), "Accepted", "Unknown/Pending");
      awaitObserved(kind, 3);
    }
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> assertThat(pool.config("other-epp")).doesNotContain("batch", "chat-v2"));
    pool.createPool("nowhere", "nowhere-service");
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");

    edit(
        OLD,
        "InferenceObjective",
        "batch",
        "{\"spec\":{\"poolRef\":{\"kind\":\"Service\",\"name\":\"nowhere\"}}}");
    awaitCondition(OLD, "InferenceObjective", "batch", "ResolvedRefs", "False/InvalidPoolRef");
    running.forEach(OperatorUnderTest::close);
    running.clear();
    move("InferenceModelRewrite", "gone");
    running.add(new OperatorUnderTest(cluster, pool, true));
    awaitObserved("InferenceModelRewrite", 4);
    awaitCondition(OLD, "InferenceModelRewrite", "split", "ResolvedRefs", "False/PoolNotFound");
  }

  private static String name(String kind) {
    return kind.equals("InferenceObjective") ? "batch" : "split";
  }

  private void move(String kind, String to) {
    edit(OLD, kind, name(kind), "{\"spec\":{\"poolRef\":{\"name\":\"%s\"}}}".formatted(to));
  }

  private void awaitObserved(String kind, int generation) {
    await()
        .atMost(SEEN)
        .untilAsserted(
            () ->
                assertThat(conditions(OLD, kind, name(kind)).values())
                    .isNotEmpty()
                    .allMatch(
                        condition ->
                            Objects.equals(condition.get("observedGeneration"), generation)));
  }

  @Test
  void kindsThatMayNotBeReadKeepNothingBack() {
    Crds.upstream(cluster.admin(), OLD);
    TestRoles.Taken taken = TestRoles.without(cluster, "inferenceobjectives");
    running.add(new OperatorUnderTest(cluster, pool, true));
    pool.createPool();
    objective(OLD, "batch", -5);
    pool.awaitPool("Accepted", "True/Accepted");
    assertThat(pool.config()).doesNotContain("batch");
    pool.awaitPool("UpstreamKindsRead", "False/PermissionDenied");
    // Each is believed for itself.
    await()
        .atMost(SEEN)
        .untilAsserted(
            () ->
                assertThat(pool.poolMessage("UpstreamKindsRead"))
                    .contains("InferenceObjective of " + OLD, "InferenceObjective of " + NEW)
                    .contains("grant"));

    taken.giveBack();
    await().atMost(SEEN).untilAsserted(() -> assertThat(pool.config()).contains("batch"));
    awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> assertThat(pool.poolConditions()).doesNotContainKey("UpstreamKindsRead"));
  }

  /** An API server that starts answers so for a moment of kinds that are there. */
  @Test
  void oneAnswerThatAKindIsNotThereTakesNothingOutOfForce() {
    Crds.upstream(cluster.admin(), OLD);
    pool.createPool();
    objective(OLD, "batch", -5);
    RefusedLists lists = new RefusedLists(OLD, "inferenceobjectives");
    List<String> configs = new CopyOnWriteArrayList<>();
    try (Outage way = new Outage(cluster.admin().getConfiguration());
        KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(way.through(cluster.account(Installed.NAMESPACE, "fairlead-operator")))
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("lists", lists))
                .build();
        Watch _ =
            cluster
                .admin()
                .configMaps()
                .inNamespace(pool.namespace())
                .withName(PoolFixture.PICKER)
                .watch(new Configs(configs))) {
      running.add(
          new OperatorUnderTest(
              cluster, pool, OperatorUnderTest.settings(true), InstantSource.system(), client));
      awaitCondition(OLD, "InferenceObjective", "batch", "Accepted", "True/Accepted");
      await().until(() -> !configs.isEmpty() && configs.getLast().contains("batch"));
      configs.clear();
      lists.refuse(1);
      way.begin();
      way.end();
      await().atMost(SEEN).until(() -> lists.refused() == 1);
      edit(OLD, "InferenceObjective", "batch", "{\"spec\":{\"priority\":7}}");
      await()
          .atMost(SEEN)
          .untilAsserted(() -> assertThat(configs).last().asString().contains("priority: 7"));
      assertThat(configs).allMatch(config -> config.contains("batch"));
      running.removeLast().close();
    }
  }

  private record Configs(List<String> seen) implements Watcher<ConfigMap> {
    @Override
    public void eventReceived(Action action, ConfigMap map) {
      try {
        seen.add(String.valueOf(ConfigMapTexts.read(map, "config.yaml")));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void onClose(WatcherException cause) {}
  }

  private void remove(String group) {
    List<CustomResourceDefinition> crds =
        cluster.admin().apiextensions().v1().customResourceDefinitions().list().getItems();
    crds.stream()
        .filter(crd -> crd.getSpec().getGroup().equals(group))
        .filter(
            crd ->
                List.of("InferenceObjective", "InferenceModelRewrite")
                    .contains(crd.getSpec().getNames().getKind()))
        .forEach(crd -> cluster.admin().resource(crd).delete());
    await()
        .atMost(SEEN)
        .until(
            () ->
                crds.stream()
                    .filter(crd -> crd.getSpec().getGroup().equals(group))
                    .filter(
                        crd ->
                            crd.getMetadata().getName().startsWith("inferenceobjectives")
                                || crd.getMetadata().getName().startsWith("inferencemodelrewrites"))
                    .allMatch(crd -> cluster.admin().resource(crd).get() == null));
  }

  private void label(String adopt) {
    cluster
        .admin()
        .resource(pool.need(InferencePool.class, PoolFixture.POOL))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(Adoption.LABEL, adopt));
  }

  private void objective(String group, String name, int priority) {
    pool.create(
        """
        apiVersion: %s/v1alpha2
        kind: InferenceObjective
        metadata: {name: %s}
        spec: {priority: %d, poolRef: {name: pool}}
        """
            .formatted(group, name, priority));
  }

  private void rewrite(String group, String name, String model) {
    pool.create(
        """
        apiVersion: %s/v1alpha2
        kind: InferenceModelRewrite
        metadata: {name: %s}
        spec:
          poolRef: {name: pool}
          rules:
            - matches: [{model: {value: %s}}]
              targets: [{modelRewrite: chat-v1, weight: 9}, {modelRewrite: chat-v2, weight: 1}]
        """
            .formatted(group, name, model));
  }

  private void edit(String group, String kind, String name, String patch) {
    cluster
        .admin()
        .resource(object(group, kind, name))
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private GenericKubernetesResource object(String group, String kind, String name) {
    return cluster
        .admin()
        .genericKubernetesResources(group + "/v1alpha2", kind)
        .inNamespace(pool.namespace())
        .withName(name)
        .require();
  }

  /** By type. */
  private Map<String, Map<String, Object>> conditions(String group, String kind, String name) {
    List<Map<String, Object>> list = object(group, kind, name).get("status", "conditions");
    return list == null
        ? Map.of()
        : list.stream()
            .collect(
                Collectors.toMap(
                    condition -> String.valueOf(condition.get("type")), condition -> condition));
  }

  private String message(String rewrite) {
    Map<String, Object> accepted =
        conditions(OLD, "InferenceModelRewrite", rewrite).getOrDefault("Accepted", Map.of());
    return String.valueOf(accepted.get("message"));
  }

  private void awaitCondition(
      String group, String kind, String name, String type, String expected) {
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> {
              Map<String, Object> condition = conditions(group, kind, name).get(type);
              assertThat(condition).as(type).isNotNull();
              SeenReasons.add(String.valueOf(condition.get("reason")));
              assertThat(condition.get("status") + "/" + condition.get("reason"))
                  .isEqualTo(expected);
            });
  }
}
