package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.List;
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

  /** No edit mends it: it is of when the object was made. */
  @Test
  void whatCannotBeChangedIsToBeDeleted() {
    HasMetadata binding =
        new RoleBindingBuilder()
            .withNewMetadata()
            .withNamespace("ns")
            .withName("p-epp")
            .endMetadata()
            .build();
    for (String why :
        List.of("roleRef: cannot change roleRef", "spec.selector: field is immutable")) {
      assertThat(told(binding, why))
          .endsWith(
              why
                  + "; that can't be changed: kubectl delete rolebinding p-epp --namespace ns, and it is made anew");
    }
  }

  private static String told(HasMetadata child) {
    return told(child, DENIED);
  }

  private static String told(HasMetadata child, String why) {
    return Refusals.refused(
            child,
            new KubernetesClientException(why, 422, new StatusBuilder().withMessage(why).build()),
            Duration.ZERO,
            Duration.ofSeconds(10))
        .why()
        .message();
  }
}
