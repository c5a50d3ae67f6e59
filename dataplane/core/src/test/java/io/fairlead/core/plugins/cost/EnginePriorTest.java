package io.fairlead.core.plugins.cost;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.fairlead.core.plugins.cost.EnginePrior.Accelerator;
import io.fairlead.core.plugins.cost.EnginePrior.Model;
import org.junit.jupiter.api.Test;

class EnginePriorTest {

  @Test
  void isWorkedOutOfTheDataSheet() {
    EngineClass prior = EnginePrior.of(Model.LLAMA_8B, Accelerator.H100, 1, 2);

    // 16.06 GB at 60 % of 3.35 TB/s; two operations a weight at half of 989 teraflops.
    assertThat(prior.d0()).isCloseTo(7.990, within(0.001));
    assertThat(prior.b()).isCloseTo(0.03248, within(0.00001));
    // 32 layers, 8 heads of 128 numbers, keys and values of two bytes: 128 KiB a token.
    assertThat(prior.d2()).isCloseTo(131_072 / 2.01e9, within(1e-8));
    assertThat(prior.kvTokens()).isEqualTo((long) ((70.4e9 - 16.06e9) / 131_072));
  }

  @Test
  void acceleratorsShareTheWorkAndTheCache() {
    EngineClass one = EnginePrior.of(Model.QWEN_32B, Accelerator.H100, 2, 2);
    EngineClass two = EnginePrior.of(Model.QWEN_32B, Accelerator.H100, 4, 2);

    assertThat(two.b()).isCloseTo(one.b() / 2, within(1e-9));
    assertThat(two.d0()).isCloseTo(one.d0() / 2, within(1e-9));
    assertThat(two.d2()).isCloseTo(one.d2() / 2, within(1e-12));
    assertThat(two.kvTokens()).isGreaterThan(2 * one.kvTokens());
  }

  @Test
  void aCacheThatIsNotSharedIsReadByEach() {
    EngineClass eight = EnginePrior.of(Model.DEEPSEEK_V3, Accelerator.H200, 8, 1);
    EngineClass sixteen = EnginePrior.of(Model.DEEPSEEK_V3, Accelerator.H200, 16, 1);

    assertThat(sixteen.d2()).isCloseTo(eight.d2(), within(1e-12));
    assertThat(sixteen.d0()).isCloseTo(eight.d0() / 2, within(1e-9));
  }

  @Test
  void weightsOfEightBitsTakeHalfOfEach() {
    EngineClass sixteenBits = EnginePrior.of(Model.LLAMA_8B, Accelerator.H100, 1, 2);
    EngineClass eightBits = EnginePrior.of(Model.LLAMA_8B, Accelerator.H100, 1, 1);

    assertThat(eightBits.d0()).isCloseTo(sixteenBits.d0() / 2, within(1e-9));
    assertThat(eightBits.b()).isCloseTo(sixteenBits.b() / 2, within(1e-9));
    assertThat(eightBits.c()).isEqualTo(sixteenBits.c());
  }
}
