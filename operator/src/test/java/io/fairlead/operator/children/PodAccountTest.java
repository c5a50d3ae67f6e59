package io.fairlead.operator.children;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When pods are replaced since the account was made again that they began with. */
class PodAccountTest {
  @Test
  void anAccountThatIsAsOldAsItsDeploymentReplacesNothing() {
    assertThat(account(deployment(10, null), account("a", 9), pod(11))).isNull();
    assertThat(account(deployment(10, null), account("a", 10), pod(10))).isNull();
  }

  @Test
  void oneThatWasMadeAgainReplacesThePodsThatWereThere() {
    assertThat(account(deployment(10, null), account("b", 20), pod(11), pod(21))).isEqualTo("b");
    assertThat(account(deployment(10, null), account("b", 20), pod(20))).isEqualTo("b");
  }

  /** As where an operator that knew nothing of this made it again long ago. */
  @Test
  void podsThatCameAfterItStay() {
    assertThat(account(deployment(10, null), account("b", 20), pod(21))).isNull();
    assertThat(account(deployment(10, null), account("b", 20))).isNull();
  }

  @Test
  void whatIsSaidOfItStaysWhenItsPodsAreReplaced() {
    assertThat(account(deployment(10, "b"), account("b", 20), pod(25))).isEqualTo("b");
    assertThat(account(deployment(30, "b"), account("b", 20))).isEqualTo("b");
  }

  @Test
  void oneThatIsMadeAgainOnceMoreReplacesThePodsOnceMore() {
    assertThat(account(deployment(10, "b"), account("c", 30), pod(25))).isEqualTo("c");
  }

  @Test
  void whileItIsNotSeenNothingChanges() {
    assertThat(account(deployment(10, null), null, pod(11))).isNull();
    assertThat(account(deployment(10, "b"), null, pod(11))).isEqualTo("b");
  }

  private static @Nullable String account(
      Deployment there, @Nullable ServiceAccount account, Pod... pods) {
    return Children.account(there, account, List.of(pods));
  }

  private static Deployment deployment(int second, @Nullable String account) {
    return new DeploymentBuilder()
        .withNewMetadata()
        .withCreationTimestamp(at(second))
        .endMetadata()
        .withNewSpec()
        .withNewTemplate()
        .withNewMetadata()
        .withAnnotations(account == null ? null : Map.of("fairlead.io/account", account))
        .endMetadata()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static ServiceAccount account(String uid, int second) {
    return new ServiceAccountBuilder()
        .withNewMetadata()
        .withUid(uid)
        .withCreationTimestamp(at(second))
        .endMetadata()
        .build();
  }

  private static Pod pod(int second) {
    return new PodBuilder()
        .withNewMetadata()
        .withCreationTimestamp(at(second))
        .endMetadata()
        .build();
  }

  private static String at(int second) {
    return "2026-01-01T00:00:%02dZ".formatted(second);
  }
}
