package io.fairlead.operator.apply;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.observe.Observation;
import io.fairlead.operator.observe.ObservationBuilder;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.ScriptedApi;
import io.javaoperatorsdk.operator.api.config.ControllerConfiguration;
import io.javaoperatorsdk.operator.api.reconciler.Context;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ChildApplierTest {
  private static final Duration LONG = Duration.ofMinutes(1);

  /**
   * Each exchange that hangs takes so long; what is answered comes sooner, also when it is cold.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /**
   * Informers see a Deployment again a moment after its labels are back. What is looked up
   * meanwhile, and is as it should be, is all that is known of it: without it, the pool would be
   * told of as if there were none.
   */
  @Test
  void aDeploymentThatNoInformerShowsIsKnownAsItWasLookedUpLast() throws IOException {
    AtomicInteger version = new AtomicInteger();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              byte[] body = deployment(version.incrementAndGet()).getBytes(UTF_8);
              exchange.getResponseHeaders().add("Content-Type", "application/json");
              exchange.sendResponseHeaders(200, body.length);
              exchange.getResponseBody().write(body);
              exchange.close();
            })) {
      ChildApplier children =
          new ChildApplier(api.client(), new WriteLanes(), LONG, LONG, LONG, (pool, what) -> {});
      Deployment wanted = wanted();
      Observation unseen = observation();
      assertThat(children.apply(List.of(wanted), unseen, context(api.client()))).isEmpty();
      assertThat(ready(children, unseen, wanted)).isEqualTo(1);
      assertThat(children.apply(List.of(wanted), unseen, context(api.client()))).isEmpty();
      assertThat(ready(children, unseen, wanted)).isEqualTo(2);
    }
  }

  /** What hangs for one may be well for another, which must not wait behind it for ever. */
  @Test
  void whatHangsKeepsTheOthersBackOnceOnly() throws IOException {
    List<String> asked = new CopyOnWriteArrayList<>();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              Path path = Path.of(exchange.getRequestURI().getPath());
              String kind = path.getName(path.getNameCount() - 2).toString();
              asked.add(kind);
              // An exchange that nobody closes stays open.
              if (kind.equals("configmaps")) {
                answer(exchange, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
              }
            })) {
      ChildApplier children = applier(api, PATIENCE);
      List<HasMetadata> desired = List.of(role("one"), account("two"), map("three"));
      for (int look = 0; look < 3; look++) {
        assertThat(children.apply(desired, observation(), context(api.client())))
            .extracting(ChildFailure::outlook)
            .containsExactly(ChildFailure.Outlook.SLOW);
      }
      assertThat(asked).containsExactly("roles", "serviceaccounts", "configmaps", "roles");
    }
  }

  /** New pods would be open to anybody. */
  @Test
  void podsComeAfterTheirPolicyAlsoWhereThatHungBefore() throws IOException {
    List<String> asked = new CopyOnWriteArrayList<>();
    AtomicBoolean hangs = new AtomicBoolean(true);
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              String path = exchange.getRequestURI().getPath();
              asked.add(path.substring(path.lastIndexOf('/') + 1));
              if (!hangs.get()) {
                answer(exchange, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
              }
            })) {
      ChildApplier children = applier(api, PATIENCE);
      List<HasMetadata> desired = List.of(policy("policy"), wanted(), map("map"));
      assertThat(children.apply(desired, observation(), context(api.client()))).hasSize(1);
      hangs.set(false);
      assertThat(children.apply(desired, observation(), context(api.client()))).isEmpty();
      assertThat(asked).containsExactly("policy", "map", "policy", "pool-epp");
    }
  }

  /** No pod can be made without it, and that would be told as its author's mistake. */
  @Test
  void podsComeAfterTheirAccountAlsoWhereThatHungBefore() throws IOException {
    List<String> asked = new CopyOnWriteArrayList<>();
    AtomicBoolean hangs = new AtomicBoolean(true);
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              String path = exchange.getRequestURI().getPath();
              asked.add(path.substring(path.lastIndexOf('/') + 1));
              if (!hangs.get() || !path.endsWith("/account")) {
                answer(exchange, new String(exchange.getRequestBody().readAllBytes(), UTF_8));
              }
            })) {
      ChildApplier children = applier(api, PATIENCE);
      List<HasMetadata> desired = List.of(account("account"), wanted());
      assertThat(children.apply(desired, observation(), context(api.client()))).hasSize(1);
      assertThat(children.apply(desired, observation(), context(api.client()))).hasSize(1);
      hangs.set(false);
      assertThat(children.apply(desired, observation(), context(api.client()))).isEmpty();
      assertThat(asked).containsExactly("account", "account", "account", "pool-epp");
    }
  }

  /** That is what its author is told to do about it. */
  @Test
  void whatIsNewlyWantedIsAppliedAlsoWhereSomebodyUndoesWhatWasWanted() throws IOException {
    AtomicInteger sent = new AtomicInteger();
    try (ScriptedApi api =
        new ScriptedApi(
            exchange -> {
              exchange.getRequestBody().readAllBytes();
              answer(exchange, deployment(100 + sent.incrementAndGet()));
            })) {
      ChildApplier children = applier(api, LONG);
      Observation undone =
          ObservationBuilder.of(observation().pool())
              .children(
                  List.of(
                      api.client()
                          .getKubernetesSerialization()
                          .unmarshal(
                              deployment(1).replace("\"fairlead-epp\"", "\"somebody\""),
                              Deployment.class)))
              .build();
      Context<InferencePool> context = context(api.client());
      List<ChildFailure> told = List.of();
      for (int i = 0; i < 10; i++) {
        told = children.apply(List.of(wanted()), undone, context);
      }
      assertThat(told)
          .extracting(failure -> failure.why().reason())
          .containsExactly(Reason.FIELD_MANAGER_CONFLICT);
      int before = sent.get();
      Deployment edited = wanted();
      edited.getSpec().getTemplate().getSpec().getContainers().getFirst().setImage("better");
      assertThat(children.apply(List.of(edited), undone, context))
          .extracting(failure -> failure.why().reason())
          .doesNotContain(Reason.FIELD_MANAGER_CONFLICT);
      assertThat(sent).hasValue(before + 1);
    }
  }

  private static ChildApplier applier(ScriptedApi api, Duration patience) {
    return new ChildApplier(
        api.client(), new WriteLanes(), patience, LONG, LONG, (pool, what) -> {});
  }

  private static void answer(HttpExchange exchange, String json) throws IOException {
    byte[] body = json.getBytes(UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static HasMetadata role(String name) {
    return new RoleBuilder().withMetadata(named(name)).build();
  }

  private static HasMetadata account(String name) {
    return new ServiceAccountBuilder().withMetadata(named(name)).build();
  }

  private static HasMetadata map(String name) {
    return new ConfigMapBuilder().withMetadata(named(name)).build();
  }

  private static HasMetadata policy(String name) {
    return new NetworkPolicyBuilder().withMetadata(named(name)).build();
  }

  private static ObjectMeta named(String name) {
    return new ObjectMetaBuilder().withName(name).withNamespace("a").build();
  }

  private static int ready(ChildApplier children, Observation seen, Deployment wanted) {
    return Objects.requireNonNull(
        children.answered(seen.pool(), wanted).orElseThrow().getStatus().getReadyReplicas());
  }

  /** As the API server has it, with as many ready pods as its version says. */
  private static String deployment(int version) {
    return """
        {"apiVersion": "apps/v1", "kind": "Deployment",
         "metadata": {"name": "pool-epp", "namespace": "a", "uid": "2", "resourceVersion": "%1$d",
                      "labels": {"app.kubernetes.io/managed-by": "fairlead-operator"},
                      "ownerReferences": [{"apiVersion": "inference.networking.k8s.io/v1", "kind": "InferencePool",
                                           "name": "pool", "uid": "1", "controller": true}],
                      "managedFields": [{"manager": "fairlead-epp", "operation": "Apply", "apiVersion": "apps/v1",
                                         "fieldsType": "FieldsV1",
                                         "fieldsV1": {"f:metadata": {"f:labels": {"f:app.kubernetes.io/managed-by": {}},
                                                                     "f:ownerReferences": {"k:{\\"uid\\":\\"1\\"}": {}}},
                                                      "f:spec": {"f:template": {"f:spec": {"f:containers": {
                                                          "k:{\\"name\\":\\"epp\\"}": {".": {}, "f:name": {}}}}}}}}]},
         "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "epp"}]}}},
         "status": {"readyReplicas": %1$d}}
        """
        .formatted(version);
  }

  private static Deployment wanted() {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withName("pool-epp")
        .withNamespace("a")
        .addToLabels(Labels.MANAGED_BY, Labels.MANAGER)
        .addNewOwnerReference()
        .withApiVersion("inference.networking.k8s.io/v1")
        .withKind("InferencePool")
        .withName("pool")
        .withUid("1")
        .withController(true)
        .endOwnerReference()
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewSpec()
        .addNewContainer()
        .withName("epp")
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static Observation observation() {
    InferencePool pool = new InferencePool();
    pool.getMetadata().setNamespace("a");
    pool.getMetadata().setName("pool");
    pool.getMetadata().setUid("1");
    return ObservationBuilder.of(pool).build();
  }

  @SuppressWarnings("unchecked")
  private static Context<InferencePool> context(KubernetesClient client) {
    ControllerConfiguration<?> config =
        only(ControllerConfiguration.class, "fieldManager", "fairlead-epp");
    return (Context<InferencePool>)
        Proxy.newProxyInstance(
            ChildApplierTest.class.getClassLoader(),
            new Class<?>[] {Context.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getClient" -> client;
                  case "getControllerConfiguration" -> config;
                  default -> throw new UnsupportedOperationException(method.toString());
                });
  }

  private static <T> T only(Class<T> type, String name, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            ChildApplierTest.class.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals(name)) {
                return answer;
              }
              throw new UnsupportedOperationException(method.toString());
            }));
  }
}
