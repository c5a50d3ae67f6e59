package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestRoles;
import io.fairlead.operator.testing.TestSecrets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Pods that are to share a Secret, and whose author names none, get one of the operator's. */
@ExtendWith(KubeApi.class)
@Makes(Reason.INVALID_SECRET_REF)
class HandOverSecretIT {
  private static final String OWN = PoolFixture.PICKER + "-hand-over";

  private static Installed cluster;

  private PoolFixture pool;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("hand-over"));
    pool.createPicker("mine", "{name: pool}"); // which has two pods
    pool.createPool();
  }

  @Test
  void itIsMadeOnceAndGoesWithThePool() {
    Secret made;
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      made = pool.need(Secret.class, OWN);
      assertThat(shared()).containsExactly(OWN);
      assertThat(Base64.getDecoder().decode(made.getData().get("secret")))
          .as("32 bytes of chance, in hexadecimal digits")
          .hasSize(64);
      assertThat(made.getMetadata().getOwnerReferences())
          .singleElement()
          .satisfies(
              owner -> {
                assertThat(owner.getUid())
                    .isEqualTo(
                        pool.need(InferencePool.class, PoolFixture.POOL).getMetadata().getUid());
                assertThat(owner.getController()).isTrue();
              });
    }
    AuditLog.Mark mark = cluster.audit().mark();
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", 2);
    }
    assertThat(pool.need(Secret.class, OWN)).isEqualTo(made);
    assertThat(cluster.audit().since(mark))
        .noneMatch(
            r ->
                r.user().equals(Installed.OPERATOR)
                    && r.resource().equals("secrets")
                    && r.writes());
  }

  /** Whoever starts waits for it, and nobody tells of it: Secrets are not watched. */
  @Test
  void oneThatIsDeletedIsBackWhenAPodStarts() {
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      pool.delete(Secret.class, OWN);
      pool.startingPod("epp-2");
      // Sooner than in the minute for which one that was there counts as there.
      await().atMost(Duration.ofSeconds(30)).until(() -> pool.get(Secret.class, OWN) != null);
    }
  }

  @Test
  void whoIsAloneOrToldNotToSharesNone() {
    edit("{\"spec\":{\"replicas\":1}}");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      assertThat(shared()).isEmpty();
      edit("{\"spec\":{\"replicas\":2,\"handOver\":{\"enabled\":false}}}");
      await()
          .until(
              () -> pool.need(Deployment.class, PoolFixture.PICKER).getSpec().getReplicas() == 2);
      assertThat(shared()).isEmpty();
      assertThat(pool.get(Secret.class, OWN)).isNull();

      edit("{\"spec\":{\"replicas\":1,\"handOver\":{\"enabled\":null}}}");
      await().untilAsserted(() -> assertThat(shared()).containsExactly(OWN));
    }
  }

  private void edit(String patch) {
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(PatchContext.of(PatchType.JSON_MERGE), patch);
  }

  @Test
  void whoseNameAnotherHasIsLeftAlone() {
    TestSecrets.put(pool, OWN, Map.of("mine", "x"));
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("AvailabilityGuarded", "False/ObjectNotApplied");
      assertThat(pool.poolMessage("AvailabilityGuarded")).contains(OWN, "not ours");
      pool.becomeReady();
      assertThat(shared()).isEmpty();
      assertThat(pool.need(Secret.class, OWN).getData()).containsOnlyKeys("mine");
    }
  }

  @Test
  void whereNoneMayBeMadePodsBeginWithNothingUntilOneIs() {
    try (var taken = TestRoles.without(cluster, "secrets");
        var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("AvailabilityGuarded", "False/PermissionDenied");
      pool.becomeReady();
      assertThat(shared()).isEmpty();

      taken.giveBack();
      pool.touchAll(1);
      // A right takes effect a moment later, and what was refused is tried again after 15 s.
      await()
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(() -> assertThat(shared()).containsExactly(OWN));
      await()
          .atMost(Duration.ofSeconds(30))
          .until(() -> !pool.poolConditions().containsKey("AvailabilityGuarded"));
    }
  }

  /** Pods wait for it, and nobody but their Events would say so. */
  @Test
  void oneThatTheAuthorNamesAndThatIsNotThereIsTold() {
    edit("{\"spec\":{\"handOver\":{\"secretName\":\"theirs\"}}}");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("ResolvedRefs", "False/InvalidSecretRef");
      pool.awaitPicker("mine", "Ready", "False/InvalidSecretRef");
      assertThat(pool.poolMessage("ResolvedRefs"))
          .startsWith("Secret " + pool.namespace() + "/theirs of spec.handOver.secretName")
          .contains("EndpointPicker mine", "does not exist", "create secret generic theirs");
      assertThat(shared()).containsExactly("theirs");

      TestSecrets.put(pool, "theirs", Map.of("other", "x"));
      await()
          .untilAsserted(
              () -> assertThat(pool.poolMessage("ResolvedRefs")).contains("has no key secret"));
      TestSecrets.put(pool, "theirs", Map.of("secret", "x"));
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      pool.becomeReady();
    }
  }

  /** Secrets that the picker's pods mount to hand over. */
  private List<String> shared() {
    return pool
        .need(Deployment.class, PoolFixture.PICKER)
        .getSpec()
        .getTemplate()
        .getSpec()
        .getVolumes()
        .stream()
        .filter(volume -> volume.getName().equals("hand-over"))
        .map(Volume::getSecret)
        .map(secret -> secret.getSecretName())
        .toList();
  }
}
