package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RefusalsTest {
  private static final String DENIED = "admission webhook \"policies.example.test\" denied it";

  @Test
  void ofWhatAPolicyRefusesPodsAloneCanBeAsItWants() {
    assertThat(
            told(
                new DeploymentBuilder()
                    .withNewMetadata()
                    .withNamespace("ns")
                    .withName("p-epp")
                    .endMetadata()
                    .build()))
        .isEqualTo(
            "Deployment ns/p-epp is refused by the API server: %s; see to that webhook or policy, or have spec.podTemplate of the EndpointPicker be as it wants"
                .formatted(DENIED));
    assertThat(
            told(
                new ConfigMapBuilder()
                    .withNewMetadata()
                    .withNamespace("ns")
                    .withName("p-epp")
                    .endMetadata()
                    .build()))
        .isEqualTo(
            "ConfigMap ns/p-epp is refused by the API server: %s; see to that webhook or policy"
                .formatted(DENIED));
  }

  private static String told(HasMetadata child) {
    return Refusals.refused(
            child,
            new KubernetesClientException(
                DENIED, 422, new StatusBuilder().withMessage(DENIED).build()),
            Duration.ZERO,
            Duration.ofSeconds(10))
        .why()
        .message();
  }
}
