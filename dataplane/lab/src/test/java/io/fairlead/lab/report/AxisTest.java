package io.fairlead.lab.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.report.Axis.Tick;
import io.fairlead.lab.simulator.Distribution;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

final class AxisTest {

  @Test
  void millisHaveDecadesOrStepsBetweenThem() {
    assertThat(Axis.millis(12, 800).ticks().stream().map(Tick::label))
        .containsExactly("20 ms", "50 ms", "100 ms", "200 ms", "500 ms");
    assertThat(Axis.millis(0.5, 90_000).ticks().stream().map(Tick::label))
        .containsExactly("1 ms", "10 ms", "100 ms", "1 s", "10 s");
  }

  @Test
  void withinADecadeThereAreMoreTicks() {
    assertThat(Axis.millis(1_400, 5_500).ticks().stream().map(Tick::label))
        .containsExactly("1.5 s", "2 s", "3 s", "4 s", "5 s");
  }

  @Test
  void placesValuesByTheirLogarithmAndKeepsThemOnTheAxis() {
    Axis axis = Axis.millis(1, 10_000);

    assertThat(axis.at(100, 0, 400)).isCloseTo(200, Offset.offset(1e-9));
    assertThat(axis.at(0, 0, 400)).isZero();
    assertThat(axis.at(1e9, 0, 400)).isCloseTo(400, Offset.offset(1e-9));
  }

  @Test
  void aTailHasAsMuchRoomPerDecadeAsTheBody() {
    Axis axis = Axis.tail();

    assertThat(axis.at(1, 300, 0)).isCloseTo(0, Offset.offset(1e-9));
    assertThat(axis.at(0.1, 300, 0)).isCloseTo(100, Offset.offset(1e-9));
    assertThat(axis.at(0.01, 300, 0)).isCloseTo(200, Offset.offset(1e-9));
    assertThat(axis.at(0, 300, 0)).isCloseTo(300, Offset.offset(1e-9));
    assertThat(axis.ticks().stream().map(Tick::label))
        .containsExactly("p99.9", "p99", "p90", "p50", "0");
  }

  @Test
  void aLineOfATailRunsThroughTheQuantilesOfTables() {
    double[] waits = IntStream.rangeClosed(0, 1_000).asDoubleStream().toArray();
    Cdf cdf = Cdf.of(List.of(Distribution.of(waits)), 31);

    assertThat(cdf.left()[10]).isCloseTo(0.1, Offset.offset(1e-9));
    assertThat(cdf.values()[10]).isEqualTo(900);
    assertThat(cdf.values()[20]).isEqualTo(990);
    assertThat(cdf.high()).isEqualTo(999);
  }

  @Test
  void linearStepsAreRound() {
    assertThat(Axis.linear(37).ticks().stream().map(Tick::label))
        .containsExactly("0", "10", "20", "30");
    assertThat(Axis.seconds(88).ticks().stream().map(Tick::label))
        .containsExactly("0 s", "20 s", "40 s", "60 s", "80 s");
    assertThat(Axis.linear(0).ticks()).isNotEmpty();
  }

  @Test
  void countsShowSmallAndLargeOnes() {
    Axis axis = Axis.counts(2_000);

    assertThat(axis.ticks().stream().map(Tick::label))
        .containsExactly("0", "1", "10", "100", "1000");
    assertThat(Axis.counts(5_000).ticks().get(1).label()).isEqualTo("10");
    assertThat(axis.at(0, 100, 0)).isEqualTo(100);
    assertThat(axis.at(2_000, 100, 0)).isCloseTo(0, Offset.offset(1e-9));
  }

  @Test
  void copesWithNoValuesAtAll() {
    assertThat(Axis.millis(Double.NaN, Double.NaN).ticks()).isNotEmpty();
    assertThat(Axis.counts(Double.NEGATIVE_INFINITY).ticks()).isNotEmpty();
    assertThat(Axis.linear(Double.NaN).ticks()).isNotEmpty();
    assertThat(Axis.millis(5, 5).high()).isGreaterThan(5);
  }
}
