package io.fairlead.epp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.Watch;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.WatcherException;
import io.fabric8.kubernetes.client.http.BasicBuilder;
import io.fabric8.kubernetes.client.http.HttpRequest;
import io.fabric8.kubernetes.client.http.Interceptor;
import io.fabric8.kubernetes.client.http.Interceptor.RequestTags;
import io.fairlead.crds.config.Criticality;
import io.fairlead.crds.config.ModelConfig;
import io.fairlead.crds.config.PoolConfig;
import io.fairlead.crds.config.SchedulerConfig;
import io.fairlead.crds.config.TargetModel;
import io.fairlead.crds.document.ConfigDocument;
import io.fairlead.crds.report.PickerReport;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.epp.checkpoint.CheckpointedConfig;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A data plane fed by a real API server, with no more rights than a picker is given. */
@ExtendWith(KubeApi.class)
class KubernetesIT {

  private static final String CONFIG = PickerNamespace.PICKER;
  private static final String PICKER_POD = "pool-epp-0";

  private final PickerNamespace own;
  private final KubernetesClient admin;
  private final String namespace;

  KubernetesIT(KubeApi.Running api) throws Exception {
    own = new PickerNamespace(api, "epp");
    admin = own.admin();
    namespace = own.name();
  }

  @BeforeEach
  void waitAsLongAsAnApiServerMayTake() {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }

  @Test
  void appliesTheConfigMapAndItsChangesAndKeepsTheLastGoodOne() {
    try (DataPlane dataPlane = start()) {
      await().until(() -> dataPlane.report().refused() != null);
      assertThat(Objects.requireNonNull(dataPlane.report().refused()).message())
          .contains("ConfigMap " + namespace + "/" + CONFIG, "does not exist");
      assertThat(dataPlane.notReady()).startsWith("no config in force: ConfigMap");

      PoolConfig first = config(1, 8000);
      put(ConfigDocument.write(first));
      await().until(() -> ConfigDocument.hash(first).equals(dataPlane.report().configHash()));
      awaitLease(report -> report.refused() == null && report.configHash() != null);

      PoolConfig second = config(2, 8000);
      put(ConfigDocument.write(second));
      PickerReport running =
          awaitLease(report -> ConfigDocument.hash(second).equals(report.configHash()));
      assertThat(running.generation()).isEqualTo(2);
      assertThat(running.pool()).isEqualTo(namespace + "/pool");

      put(ConfigDocument.write(second).replace("Critical", "Urgent"));
      PickerReport refused = awaitLease(report -> report.refused() != null);
      assertThat(refused.configHash()).isEqualTo(ConfigDocument.hash(second));
      assertThat(Objects.requireNonNull(refused.refused()).message())
          .contains("ConfigMap " + namespace + "/" + CONFIG)
          .contains("models[0].criticality")
          .contains("Urgent");
      assertThat(refused.refused().hash()).as("nobody said which it is").isNull();

      admin.configMaps().inNamespace(namespace).withName(CONFIG).delete();
      PickerReport gone = awaitLease(report -> message(report).contains("does not exist"));
      assertThat(gone.configHash()).isEqualTo(ConfigDocument.hash(second));

      put(ConfigDocument.write(second));
      awaitLease(report -> report.refused() == null);
    }
  }

  /** Counters of a process that has just begun say nothing: it is refused once, and that is all. */
  @Test
  void aPickerThatStartsWithTheLastGoodConfigShowsAllTheWhileThatTheNewestIsRefused()
      throws Exception {
    PoolConfig good = config(1, 8000);
    String text = ConfigDocument.write(good);
    admin
        .resource(
            new ConfigMapBuilder()
                .withNewMetadata()
                .withName(CONFIG)
                .withNamespace(namespace)
                .endMetadata()
                .addToData("config.yaml", text.replace("Critical", "Urgent"))
                .addToData("last-good.yaml", text)
                .build())
        .serverSideApply();
    try (DataPlane dataPlane =
            DataPlane.start(
                builder("0f0f0f0f-0000-0000-0000-000000000000", own::client)
                    .gateway("127.0.0.1", 0)
                    .admin("127.0.0.1", 0)
                    .build());
        HttpClient http = HttpClient.newHttpClient()) {
      await().until(() -> ConfigDocument.hash(good).equals(dataPlane.report().configHash()));
      assertThat(metrics(http, dataPlane)).containsPattern("(?m)^fairlead_config_refused 1");
      put(text);
      await().until(() -> dataPlane.report().refused() == null);
      // Told after the report is there.
      await()
          .untilAsserted(
              () ->
                  assertThat(metrics(http, dataPlane))
                      .containsPattern("(?m)^fairlead_config_refused 0"));
    }
  }

  private static String metrics(HttpClient http, DataPlane dataPlane) throws Exception {
    URI page = URI.create("http://127.0.0.1:" + dataPlane.adminPort().orElseThrow() + "/metrics");
    return http.send(
            java.net.http.HttpRequest.newBuilder(page).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void followsThePodsOfThePool() {
    pod("a", Map.of("app", "vllm"), true);
    pod("unready", Map.of("app", "vllm"), false);
    pod("other", Map.of("app", "web"), true);
    put(ConfigDocument.write(config(1, 8000)));
    try (DataPlane dataPlane = start()) {
      awaitEndpoints(dataPlane, "a-rank-0");
      // Told after the pool has them.
      await().until(() -> dataPlane.report().endpoints().matching() == 2);

      ready("unready", true, 0);
      awaitEndpoints(dataPlane, "a-rank-0", "unready-rank-0");
      ready("unready", false, 0);
      awaitEndpoints(dataPlane, "a-rank-0");

      label("other", "vllm");
      awaitEndpoints(dataPlane, "a-rank-0", "other-rank-0");
      label("a", "web");
      awaitEndpoints(dataPlane, "other-rank-0");
      label("a", "vllm");
      awaitEndpoints(dataPlane, "a-rank-0", "other-rank-0");

      admin.pods().inNamespace(namespace).withName("other").delete();
      awaitEndpoints(dataPlane, "a-rank-0");
      assertThat(admin.pods().inNamespace(namespace).withName("other").get().getMetadata())
          .as("still there, on its way out")
          .extracting("deletionTimestamp")
          .isNotNull();

      put(ConfigDocument.write(config(1, 8000, 8001)));
      awaitEndpoints(dataPlane, "a-rank-0", "a-rank-1");

      ready("a", false, 0);
      awaitEndpoints(dataPlane);
      await().until(() -> "NoReadyPods".equals(dataPlane.report().endpoints().reason()));
      label("a", "web");
      label("unready", "web");
      label("other", "web");
      await().until(() -> "NoMatchingPods".equals(dataPlane.report().endpoints().reason()));
    }
  }

  @Test
  void aRestartedEngineStartsFromNothing() throws Exception {
    pod("a", Map.of("app", "vllm"), true);
    put(ConfigDocument.write(config(1, 1)));
    try (DataPlane dataPlane = start()) {
      awaitEndpoints(dataPlane, "a-rank-0");
      try (Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
        traffic.next(1); // nothing listens there, but it was sent
      }
      assertThat(sent(dataPlane)).isPositive();

      ready("a", true, 1);

      await().until(() -> sent(dataPlane) == 0);
      awaitEndpoints(dataPlane, "a-rank-0");
    }
  }

  @Test
  void writesItsLeaseWhenSomethingChangedAndNotOtherwise() {
    put(ConfigDocument.write(config(1, 1)));
    pod("a", Map.of("app", "vllm"), true);
    Pod picker = pod(PICKER_POD, Map.of("app", "picker"), true);
    try (DataPlane _ = start(picker.getMetadata().getUid())) {
      // Nobody listens on that port, and who it is: the last thing that there is to say about it.
      PickerReport before =
          awaitLease(
              report ->
                  "PortNotServed".equals(report.endpoints().reason())
                      && report.endpoints().outCount() == 1);
      Lease lease = Objects.requireNonNull(lease());
      assertThat(lease.getMetadata().getLabels()).containsEntry(PickerReport.PICKER_LABEL, "pool");
      assertThat(lease.getMetadata().getOwnerReferences())
          .singleElement()
          .satisfies(
              owner -> {
                assertThat(owner.getKind()).isEqualTo("Pod");
                assertThat(owner.getName()).isEqualTo(PICKER_POD);
                assertThat(owner.getUid()).isEqualTo(picker.getMetadata().getUid());
              });

      Queue<String> writes = new ConcurrentLinkedQueue<>();
      try (Watch _ = watchLease(lease.getMetadata().getResourceVersion(), writes)) {
        // Seen by both informers, but says nothing new.
        admin
            .configMaps()
            .inNamespace(namespace)
            .withName(CONFIG)
            .edit(map -> annotated(map, "note", "1"));
        annotate("a", "note", "1");
        put(ConfigDocument.write(config(1, 1)) + "\n# a comment changes nothing\n");
        put(ConfigDocument.write(config(2, 1)));

        PickerReport after =
            awaitLease(report -> !Objects.equals(report.configHash(), before.configHash()));
        assertThat(after.configHash()).isEqualTo(ConfigDocument.hash(config(2, 1)));
        await().until(() -> !writes.isEmpty());
        assertThat(writes).containsExactly(after.toJson());
      }
    }
  }

  @Test
  void startsWhileTheApiServerCannotBeReached() throws Exception {
    put(ConfigDocument.write(config(1, 8000)));
    pod("a", Map.of("app", "vllm"), true);
    Config reachable = own.access();
    URI real = URI.create(reachable.getMasterUrl());
    try (Relay relay = new Relay(real.getHost(), real.getPort())) {
      Config behind = own.access();
      behind.setMasterUrl("https://127.0.0.1:" + relay.port() + "/");
      try (DataPlane dataPlane =
          DataPlane.start(
              builder("uid", () -> new KubernetesClientBuilder().withConfig(behind).build())
                  .build())) {
        await().until(() -> relay.refused() > 1);
        assertThat(dataPlane.notReady()).isEqualTo("no config yet");

        relay.open();

        dataPlane.ready().get(60, TimeUnit.SECONDS);
        awaitEndpoints(dataPlane, "a-rank-0");
        awaitLease(report -> report.endpoints().ready() == 1);
      }
    }
  }

  /** The container has died, its pod and the model servers live on, and the API server is away. */
  @Test
  void restartsFromItsCheckpointWhileTheApiServerIsAway(@TempDir Path disk) throws Exception {
    PoolConfig first = config(1, 1);
    put(ConfigDocument.write(first));
    pod("a", Map.of("app", "vllm"), true);
    pod("unready", Map.of("app", "vllm"), false);
    URI real = URI.create(own.access().getMasterUrl());
    try (Relay relay = new Relay(real.getHost(), real.getPort())) {
      relay.open();
      try (DataPlane dataPlane = startBehind(relay, disk)) {
        awaitEndpoints(dataPlane, "a-rank-0");
        assertThat(page(dataPlane, "/debug/status")).doesNotContain("fromCheckpoint");
        // At its end it writes what it has not yet, but waits no longer than for two seconds.
        await().until(() -> Files.exists(disk.resolve("checkpoint.json")));
      }
      relay.shut();

      try (DataPlane dataPlane = startBehind(relay, disk)) {
        dataPlane.ready().get(30, TimeUnit.SECONDS);
        assertThat(dataPlane.report().configHash()).isEqualTo(ConfigDocument.hash(first));
        assertThat(dataPlane.report().endpoints().matching()).isEqualTo(2);
        awaitEndpoints(dataPlane, "a-rank-0");
        assertThat(page(dataPlane, "/debug/status"))
            .containsPattern("\"fromCheckpoint\":\\{\"savedAt\":\"20.*Z\"")
            .contains("\"config\":true,\"endpoints\":true}");
        assertThat(page(dataPlane, "/metrics"))
            .contains("fairlead_checkpoint_in_use{part=\"config\"} 1.0")
            .contains("fairlead_checkpoint_in_use{part=\"endpoints\"} 1.0");
        try (Traffic traffic = new Traffic(dataPlane.gatewayPort().orElseThrow(), 1)) {
          traffic.next(1); // nothing listens there, but it was sent
        }
        assertThat(sent(dataPlane)).isPositive();
        String id =
            page(dataPlane, "/debug/decisions").replaceAll("(?s).*?\"id\":\"([^\"]+)\".*", "$1");
        assertThat(page(dataPlane, "/debug/decisions/" + id))
            .contains("\"fromCheckpoint\":{\"config\":true,\"endpoints\":true}");

        PoolConfig second = config(2, 1);
        put(ConfigDocument.write(second));
        ready("unready", true, 0);
        relay.open();

        awaitEndpoints(dataPlane, "a-rank-0", "unready-rank-0");
        await().until(() -> ConfigDocument.hash(second).equals(dataPlane.report().configHash()));
        await().until(() -> !page(dataPlane, "/debug/status").contains("fromCheckpoint"));
        assertThat(page(dataPlane, "/metrics"))
            .contains("fairlead_checkpoint_in_use{part=\"config\"} 0.0")
            .contains("fairlead_checkpoint_in_use{part=\"endpoints\"} 0.0");
      }
    }
  }

  @Test
  void whatTheApiServerSaysCountsAndNotTheCheckpoint(@TempDir Path disk) throws Exception {
    pod("a", Map.of("app", "vllm"), true);
    pod("b", Map.of("app", "vllm"), false);
    put(ConfigDocument.write(config(1, 1)));
    URI real = URI.create(own.access().getMasterUrl());
    try (Relay relay = new Relay(real.getHost(), real.getPort())) {
      relay.open();
      try (DataPlane dataPlane = startBehind(relay, disk)) {
        awaitEndpoints(dataPlane, "a-rank-0");
      }
      PoolConfig second = config(2, 1);
      put(ConfigDocument.write(second));
      ready("a", false, 0);
      ready("b", true, 0);
      ListAppender<ILoggingEvent> log = new ListAppender<>();
      Logger logger = (Logger) LoggerFactory.getLogger(CheckpointedConfig.class);
      log.start();
      logger.addAppender(log);
      try (DataPlane dataPlane = startBehind(relay, disk)) {
        dataPlane.ready().get(30, TimeUnit.SECONDS);
        awaitEndpoints(dataPlane, "b-rank-0");
        await().until(() -> ConfigDocument.hash(second).equals(dataPlane.report().configHash()));
        boolean late =
            List.copyOf(log.list).stream()
                .anyMatch(line -> line.getFormattedMessage().contains("has not answered within"));
        assertThat(dataPlane.report().generation())
            .as("nothing else ran before, unless the API server was slow")
            .isEqualTo(late ? 2 : 1);
      } finally {
        logger.detachAppender(log);
      }
    }
  }

  private DataPlane startBehind(Relay relay, Path checkpoint) {
    Config behind = own.access();
    behind.setMasterUrl("https://127.0.0.1:" + relay.port() + "/");
    return DataPlane.start(
        builder("uid", () -> new KubernetesClientBuilder().withConfig(behind).build())
            .gateway("127.0.0.1", 0)
            .admin("127.0.0.1", 0)
            .checkpoint(checkpoint)
            .build());
  }

  private static String page(DataPlane dataPlane, String path) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      URI uri = URI.create("http://127.0.0.1:" + dataPlane.adminPort().orElseThrow() + path);
      return http.send(
              java.net.http.HttpRequest.newBuilder(uri).build(),
              HttpResponse.BodyHandlers.ofString())
          .body();
    }
  }

  @Test
  void newModelsNeverMeetOldEndpoints() throws Exception {
    pod("a", Map.of("app", "vllm"), true);
    pod("b", Map.of("app", "web"), true);
    PoolConfig before = config(1, 8000);
    PoolConfig after =
        new PoolConfig(
            namespace,
            "pool",
            Map.of("app", "web"),
            List.of(8000),
            "http",
            List.of(
                new ModelConfig("new", Criticality.CRITICAL, List.of(new TargetModel("new", 1)))),
            SchedulerConfig.DEFAULT);
    put(ConfigDocument.write(before));
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch known = new CountDownLatch(1);
    try (DataPlane dataPlane = start(new SlowPods("web", asked, known))) {
      awaitEndpoints(dataPlane, "a-rank-0");
      put(ConfigDocument.write(after));
      assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
      assertThat(dataPlane.report().configHash()).isEqualTo(ConfigDocument.hash(before));
      awaitEndpoints(dataPlane, "a-rank-0");

      known.countDown();
      await()
          .until(
              () -> dataPlane.report().configHash(),
              hash -> ConfigDocument.hash(after).equals(hash));
      assertThat(dataPlane.snapshot().get(30, TimeUnit.SECONDS))
          .as("together with the config, not after it")
          .extracting(view -> view.state().name())
          .containsExactly("b-rank-0");
    } finally {
      known.countDown();
    }
  }

  /** Keeps what is asked of pods with this label from being answered. */
  private record SlowPods(String app, CountDownLatch asked, CountDownLatch known)
      implements Interceptor {
    @Override
    public void before(BasicBuilder builder, HttpRequest request, RequestTags tags) {
      if (request.uri().getPath().endsWith("/pods")
          && String.valueOf(request.uri().getRawQuery()).contains(app)) {
        asked.countDown();
        try {
          known.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }
  }

  // ---- the picker

  private DataPlane start(Interceptor requests) {
    Config picker = own.access();
    return DataPlane.start(
        builder(
                "0f0f0f0f-0000-0000-0000-000000000000",
                () ->
                    new KubernetesClientBuilder()
                        .withConfig(picker)
                        .withHttpClientBuilderConsumer(
                            http -> http.addOrReplaceInterceptor("requests", requests))
                        .build())
            .gateway("127.0.0.1", 0)
            .build());
  }

  private DataPlane start() {
    return start("0f0f0f0f-0000-0000-0000-000000000000");
  }

  private DataPlane start(String podUid) {
    return DataPlane.start(builder(podUid, own::client).gateway("127.0.0.1", 0).build());
  }

  private DataPlaneConfig.Builder builder(String podUid, Supplier<KubernetesClient> client) {
    var reporting = new DataPlaneConfig.Reporting("pool", PICKER_POD, namespace, podUid);
    return DataPlaneConfig.builder(
            new DataPlaneConfig.Kubernetes(namespace, CONFIG, reporting, client))
        .loops(1);
  }

  private PickerReport awaitLease(Predicate<PickerReport> that) {
    return await()
        .until(
            () -> Optional.ofNullable(lease()).flatMap(KubernetesIT::report),
            report -> report.isPresent() && that.test(report.get()))
        .orElseThrow();
  }

  private Lease lease() {
    return admin.leases().inNamespace(namespace).withName(PICKER_POD).get();
  }

  private static Optional<PickerReport> report(Lease lease) {
    return Optional.ofNullable(lease.getMetadata().getAnnotations().get(PickerReport.ANNOTATION))
        .flatMap(PickerReport::fromJson);
  }

  private static String message(PickerReport report) {
    return report.refused() == null ? "" : report.refused().message();
  }

  private Watch watchLease(String since, Queue<String> writes) {
    return admin
        .leases()
        .inNamespace(namespace)
        .withName(PICKER_POD)
        .withResourceVersion(since)
        .watch(
            new Watcher<>() {
              @Override
              public void eventReceived(Action action, Lease lease) {
                writes.add(lease.getMetadata().getAnnotations().get(PickerReport.ANNOTATION));
              }

              @Override
              public void onClose(WatcherException cause) {
                writes.add("watch ended: " + cause);
              }
            });
  }

  private static void awaitEndpoints(DataPlane dataPlane, String... names) {
    await()
        .untilAsserted(
            () ->
                assertThat(dataPlane.snapshot().get(30, TimeUnit.SECONDS))
                    .extracting(view -> view.state().name())
                    .containsExactlyInAnyOrder(names));
  }

  private static long sent(DataPlane dataPlane) throws Exception {
    return dataPlane.snapshot().get(30, TimeUnit.SECONDS).getFirst().state().sent();
  }

  // ---- the cluster

  private PoolConfig config(int weight, Integer... ports) {
    return new PoolConfig(
        namespace,
        "pool",
        Map.of("app", "vllm"),
        List.of(ports),
        "http",
        List.of(
            new ModelConfig(
                "chat",
                Criticality.CRITICAL,
                List.of(new TargetModel("a", weight), new TargetModel("b", 1)))),
        SchedulerConfig.DEFAULT);
  }

  private void put(String document) {
    own.configure(document);
  }

  /** With a finalizer, so that it stays for a while once deleted, as real ones do. */
  private Pod pod(String name, Map<String, String> labels, boolean ready) {
    Pod made =
        admin
            .resource(
                new PodBuilder(TestPods.named(name, namespace, labels))
                    .editMetadata()
                    .addToFinalizers("fairlead.io/test")
                    .endMetadata()
                    .build())
            .create();
    ready(name, ready, 0);
    return made;
  }

  private void ready(String name, boolean ready, int restarts) {
    own.running(name, "127.0.0.1", ready, restarts);
  }

  private void label(String name, String app) {
    admin
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .edit(
            pod ->
                new PodBuilder(pod).editMetadata().addToLabels("app", app).endMetadata().build());
  }

  private void annotate(String name, String key, String value) {
    admin
        .pods()
        .inNamespace(namespace)
        .withName(name)
        .edit(
            pod ->
                new PodBuilder(pod)
                    .editMetadata()
                    .addToAnnotations(key, value)
                    .endMetadata()
                    .build());
  }

  private static ConfigMap annotated(ConfigMap map, String key, String value) {
    return new ConfigMapBuilder(map)
        .editMetadata()
        .addToAnnotations(key, value)
        .endMetadata()
        .build();
  }
}
