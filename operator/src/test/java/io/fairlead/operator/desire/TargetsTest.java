package io.fairlead.operator.desire;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.v1alpha2.InferenceModelSpec;
import io.fairlead.crds.v1alpha2.TargetModel;
import java.util.List;
import org.junit.jupiter.api.Test;

class TargetsTest {
  @Test
  void eachIsReadWithItsShare() {
    assertThat(read()).isEqualTo("chat");
    assertThat(read(new TargetModel("llama", 7))).isEqualTo("llama");
    assertThat(read(new TargetModel("llama", 9), new TargetModel("canary", 1)))
        .isEqualTo("llama 90 %, canary 10 %");
    assertThat(read(new TargetModel("a", null), new TargetModel("b", null)))
        .isEqualTo("a 50 %, b 50 %");
    assertThat(read(new TargetModel("most", 1_000_000), new TargetModel("few", 1)))
        .isEqualTo("most >99 %, few <1 %");
  }

  private static String read(TargetModel... targets) {
    return Targets.read(new InferenceModelSpec("chat", null, List.of(targets), null));
  }
}
