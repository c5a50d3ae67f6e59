package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fairlead.crds.fairlead.v1alpha1.EndpointPicker;
import io.fairlead.crds.testing.AuditLog;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.Pem;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestRoles;
import io.fairlead.operator.testing.TestSecrets;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What is wrong with the certificate of a picker is told by Secret, field and next step. */
@ExtendWith(KubeApi.class)
@Makes({Reason.INVALID_CERTIFICATE_REF, Reason.CERTIFICATE_EXPIRED})
class CertificatesIT {
  private static final String WRONG = "False/InvalidCertificateRef";

  private static Installed cluster;

  private PoolFixture pool;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("certificates"));
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, frontend: Gateway, tls: {secretName: pair}}
        """);
    pool.createPool();
  }

  @Test
  void eachThingThatCanBeWrongIsToldUntilItIsMended() {
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("ResolvedRefs", WRONG);
      pool.awaitPicker("mine", "Ready", WRONG);
      assertThat(pool.pickerMessage("mine", "ResolvedRefs"))
          .startsWith("Secret " + pool.namespace() + "/pair of spec.tls.secretName")
          .contains("EndpointPicker mine", "does not exist", "kubectl create secret tls pair");

      TestSecrets.put(
          pool, "pair", Map.of("cert.pem", Pem.text("good.crt"), "tls.key", Pem.text("good.key")));
      awaitMessage("has no key tls.crt; put the PEM certificate under tls.crt");
      assertThat(pool.poolMessage("ResolvedRefs"))
          .as("who may read the pool need not be one who may read Secrets")
          .doesNotContain("cert.pem");
      pool.awaitPool("ResolvedRefs", WRONG);

      TestSecrets.tls(pool, "pair", "good.crt", "other.key");
      awaitMessage("the key is of another certificate");
      pool.awaitPool("ResolvedRefs", WRONG);

      TestSecrets.tls(pool, "pair", "expired.crt", "expired.key");
      pool.awaitPool("ResolvedRefs", "False/CertificateExpired");
      awaitMessage("ended at 2021-01-01T00:00:00Z");
      assertThat(pool.poolMessage("ResolvedRefs")).doesNotContain("PRIVATE", "BEGIN");

      TestSecrets.tls(pool, "pair", "good.crt", "good.key");
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      assertThat(pool.poolMessage("ResolvedRefs")).endsWith("to its port 9002 over HTTPS");
      pool.becomeReady();
    }
  }

  /** Whoever reads it need not be one who may read Secrets. */
  @Test
  void whatIsInTheWrongPlaceIsNamedAndNotRepeated() {
    String secret = Pem.text("good.key").lines().skip(1).findFirst().orElseThrow();
    TestSecrets.tls(pool, "pair", "good.key", "good.key");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitMessage("there is a private key in place of the certificate");
      assertThat(pool.poolMessage("ResolvedRefs"))
          .startsWith("Secret " + pool.namespace() + "/pair of spec.tls.secretName")
          .doesNotContain(secret.substring(0, 12));
      TestSecrets.tls(pool, "pair", "good.key", "good.crt");
      awaitMessage("certificate and private key are in each other's place");
      TestSecrets.tls(pool, "pair", "ed25519.crt", "ed25519.key");
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    }
  }

  /** Its type can't be changed, so another can't be put in its place. */
  @Test
  void aSecretOfAnotherTypeIsToldToBeMadeAnew() {
    cluster
        .admin()
        .resource(
            new SecretBuilder()
                .withNewMetadata()
                .withName("pair")
                .withNamespace(pool.namespace())
                .endMetadata()
                .withType("kubernetes.io/dockerconfigjson")
                .addToStringData(".dockerconfigjson", "{\"auths\":{}}")
                .build())
        .create();
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitMessage(
          "is of type kubernetes.io/dockerconfigjson and has no key tls.crt and no key tls.key");
      assertThat(pool.poolMessage("ResolvedRefs"))
          .contains("kubectl delete secret pair", "kubectl create secret tls pair");
      pool.delete(Secret.class, "pair");
      TestSecrets.tls(pool, "pair", "good.crt", "good.key");
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
    }
  }

  @Test
  void aSecretIsAskedForOnceInAWhileAndOnlyTheOneThatIsNamed() {
    TestSecrets.tls(pool, "pair", "good.crt", "good.key");
    TestSecrets.tls(pool, "other", "good.crt", "good.key");
    long begun = System.nanoTime();
    try (var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      int times = operator.reconciled("InferencePool/pool");
      pool.touchAll(1);
      operator.awaitReconciled("InferencePool/pool", times + 1);
      int minutes = (int) Duration.ofNanos(System.nanoTime() - begun).toMinutes();
      assertThat(operator.requests().stream().filter(r -> r.resource().equals("secrets")).toList())
          .hasSizeBetween(1, 1 + minutes)
          .noneMatch(AuditLog.Request::writes);
    }
  }

  /** What a spec says becomes part of a request's path. */
  @Test
  void aNameThatLeadsIntoAnotherNamespaceIsNotAskedFor() {
    PoolFixture other = new PoolFixture(cluster.admin(), cluster.namespace("others"));
    TestSecrets.put(other, "private", Map.of("password", "x"));
    cluster
        .admin()
        .resource(pool.need(EndpointPicker.class, "mine"))
        .patch(
            PatchContext.of(PatchType.JSON_MERGE),
            "{\"spec\":{\"tls\":{\"secretName\":\"../../%s/secrets/private\"}}}"
                .formatted(other.namespace()));
    AuditLog.Mark mark = cluster.audit().mark();
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      awaitMessage("cannot be: a name has a-z");
      pool.awaitPool("ResolvedRefs", WRONG);
    }
    assertThat(cluster.audit().since(mark))
        .noneMatch(r -> r.user().equals(Installed.OPERATOR) && r.resource().equals("secrets"));
  }

  /** Taken out of the role, the right to read Secrets is missed by nothing else. */
  @Test
  void whereSecretsMayNotBeReadThePoolIsServedAllTheSame() {
    TestSecrets.tls(pool, "pair", "good.crt", "other.key");
    try (var _ = TestRoles.without(cluster, "secrets");
        var operator = new OperatorUnderTest(cluster, pool, true)) {
      pool.becomeReady();
      assertThat(operator.requests()).anyMatch(r -> r.resource().equals("secrets"));
    }
    assertThat(pool.get(Secret.class, "pair")).isNotNull();
  }

  private void awaitMessage(String part) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage("ResolvedRefs")).contains(part));
  }
}
