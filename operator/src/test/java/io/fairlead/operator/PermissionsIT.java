package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.rbac.ClusterRole;
import io.fabric8.kubernetes.api.model.rbac.PolicyRule;
import io.fabric8.kubernetes.api.model.rbac.Role;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.Crds;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestSecrets;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The operator may do what it does, and nothing more, as the audit log of an API server tells that
 * has all kinds that the operator looks for.
 */
class PermissionsIT {
  private static final int FORBIDDEN = 403;
  private static final Path RBAC = Path.of("..", "config", "rbac");

  @Test
  void whatIsGrantedIsUsedAndNothingElseIsAsked() throws IOException {
    try (KubeApi.Running server = KubeApi.Running.start()) {
      whatIsGrantedIsUsed(server);
    }
  }

  private static void whatIsGrantedIsUsed(KubeApi.Running server) throws IOException {
    Installed cluster = Installed.on(server);
    PoolFixture pool = new PoolFixture(cluster.admin(), cluster.namespace("verbs"));
    Crds.upstream(cluster.admin(), "inference.networking.x-k8s.io");
    Crds.upstream(cluster.admin(), "llm-d.ai");
    Crds.podMonitors(cluster.admin());
    Crds.oldPools(cluster.admin());
    pool.create(
        """
        apiVersion: inference.networking.x-k8s.io/v1alpha2
        kind: InferencePool
        metadata: {name: older}
        spec: {selector: {app: vllm}, targetPortNumber: 8000, extensionRef: {name: older-service}}
        """);
    pool.createUpstream("inference.networking.x-k8s.io");
    pool.createUpstream("llm-d.ai");
    AuditLog.Mark before = server.audit().mark();
    var client = cluster.operator();
    try (var process =
        new OperatorProcess(OperatorUnderTest.on(client, pool, false, Metrics.NOOP), client)) {
      process.elect(
          Installed.NAMESPACE,
          pool.namespace(),
          "me",
          new Fence(
              URI.create("https://api.test"),
              Leadership.LEASE,
              System::nanoTime,
              InstantSource.system()),
          () -> {},
          () -> {});
      pool.createPicker("lost", "{name: nowhere}");
      pool.awaitPicker("lost", "Accepted", "Unknown/Pending");
      pool.createPicker("older", "{name: older}");
      pool.awaitPicker("older", "Accepted", "True/Accepted");
      TestSecrets.tls(pool, "pair", "good.crt", "good.key");
      pool.createPool();
      pool.create(
          """
          apiVersion: fairlead.io/v1alpha1
          kind: EndpointPicker
          metadata: {name: mine}
          spec: {poolRef: {name: pool}, autoscaling: {maxReplicas: 2}, tls: {secretName: pair}, handOver: {}, networkPolicy: {}, monitoring: {podMonitor: {}}}
          """);
      pool.createModel("chat", "chat", 90);
      pool.becomeReady();
      pool.awaitModel("chat", "Ready", "True/Ready");
      pool.awaitPicker("mine", "Ready", "True/Ready");
      cluster
          .admin()
          .resource(pool.need(InferencePool.class, PoolFixture.POOL))
          .patch(
              PatchContext.of(PatchType.JSON_MERGE),
              "{\"spec\":{\"endpointPickerRef\":{\"name\":\"renamed\"}}}");
      await()
          .until(
              () -> used(asked(server, before)).contains("list endpointslices.discovery.k8s.io"));
      pool.delete(EndpointPicker.class, "mine");
      await().until(() -> pool.get(Deployment.class, PoolFixture.PICKER) == null);
      pool.delete(Pod.class, PoolFixture.POD);
      await().until(() -> pool.get(NetworkPolicy.class, PoolFixture.PICKER) == null);
      await().until(() -> pool.poolConditions().isEmpty());
      Set<String> granted = granted(cluster.admin());
      await()
          .untilAsserted(
              () -> assertThat(withLooks(used(asked(server, before)))).containsAll(granted));
    }
    List<AuditLog.Request> asked = asked(server, before);
    assertThat(withLooks(used(asked)))
        .containsExactlyInAnyOrderElementsOf(granted(cluster.admin()));
    assertThat(asked).as("nothing is asked in vain").noneMatch(r -> r.code() == FORBIDDEN);
  }

  private static List<AuditLog.Request> asked(KubeApi.Running server, AuditLog.Mark since) {
    return server.audit().since(since).stream()
        .filter(request -> request.user().equals(Installed.OPERATOR))
        .toList();
  }

  private static Set<String> used(List<AuditLog.Request> asked) {
    return asked.stream().flatMap(r -> r.rights().stream()).collect(Collectors.toSet());
  }

  /**
   * Whoever writes an object also reads it: when it has changed since it was seen, which is a
   * matter of luck here.
   */
  private static Set<String> withLooks(Set<String> used) {
    return used.stream()
        .flatMap(
            right ->
                right.startsWith("patch ")
                    ? Stream.of(right, right.replace("patch ", "get ").replace("/status", ""))
                    : Stream.of(right))
        .collect(Collectors.toSet());
  }

  private static Set<String> granted(KubernetesClient client) throws IOException {
    Set<String> granted = new HashSet<>();
    for (String file : List.of("operator-clusterrole.yaml", "operator-leaderelection.yaml")) {
      try (InputStream in = Files.newInputStream(RBAC.resolve(file))) {
        for (HasMetadata object : client.load(in).items()) {
          rules(object).forEach(rule -> granted.addAll(entries(rule)));
        }
      }
    }
    // What the API server asks for when a RoleBinding is made; no request has this verb.
    assertThat(granted.remove("bind clusterroles.rbac.authorization.k8s.io")).isTrue();
    return granted;
  }

  private static List<PolicyRule> rules(HasMetadata object) {
    return switch (object) {
      case ClusterRole role -> role.getRules();
      case Role role -> role.getRules();
      default -> List.of();
    };
  }

  private static Set<String> entries(PolicyRule rule) {
    Set<String> entries = new HashSet<>();
    for (String group : rule.getApiGroups()) {
      for (String resource : rule.getResources()) {
        rule.getVerbs().forEach(verb -> entries.add(AuditLog.right(verb, group, resource)));
      }
    }
    return entries;
  }
}
