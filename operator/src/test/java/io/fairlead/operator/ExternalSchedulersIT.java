package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.TestPods;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.Picker;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.scheduler.v1.PickerMessage;
import io.fairlead.scheduler.v1.SchedulerGrpc;
import io.fairlead.scheduler.v1.SchedulerHello;
import io.fairlead.scheduler.v1.SchedulerMessage;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A scheduler of the author's own, from the EndpointPicker to the pod and the picker that asks it,
 * and back to its conditions.
 */
@ExtendWith(KubeApi.class)
@Makes({Reason.EXTERNAL_SCHEDULER_UNAVAILABLE, Reason.EXTERNAL_SCHEDULER_LATE})
class ExternalSchedulersIT {

  private static final String CONDITION = "ExternalSchedulersAsked";

  private static Installed cluster;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @Test
  void whatIsAskedForIsRunAndWhatIsNotAskedIsTold() throws Exception {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("external"));
    Server silent =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(new Silent())
            .build()
            .start();
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.create(
          """
          apiVersion: inference.networking.k8s.io/v1
          kind: InferencePool
          metadata: {name: pool}
          spec:
            selector: {matchLabels: {app: vllm}}
            targetPorts: [{number: 1}]
            endpointPickerRef: {name: picker-service, port: {number: 9002}}
          """);
      pool.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: mine}
          spec:
            poolRef: {name: pool}
            frontend: Gateway
            scheduling: {external: {sidecar: {image: "example.test/scheduler:1"}}}
          """);
      Pod made =
          cluster
              .admin()
              .resource(
                  new PodBuilder(TestPods.named("server", pool.namespace(), Map.of("app", "vllm")))
                      .build())
              .create();
      cluster.admin().resource(made).editStatus(pod -> TestPods.running(pod, "127.0.0.1", true, 0));
      pool.awaitPool("Ready", "False/RolloutInProgress");
      // The pool may have been served for a moment before its EndpointPicker was seen.
      await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () ->
                  pod(pool).getContainers().stream()
                      .map(Container::getName)
                      .toList()
                      .equals(List.of("epp", "scheduler")));
      pool.becomeAvailable();

      try (Picker picker = Picker.gateway(cluster, pool);
          HttpClient http = HttpClient.newHttpClient()) {
        // Nobody listens at the socket of a pod that is played.
        pool.awaitPool(CONDITION, "False/ExternalSchedulerUnavailable");
        assertThat(pool.poolMessage(CONDITION))
            .startsWith(
                "The external scheduler gives pod " + PoolFixture.POD + " no answer of use: ")
            .contains("/run/fairlead/scheduler/socket", "conformance scheduler");
        pool.awaitPool("Programmed", "True/Programmed");

        external(
            pool,
            "{\"sidecar\":null,\"service\":{\"address\":\"127.0.0.1:%d\"},\"timeout\":\"2ms\"}"
                .formatted(silent.getPort()));
        await()
            .atMost(Duration.ofMinutes(1))
            .until(() -> !pool.poolConditions().containsKey(CONDITION));
        await().until(() -> pod(pool).getContainers().size() == 1);

        await()
            .atMost(Duration.ofMinutes(1))
            .until(
                () -> {
                  for (int i = 0; i < 16; i++) {
                    ask(http, picker.gatewayPort());
                  }
                  return "False/ExternalSchedulerLate".equals(pool.poolConditions().get(CONDITION));
                });

        external(pool, "null");
        await()
            .atMost(Duration.ofMinutes(1))
            .until(() -> !pool.poolConditions().containsKey(CONDITION));
      }
    } finally {
      silent.shutdownNow().awaitTermination();
    }
  }

  @Test
  void oneThatIsInTwoPlacesIsRefusedByTheApiServer() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("external-refused"));
    pool.createPicker("mine", "{name: pool}");
    assertThatThrownBy(
            () ->
                external(pool, "{\"sidecar\":{\"image\":\"i\"},\"service\":{\"address\":\"a:1\"}}"))
        .isInstanceOf(KubernetesClientException.class)
        .hasMessageContaining("set either sidecar or service");
  }

  /** What can't be run leaves the pods as they are, and says by its field why. */
  @Test
  void whatIsRefusedChangesNoPod() {
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("external-kept"));
    try (OperatorUnderTest _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.createPool();
      pool.createPicker("mine", "{name: pool}");
      patch(
          pool,
          """
          {"scheduling": {"external": {"sidecar": {"image": "real:1"}}},
           "shadows": [{"name": "tried", "scheduling": {"external":
             {"service": {"address": "tried:1", "tls": {"caSecret": "authorities"}}}}}]}
          """);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> images(pool).equals(List.of("real:1")) && mountsAuthorities(pool));
      PodSpec before = pod(pool);

      // A plugin that does not exist, and a shadow that could take its picker out of service.
      patch(
          pool,
          """
          {"scheduling": {"external": {"sidecar": {"image": "real:2"}}, "plugins": [{"type": "no-such"}]},
           "shadows": [{"name": "tried", "scheduling": {"external": {"sidecar": {"image": "tried:2"}}}}]}
          """);
      pool.awaitPool("Accepted", "False/InvalidSpec");
      assertThat(pool.poolMessage("Accepted"))
          .contains("spec.scheduling.plugins[0].type")
          .contains("spec.shadows[0].scheduling.external.sidecar is not for a shadow");
      assertThat(pod(pool)).isEqualTo(before);

      // Another setting of the pods is carried out, and takes nothing of what is refused along.
      patch(pool, "{\"image\":\"picker:2\"}");
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> pod(pool).getContainers().getFirst().getImage().equals("picker:2"));
      assertThat(images(pool)).containsExactly("real:1");
      assertThat(mountsAuthorities(pool)).isTrue();

      patch(
          pool,
          """
          {"scheduling": {"plugins": null},
           "shadows": [{"name": "tried", "scheduling": {"external": {"service": {"address": "tried:2"}}}}]}
          """);
      await()
          .atMost(Duration.ofMinutes(1))
          .until(() -> images(pool).equals(List.of("real:2")) && !mountsAuthorities(pool));
      pool.awaitPool("Accepted", "True/Accepted");
    }
  }

  /** Those that the shadow's certificate must come from. */
  private static boolean mountsAuthorities(PoolFixture pool) {
    return pod(pool).getVolumes().stream()
        .anyMatch(
            volume ->
                volume.getSecret() != null
                    && "authorities".equals(volume.getSecret().getSecretName()));
  }

  /** Of the containers beside the picker's. */
  private static List<String> images(PoolFixture pool) {
    return cluster
        .admin()
        .apps()
        .deployments()
        .inNamespace(pool.namespace())
        .list()
        .getItems()
        .stream()
        .flatMap(there -> there.getSpec().getTemplate().getSpec().getContainers().stream().skip(1))
        .map(Container::getImage)
        .toList();
  }

  private static void patch(PoolFixture pool, String spec) {
    cluster
        .admin()
        .resources(EndpointPicker.class)
        .inNamespace(pool.namespace())
        .withName("mine")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":" + spec + "}");
  }

  private static void external(PoolFixture pool, String json) {
    cluster
        .admin()
        .resources(EndpointPicker.class)
        .inNamespace(pool.namespace())
        .withName("mine")
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"scheduling\":{\"external\":" + json + "}}}");
  }

  private static PodSpec pod(PoolFixture pool) {
    return pool.need(Deployment.class, PoolFixture.PICKER).getSpec().getTemplate().getSpec();
  }

  /** Nobody serves it; the scheduler is asked about it all the same. */
  private static void ask(HttpClient http, int port) throws Exception {
    var _ =
        http.send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/completions"))
                .header("content-type", "application/json")
                .POST(BodyPublishers.ofString("{\"model\": \"m\", \"prompt\": \"p\"}"))
                .build(),
            BodyHandlers.discarding());
  }

  /** Says hello, and then nothing. */
  private static final class Silent extends SchedulerGrpc.SchedulerImplBase {
    @Override
    public StreamObserver<PickerMessage> schedule(StreamObserver<SchedulerMessage> picker) {
      return new StreamObserver<>() {
        @Override
        public void onNext(PickerMessage message) {
          if (message.hasHello()) {
            picker.onNext(
                SchedulerMessage.newBuilder()
                    .setHello(SchedulerHello.newBuilder().setVersion(1).setName("silent"))
                    .build());
          }
        }

        @Override
        public void onError(Throwable gone) {}

        @Override
        public void onCompleted() {
          picker.onCompleted();
        }
      };
    }
  }
}
