package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fairlead.operator.status.Reason;
import io.fairlead.operator.status.Verdict;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RefusalsTest {
  private static final String DENIED = "admission webhook \"policies.example.test\" denied it";

  private static final Deployment DEPLOYMENT =
      new DeploymentBuilder()
          .withNewMetadata()
          .withNamespace("ns")
          .withName("p-epp")
          .endMetadata()
          .build();

  @Test
  void ofWhatAPolicyRefusesPodsAloneCanBeAsItWants() {
    assertThat(told(DEPLOYMENT))
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

  /** Whoever reads of a permission grants it, and the policy refuses as before. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "admission webhook \"policies.example.test\" denied the request: container epp cannot run without a limit",
        "deployments.apps \"p-epp\" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: container epp cannot run without a limit",
        "admission webhook \"policies.example.test\" denied the request: configmaps \"limits\" is forbidden: User \"policies\" cannot get resource \"configmaps\" in API group \"\" in the namespace \"policies\""
      })
  void aPolicyThatSaysWhatCannotBeIsNoMissingPermission(String why) {
    KubernetesClientException refused = refused(why, 403);
    Verdict told = told(DEPLOYMENT, refused);
    assertThat(told.reason()).isEqualTo(Reason.EPP_UNAVAILABLE);
    assertThat(told.message())
        .endsWith(
            why
                + "; see to that webhook or policy, or have spec.podTemplate of the EndpointPicker be as it wants");
    assertThat(Refusals.status(DEPLOYMENT, refused))
        .contains(why + "; see to the webhook or policy that it names");
    Verdict stays = Refusals.stays(DEPLOYMENT, refused).why();
    assertThat(stays.reason()).isEqualTo(Reason.OBJECT_NOT_APPLIED);
    assertThat(stays.message()).contains(why + "; see to that webhook or policy");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "deployments.apps \"p-epp\" is forbidden: User \"system:serviceaccount:fairlead-system:fairlead-operator\" cannot patch resource \"deployments\" in API group \"apps\" in the namespace \"ns\"",
        "deployments.apps is forbidden: User \"operator\" cannot create resource \"deployments\" in API group \"apps\" in the namespace \"ns\": Azure does not have opinion for this user.",
        "deployments.apps \"p-epp\" is forbidden: cannot set an ownerRef on a resource you can't delete: User \"operator\" cannot delete resource \"deployments\", <nil>"
      })
  void whatTheOperatorMayNotDoIsToBeGranted(String why) {
    KubernetesClientException refused = refused(why, 403);
    Verdict told = told(DEPLOYMENT, refused);
    assertThat(told.reason()).isEqualTo(Reason.PERMISSION_DENIED);
    assertThat(told.message()).endsWith(why + "; grant it to the operator's ServiceAccount");
    assertThat(Refusals.status(DEPLOYMENT, refused))
        .contains(why + "; grant it to the operator's ServiceAccount");
    assertThat(Refusals.stays(DEPLOYMENT, refused).why().reason())
        .isEqualTo(Reason.PERMISSION_DENIED);
  }

  private static String told(HasMetadata child) {
    return told(child, DENIED);
  }

  private static String told(HasMetadata child, String why) {
    return told(child, refused(why, 422)).message();
  }

  private static KubernetesClientException refused(String why, int code) {
    return new KubernetesClientException(why, code, new StatusBuilder().withMessage(why).build());
  }

  private static Verdict told(HasMetadata child, KubernetesClientException refused) {
    return Refusals.refused(child, refused, Duration.ZERO, Duration.ofSeconds(10)).why();
  }
}
