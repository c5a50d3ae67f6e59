package io.fairlead.stub.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ImperfectionTest {

  private static final EngineProfile PROFILE =
      new EngineProfile("plain", 0, 0.01, 0, 10, 1, 0, 1 << 20, 16, 8_192, 1_024);
  private static final Offset<Double> EXACT = Offset.offset(1e-6);

  /** How long each of the steps takes in which one request decodes, ms. */
  private static List<Double> steps(Imperfection imperfection, long seed, int count) {
    Engine engine = new Engine(PROFILE, imperfection, seed, new RecordingListener(false));
    engine.submit(0, 1, new long[0], 1, count + 1);
    engine.advance(engine.nextEventNanos());
    List<Double> steps = new ArrayList<>();
    long before = 0;
    for (int i = 0; i <= count && engine.nextEventNanos() != Engine.IDLE; i++) {
      long end = engine.nextEventNanos();
      if (i > 0) {
        steps.add((end - before) / 1e6);
      }
      before = end;
      engine.advance(end);
    }
    return steps;
  }

  /** How long a step takes in which so many decode, ms. */
  private static double stepOf(Imperfection imperfection, int sequences) {
    Engine engine = new Engine(PROFILE, imperfection, 1, new RecordingListener(false));
    for (int id = 0; id < sequences; id++) {
      engine.submit(0, id, new long[0], 1, 1_000);
    }
    // The first request has a step of its own, the others join it in the second.
    for (int step = 0; step < 3; step++) {
      engine.advance(engine.nextEventNanos());
    }
    long begun = engine.nextEventNanos();
    engine.advance(begun);
    return (engine.nextEventNanos() - begun) / 1e6;
  }

  @Test
  void withoutAnyStepsTakeWhatTheFormulaSays() {
    assertThat(steps(Imperfection.NONE, 1, 50)).allSatisfy(ms -> assertThat(ms).isEqualTo(11));
  }

  @Test
  void noiseIsSeededAndHasNoBias() {
    Imperfection noisy = new Imperfection(0.1, false, 0);
    List<Double> steps = steps(noisy, 1, 4_000);

    assertThat(steps).isEqualTo(steps(noisy, 1, 4_000)).isNotEqualTo(steps(noisy, 2, 4_000));
    assertThat(steps.stream().mapToDouble(ms -> ms / 11).average().orElseThrow())
        .isCloseTo(1, Offset.offset(0.01));
    assertThat(
            Math.sqrt(
                steps.stream()
                    .mapToDouble(ms -> Math.pow(Math.log(ms / 11) + 0.005, 2))
                    .average()
                    .orElseThrow()))
        .isCloseTo(0.1, Offset.offset(0.005));
  }

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "2, 2",
    "3, 4",
    "4, 4",
    "5, 8",
    "8, 8",
    "9, 16",
    "17, 24",
    "256, 256",
    "505, 512",
    "512, 512",
    "513, 513"
  })
  void aBatchCostsAsTheNextGraph(int sequences, int size) {
    assertThat(stepOf(new Imperfection(0, true, 0), sequences)).isCloseTo(10 + size, EXACT);
    assertThat(stepOf(Imperfection.NONE, sequences)).isCloseTo(10 + sequences, EXACT);
  }

  @Test
  void theCpuTakesItsTimeOfEveryStepAndHasNoNoise() {
    assertThat(steps(new Imperfection(0, false, 0.5), 1, 50))
        .allSatisfy(ms -> assertThat(ms).isCloseTo(11.5, EXACT));
  }

  @Test
  void whatIsOutOfRangeIsRefusedByName() {
    assertThatThrownBy(() -> new Imperfection(1.1, false, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("kernelNoise: 1.1 is not 0 to 1");
    assertThatThrownBy(() -> new Imperfection(0, false, Double.NaN))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("hostMillis: NaN is not 0 to 1000000");
  }
}
