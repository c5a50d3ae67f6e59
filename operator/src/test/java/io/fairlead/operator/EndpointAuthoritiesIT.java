package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fairlead.crds.testing.KubeApi;
import io.fairlead.crds.testing.Pem;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.testing.Installed;
import io.fairlead.operator.testing.Makes;
import io.fairlead.operator.testing.PoolFixture;
import io.fairlead.operator.testing.TestSecrets;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What is wrong with the authorities that a picker is to trust is told by object, field and next
 * step: its pods fail for it, and only their logs say why.
 */
@ExtendWith(KubeApi.class)
@Makes(Reason.INVALID_CA_CERTIFICATE_REF)
class EndpointAuthoritiesIT {
  private static final String WRONG = "False/InvalidCACertificateRef";

  private static Installed cluster;

  private PoolFixture pool;

  @BeforeAll
  static void install(KubeApi.Running server) {
    cluster = Installed.on(server);
  }

  @BeforeEach
  void prepare() {
    pool = new PoolFixture(cluster.admin(), cluster.namespace("authorities"));
  }

  @Test
  void eachThingThatCanBeWrongWithASecretIsToldUntilItIsMended() {
    createPicker("caSecret: authorities");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("ResolvedRefs", WRONG);
      pool.awaitPicker("mine", "Ready", WRONG);
      assertThat(pool.pickerMessage("mine", "ResolvedRefs"))
          .startsWith("Secret " + pool.namespace() + "/authorities of spec.endpointTls.caSecret")
          .contains(
              "EndpointPicker mine",
              "does not exist",
              "kubectl create secret generic authorities --from-file=ca.crt");

      TestSecrets.put(pool, "authorities", Map.of("tls.crt", Pem.text("good.crt")));
      awaitMessage("has no key ca.crt");
      TestSecrets.put(pool, "authorities", Map.of("ca.crt", Pem.text("good.key")));
      awaitMessage("ca.crt holds no PEM certificates: it has a private key and no certificate");
      pool.awaitPool("ResolvedRefs", WRONG);
      assertThat(pool.poolMessage("ResolvedRefs")).doesNotContain("PRIVATE", "BEGIN");

      TestSecrets.put(pool, "authorities", Map.of("ca.crt", Pem.text("good.crt")));
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      pool.becomeReady();
    }
  }

  @Test
  void aConfigMapIsLookedAtAsASecretIs() {
    createPicker("caConfigMap: authorities");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("ResolvedRefs", WRONG);
      assertThat(pool.poolMessage("ResolvedRefs"))
          .startsWith(
              "ConfigMap " + pool.namespace() + "/authorities of spec.endpointTls.caConfigMap")
          .contains("kubectl create configmap authorities --from-file=ca.crt");
      pool.create(
          new ConfigMapBuilder()
              .withNewMetadata()
              .withName("authorities")
              .endMetadata()
              .addToData("ca.crt", Pem.text("good.crt"))
              .build());
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      pool.becomeReady();
    }
  }

  /** As {@code kubectl} makes one of a file whose comments are no UTF-8. */
  @Test
  void whatAConfigMapHasInBytesCounts() {
    pool.create(
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("authorities")
            .endMetadata()
            .addToBinaryData(
                "ca.crt",
                Base64.getEncoder()
                    .encodeToString(
                        ("# Autorit\u00e9\n" + Pem.text("good.crt"))
                            .getBytes(StandardCharsets.ISO_8859_1)))
            .build());
    createPicker("caConfigMap: authorities");
    try (var _ = new OperatorUnderTest(cluster, pool, true)) {
      pool.awaitPool("ResolvedRefs", "True/ResolvedRefs");
      pool.becomeReady();
    }
  }

  private void createPicker(String authorities) {
    pool.create(
        """
        apiVersion: fairlead.io/v1alpha1
        kind: EndpointPicker
        metadata: {name: mine}
        spec: {poolRef: {name: pool}, endpointTls: {%s}}
        """
            .formatted(authorities));
    pool.createPool();
  }

  private void awaitMessage(String part) {
    await()
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(pool.poolMessage("ResolvedRefs")).contains(part));
  }
}
