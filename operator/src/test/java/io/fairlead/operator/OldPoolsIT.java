package io.fairlead.operator;

import static io.fairlead.operator.testing.PoolFixture.PICKER;
import static io.fairlead.operator.testing.PoolFixture.POOL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apiextensions.v1.CustomResourceDefinition;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.RefusedLists;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1.ParentStatus;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.observe.Adoption;
import io.fairlead.operator.observe.OldPools;
import io.fairlead.operator.reconcile.Settings;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Outage;
import io.fairlead.operator.testing.PoolFixture;
import io.javaoperatorsdk.operator.Operator;
import io.javaoperatorsdk.operator.api.config.ConfigurationServiceOverrider;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import io.javaoperatorsdk.operator.api.reconciler.Reconciler;
import io.javaoperatorsdk.operator.api.reconciler.UpdateControl;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pools of the group that the kind was in before it was settled, on a real API server. */
@Makes(Reason.SUPERSEDED)
class OldPoolsIT {
  private static final String CRD = "inferencepools." + OldInferencePool.GROUP;

  /** A kind that wasn't there is looked for at growing intervals. */
  private static final Duration SEEN = Duration.ofSeconds(90);

  private static KubeApi.Running server;

  private final List<OperatorUnderTest> running = new ArrayList<>();
  private Installed cluster;
  private PoolFixture pool;

  @BeforeAll
  static void startServer() {
    server = KubeApi.Running.start();
  }

  @AfterAll
  static void stopServer() {
    server.close();
  }

  @BeforeEach
  void prepare() {
    cluster = Installed.on(server);
    pool = new PoolFixture(cluster.admin(), cluster.namespace("old"));
  }

  @AfterEach
  void stop() {
    running.forEach(OperatorUnderTest::close);
    removeKind();
  }

  /** Nothing tells a second time that the kind is there. */
  @Test
  void theControllerOfTheOlderGroupIsTriedAgainUntilItRuns() {
    haveKind();
    AtomicInteger tried = new AtomicInteger();
    Controllers controllers =
        new Controllers(
            this::configure,
            new OldPools(cluster.admin(), Set.of(pool.namespace())),
            () -> {
              return switch (tried.incrementAndGet()) {
                case 1 -> throw new IllegalStateException("not yet");
                case 2 -> new Stubborn();
                default -> idle(new Operator(this::configure));
              };
            },
            Duration.ofMillis(10));
    idle(controllers).start();
    try {
      await().atMost(SEEN).until(() -> controllers.running().count() == 2);
    } finally {
      controllers.stop();
    }
  }

  private void configure(ConfigurationServiceOverrider config) {
    config.withKubernetesClient(cluster.admin()).withCloseClientOnStop(false);
  }

  private <O extends Operator> O idle(O operator) {
    operator.register(new Idle(), config -> config.settingNamespace(pool.namespace()));
    return operator;
  }

  /** What could not be started may not be there to be stopped. */
  private static final class Stubborn extends Operator {
    @Override
    public synchronized void start() {
      throw new IllegalStateException("not started");
    }

    @Override
    public synchronized void stop() {
      throw new IllegalStateException("not stopped");
    }
  }

  /** The framework starts no operator without a controller. */
  private static final class Idle implements Reconciler<ConfigMap> {
    @Override
    public UpdateControl<ConfigMap> reconcile(ConfigMap map, Context<ConfigMap> context) {
      return UpdateControl.noUpdate();
    }
  }

  @Test
  void isServedAsOneOfV1IsAndToldInItsOwnStatus() {
    haveKind();
    OperatorUnderTest operator = start(OperatorUnderTest.settings(true));
    createOld("{app: vllm}", "{name: picker-service}");
    pool.createPicker("mine", "{name: pool}");
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferenceModel
        metadata: {name: chat}
        spec: {modelName: chat, criticality: Critical, poolRef: {name: pool}}
        """);
    awaitOld("Ready", "False/RolloutInProgress");
    assertThat(owner(Deployment.class, PICKER).getApiVersion())
        .isEqualTo("inference.networking.x-k8s.io/v1alpha2");
    assertThat(pool.need(Service.class, "picker-service").getSpec().getPorts())
        .singleElement()
        .satisfies(port -> assertThat(port.getPort()).as("where none is named").isEqualTo(9002));
    eventually(
        () -> assertThat(pool.config()).contains("app: \"vllm\"", "- 8000", "name: \"chat\""));

    pool.awaitPickerCarriedOut();
    pool.becomeAvailable();
    eventually(
        () -> {
          pool.reportCurrent();
          assertThat(oldConditions()).containsEntry("Ready", "True/Ready");
        });
    pool.awaitPicker("mine", "Ready", "True/Ready");
    pool.awaitModel("chat", "Ready", "True/Ready");
    assertThat(pool.modelMessage("chat", "ResolvedRefs"))
        .isEqualTo("InferencePool pool of inference.networking.x-k8s.io serves the model.");
    assertThat(kindsOfParents())
        .as("what stood for no parent has given way")
        .containsExactly("EndpointPicker");

    addGateway();
    edit("{\"spec\":{\"targetPortNumber\":8001}}");
    eventually(() -> assertThat(pool.config()).contains("- 8001"));
    eventually(
        () ->
            assertThat(parents().getLast().conditions())
                .allSatisfy(
                    condition ->
                        assertThat(condition.getObservedGeneration())
                            .isEqualTo(old().getMetadata().getGeneration())));
    assertThat(kindsOfParents()).containsExactlyInAnyOrder("Gateway", "EndpointPicker");

    // The picker's status is the last thing that a reconcile writes.
    pool.awaitPicker("mine", "Programmed", "Unknown/Pending");
    pool.awaitEventsSent();
    int writes = operator.writes().size();
    int reconciled = operator.reconciled("InferencePool/pool");
    edit("{\"metadata\":{\"labels\":{\"x\":\"y\"}}}");
    operator.awaitReconciled("InferencePool/pool", reconciled + 1);
    assertThat(operator.writes()).as("quiet").hasSize(writes);
  }

  /** Controllers that read this group make the Service of the picker that they run the pool's. */
  @Test
  void whatAnotherControllerMadeForItIsLeftAlone() {
    haveKind();
    createOld("{app: vllm}", "{name: picker-service}");
    Service theirs = pool.createServiceOfAnotherController("picker-service", old());
    OperatorUnderTest operator = start(OperatorUnderTest.settings(false));
    pool.createPicker("mine", "{group: inference.networking.x-k8s.io, name: pool}");
    awaitOld("ResolvedRefs", "False/InvalidExtensionRef");
    int reconciled = operator.reconciled("InferencePool/pool");
    pool.delete(EndpointPicker.class, "mine");
    await().until(() -> oldConditions().isEmpty());
    operator.awaitReconciled("InferencePool/pool", reconciled + 1);
    assertThat(operator.writes())
        .filteredOn(write -> write.resource().equals("services"))
        .isEmpty();
    assertThat(pool.need(Service.class, "picker-service")).isEqualTo(theirs);
  }

  @Test
  void theKindMayComeLaterAndItsPoolsMayGo() {
    start(OperatorUnderTest.settings(true));
    pool.createPicker("mine", "{group: inference.networking.x-k8s.io, name: pool}");
    pool.createModel("chat", "chat", 90);
    pool.awaitPicker("mine", "Ready", "Unknown/Pending");
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotFound");
    haveKind();
    createOld("{app: vllm}", "{name: picker-service, portNumber: 9005}");
    await()
        .atMost(SEEN)
        .untilAsserted(
            () ->
                assertThat(pool.pickerConditions("mine"))
                    .containsEntry("Accepted", "True/Accepted"));
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    assertThat(pool.modelMessage("chat", "ResolvedRefs"))
        .endsWith("set poolRef.group to inference.networking.x-k8s.io to name it exactly.");

    pool.delete(OldInferencePool.class, POOL);
    pool.awaitModel("chat", "ResolvedRefs", "False/PoolNotFound");
    pool.awaitPicker("mine", "Ready", "Unknown/Pending");
  }

  @Test
  void theKindMayGoAndComeAgain() {
    haveKind();
    start(OperatorUnderTest.settings(true));
    pool.createModel("chat", "chat", 90);
    createOld("{app: vllm}", "{name: picker-service}");
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    removeKind();
    await()
        .atMost(SEEN)
        .untilAsserted(
            () ->
                assertThat(pool.modelConditions("chat"))
                    .containsEntry("ResolvedRefs", "False/PoolNotFound"));
    deleteChildren();
    haveKind();
    createOld("{app: vllm}", "{name: picker-service}");
    await()
        .atMost(SEEN)
        .untilAsserted(
            () -> assertThat(oldConditions()).containsEntry("Accepted", "True/Accepted"));
    pool.awaitModel("chat", "Accepted", "True/Accepted");
  }

  @Test
  void onesOfV1TakesOverWhatTheOlderOfItsNameHas() {
    haveKind();
    start(OperatorUnderTest.settings(true));
    createOld("{app: vllm}", "{name: picker-service}");
    awaitOld("Ready", "False/RolloutInProgress");
    pool.createModel("chat", "chat", 90);
    pool.awaitModel("chat", "Accepted", "True/Accepted");
    Map<String, String> before = children();

    pool.createPool();
    pool.awaitPool("Accepted", "True/Accepted");
    awaitOld("Accepted", "False/Superseded");
    assertThat(oldConditions()).containsOnlyKeys("Accepted", "Ready");
    assertThat(message("Accepted"))
        .contains("InferencePool pool of inference.networking.k8s.io has the name, too");
    eventually(
        () ->
            assertThat(pool.modelMessage("chat", "ResolvedRefs"))
                .startsWith("InferencePool pool of inference.networking.k8s.io serves"));
    assertThat(children()).as("the same objects, and no other pods").isEqualTo(before);
    String uid = pool.need(InferencePool.class, POOL).getMetadata().getUid();
    assertThat(owners()).hasSize(5).allSatisfy(owner -> assertThat(owner.getUid()).isEqualTo(uid));

    pool.delete(InferencePool.class, POOL);
    deleteChildren();
    awaitOld("Accepted", "True/Accepted");
    eventually(
        () ->
            assertThat(owner(Deployment.class, PICKER).getUid())
                .isEqualTo(old().getMetadata().getUid()));
    pool.awaitModel("chat", "Accepted", "True/Accepted");
  }

  /** A gateway that goes by the older pool finds the picker by the Service that this one names. */
  @Test
  void onesOfV1WithAServiceOfItsOwnLeavesTheOlderItsService() {
    haveKind();
    start(OperatorUnderTest.settings(true));
    createOld("{app: vllm}", "{name: picker-service}");
    awaitOld("Ready", "False/RolloutInProgress");
    String uid = pool.need(Service.class, "picker-service").getMetadata().getUid();
    pool.createPool(POOL, "another-service");
    await().until(() -> pool.get(Service.class, "another-service") != null);
    leadsSomewhere("another-service");
    pool.becomeReady();
    pool.delete(ConfigMap.class, PICKER);
    await().until(() -> pool.get(ConfigMap.class, PICKER) != null);
    pool.reportCurrent();
    pool.awaitPool("Ready", "True/Ready");
    Service left = pool.need(Service.class, "picker-service");
    assertThat(left.getMetadata().getUid()).isEqualTo(uid);
    assertThat(left.getMetadata().getDeletionTimestamp()).isNull();
    assertThat(left.getSpec().getSelector())
        .as("the same pods")
        .isEqualTo(pool.need(Service.class, "another-service").getSpec().getSelector());
  }

  /** All who tell of a model have to go by the same pools, or each undoes what the others wrote. */
  @Test
  void aKindThatMayBeReadNoMoreIsGoneForAllAlike() {
    haveKind();
    RefusedLists lists = new RefusedLists(OldInferencePool.GROUP, "inferencepools");
    try (Outage way = new Outage(cluster.admin().getConfiguration());
        KubernetesClient client =
            new KubernetesClientBuilder()
                .withConfig(way.through(cluster.account(Installed.NAMESPACE, "fairlead-operator")))
                .withHttpClientBuilderConsumer(http -> http.addOrReplaceInterceptor("lists", lists))
                .build()) {
      OperatorUnderTest operator =
          new OperatorUnderTest(
              cluster, pool, OperatorUnderTest.settings(true), InstantSource.system(), client);
      running.add(operator);
      pool.createModel("chat", "chat", 90);
      createOld("{app: vllm}", "{name: picker-service}");
      pool.awaitModel("chat", "Accepted", "True/Accepted");
      lists.refuse(Integer.MAX_VALUE);
      way.begin();
      way.end();
      AtomicInteger touched = new AtomicInteger();
      await()
          .atMost(SEEN)
          .untilAsserted(
              () -> {
                pool.touchAll(touched.incrementAndGet());
                assertThat(pool.modelConditions("chat"))
                    .containsEntry("ResolvedRefs", "False/PoolNotFound");
              });

      AuditLog.Mark found = operator.mark();
      int pools = operator.reconciled("InferencePool/pool");
      pool.touchAll(touched.incrementAndGet());
      operator.awaitReconciled("InferencePool/pool", pools + 1);
      // Models without a pool are looked at one after the other: this one has been by then.
      pool.createModel("after", "after", 90, "nowhere");
      pool.awaitModel("after", "ResolvedRefs", "False/PoolNotFound");
      assertThat(operator.requests(found))
          .filteredOn(AuditLog.Request::writes)
          .noneMatch(request -> request.name().equals("chat"));
      assertThat(pool.modelConditions("chat")).containsEntry("ResolvedRefs", "False/PoolNotFound");
      running.removeLast().close();
    }
  }

  @Test
  void whatIsServedByOthersIsNotTouched() {
    haveKind();
    // Before the operator, which may see a Service that comes later after the pool that names it.
    pool.createServiceOfAnother();
    OperatorUnderTest operator = start(OperatorUnderTest.settings(true));
    createOld("{app: vllm}", "{name: picker-service}");
    operator.awaitReconciled("InferencePool/pool", 1);
    pool.createPool();
    operator.awaitReconciled("InferencePool/pool", 3);
    assertThat(operator.writes()).isEmpty();
    assertThat(kindsOfParents()).containsExactly("Status");
  }

  /** Whose pool of v1 is others' may still have requests go to the older one. */
  @Test
  void onesOfV1ThatIsNotOursLeavesTheOlderAsItIs() {
    haveKind();
    // Before the operator, which may see a Service that comes later after the pool that names it.
    pool.create(
        """
        apiVersion: v1
        kind: Service
        metadata: {name: theirs}
        spec: {ports: [{port: 9002}]}
        """);
    OperatorUnderTest operator = start(OperatorUnderTest.settings(true));
    createOld("{app: vllm}", "{name: picker-service}");
    awaitOld("Ready", "False/RolloutInProgress");
    Map<String, String> before = children();
    pool.createPool(POOL, "theirs");
    awaitOld("Accepted", "False/Superseded");
    operator.awaitReconciled("InferencePool/pool", 2);
    assertThat(children()).isEqualTo(before);
    assertThat(pool.poolConditions()).isEmpty();
  }

  @Test
  void givenUpItHasWhatStandsForNoParentAgain() {
    haveKind();
    start(new Settings(Adoption.LABELLED, Duration.ZERO, OperatorUnderTest.PICKER));
    createOld("{app: vllm}", "{name: picker-service}");
    label("true");
    awaitOld("Ready", "False/RolloutInProgress");
    label("false");
    eventually(() -> assertThat(kindsOfParents()).containsExactly("Status"));
    eventually(() -> assertThat(pool.get(Deployment.class, PICKER)).isNull());
  }

  @Test
  void whatIsWrongIsNamedAsItIsCalledThere() {
    haveKind();
    start(OperatorUnderTest.settings(true));
    createOld("{}", "{name: picker-service}");
    awaitOld("Accepted", "False/InvalidSpec");
    assertThat(message("Accepted")).contains("spec.selector is empty;");
    edit("{\"spec\":{\"selector\":{\"app\":\"vllm\"},\"extensionRef\":{\"name\":\"Bad Name!\"}}}");
    awaitOld("ResolvedRefs", "False/InvalidExtensionRef");
    assertThat(message("ResolvedRefs")).startsWith("spec.extensionRef.name \"Bad Name!\"");
  }

  private OperatorUnderTest start(Settings settings) {
    OperatorUnderTest started = new OperatorUnderTest(cluster, pool, settings);
    running.add(started);
    return started;
  }

  private void haveKind() {
    Crds.oldPools(cluster.admin());
    await().until(() -> cluster.admin().supports(OldInferencePool.class));
  }

  private void removeKind() {
    var crds = cluster.admin().resources(CustomResourceDefinition.class);
    crds.withName(CRD).delete();
    await().atMost(Duration.ofSeconds(30)).until(() -> crds.withName(CRD).get() == null);
  }

  private void createOld(String selector, String extensionRef) {
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferencePool
        metadata: {name: pool}
        spec: {selector: %s, targetPortNumber: 8000, extensionRef: %s}
        """
            .formatted(selector, extensionRef));
  }

  private void edit(String patch) {
    cluster.admin().resource(old()).patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  private void label(String adopt) {
    edit("{\"metadata\":{\"labels\":{\"%s\":\"%s\"}}}".formatted(Adoption.LABEL, adopt));
  }

  private void addGateway() {
    cluster
        .admin()
        .resource(old())
        .subresource("status")
        .patch(
            PatchContext.of(PatchType.JSON),
            """
            [{"op": "add", "path": "/status/parent/0", "value": {"parentRef": {"kind": "Gateway", "name": "gw"}}}]
            """);
  }

  private OldInferencePool old() {
    return pool.need(OldInferencePool.class, POOL);
  }

  private List<ParentStatus> parents() {
    return Objects.requireNonNull(old().getStatus()).parents();
  }

  private List<String> kindsOfParents() {
    return parents().stream()
        .map(parent -> Objects.requireNonNull(parent.parentRef()).kind())
        .map(String::valueOf)
        .toList();
  }

  private Map<String, String> oldConditions() {
    return parents().stream()
        .filter(parent -> ParentStatus.FAIRLEAD.equals(parent.controllerName()))
        .findFirst()
        .map(parent -> PoolFixture.brief(parent.conditions()))
        .orElse(Map.of());
  }

  private String message(String type) {
    return parents().stream()
        .flatMap(parent -> parent.conditions().stream())
        .filter(condition -> condition.getType().equals(type))
        .map(condition -> condition.getMessage())
        .collect(Collectors.joining());
  }

  private void awaitOld(String type, String expected) {
    eventually(() -> assertThat(oldConditions()).containsEntry(type, expected));
  }

  private static void eventually(ThrowingRunnable holds) {
    await().atMost(Duration.ofSeconds(30)).untilAsserted(holds);
  }

  private List<HasMetadata> all() {
    return List.of(
        pool.need(ServiceAccount.class, PICKER),
        pool.need(RoleBinding.class, PICKER),
        pool.need(ConfigMap.class, PICKER),
        pool.need(Service.class, "picker-service"),
        pool.need(Deployment.class, PICKER));
  }

  /** Each object of the picker's with what shows that it is another, or has other pods. */
  private Map<String, String> children() {
    return all().stream()
        .collect(
            Collectors.toMap(
                HasMetadata::getKind,
                child ->
                    child.getMetadata().getUid()
                        + (child instanceof Deployment deployment
                            ? deployment.getSpec().getTemplate().toString()
                            : "")));
  }

  private List<OwnerReference> owners() {
    return all().stream()
        .flatMap(child -> child.getMetadata().getOwnerReferences().stream())
        .toList();
  }

  private OwnerReference owner(Class<? extends HasMetadata> kind, String name) {
    return pool.need(kind, name).getMetadata().getOwnerReferences().getFirst();
  }

  /** What the controller of EndpointSlices tells once a ready pod is behind a Service. */
  private void leadsSomewhere(String service) {
    pool.create(
        """
        apiVersion: discovery.k8s.io/v1
        kind: EndpointSlice
        metadata: {name: %s-1, labels: {kubernetes.io/service-name: %s}}
        addressType: IPv4
        endpoints: [{addresses: [10.1.2.3], conditions: {ready: true}}]
        ports: [{port: 9002}]
        """
            .formatted(service, service));
  }

  /** What the garbage collector does. */
  private void deleteChildren() {
    all().forEach(child -> cluster.admin().resource(child).delete());
  }
}
