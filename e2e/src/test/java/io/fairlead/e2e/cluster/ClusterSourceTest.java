package io.fairlead.e2e.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClusterSourceTest {

  @ParameterizedTest
  @CsvSource({
    ",,true,HOST",
    ",,false,K3S",
    ",/some/file,true,KUBECONFIG",
    "'','',true,HOST",
    "k3s,/some/file,true,K3S",
    "host,,false,HOST",
    "kubeconfig,,true,KUBECONFIG"
  })
  void theSettingWinsThenKubeconfigThenTheHost(
      @Nullable String named,
      @Nullable String kubeconfig,
      boolean hostPossible,
      ClusterSource expected) {
    Map<String, String> environment =
        kubeconfig == null ? Map.of() : Map.of("KUBECONFIG", kubeconfig);

    assertThat(ClusterSource.choose(named, environment, hostPossible)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"kind", "HOST"})
  void anUnknownNameIsRefusedWithTheKnownOnes(String named) {
    assertThatThrownBy(() -> ClusterSource.choose(named, Map.of(), true))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("FAIRLEAD_CLUSTER: '" + named + "' is none of kubeconfig, host, k3s");
  }
}
