package io.fairlead.crds.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubeapitest.KubeAPITestException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class KubeApiIT {

  /**
   * As one ends whose port somebody else has taken: it is waited for no longer, and tried again.
   */
  @Test
  @Timeout(120)
  void oneThatEndsWhileItStartsIsNotWaitedFor() {
    assertThatThrownBy(() -> KubeApi.Running.start(List.of("--there-is-no-such-flag")))
        .isInstanceOf(KubeAPITestException.class);
  }
}
