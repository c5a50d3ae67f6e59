package io.fairlead.stub.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FaultsTest {

  private static final Duration WHILE = Duration.ofSeconds(5);

  private final List<Runnable> timers = new ArrayList<>();
  private final Faults faults =
      new Faults(
          new Faults.Effects() {
            @Override
            public void changed() {}

            @Override
            public void after(Duration time, Runnable then) {
              assertThat(time).isEqualTo(WHILE);
              timers.add(then);
            }

            @Override
            public void resetCache() {}

            @Override
            public void restart() {}

            @Override
            public void kill() {}
          });

  @ParameterizedTest
  @ValueSource(doubles = {0, 0.01, 0.3, 0.5, 0.99, 1})
  void aShareOfRequestsFailsInAnyStretchOfThem(double share) {
    faults.begin(Fault.ERROR_SHARE, share);

    for (int stretch = 0; stretch < 50; stretch++) {
      int failed = 0;
      for (int i = 0; i < 200; i++) {
        failed += faults.next() instanceof Faults.Verdict.Fail ? 1 : 0;
      }
      assertThat(failed).isBetween((int) (200 * share - 2), (int) (200 * share + 2));
    }
  }

  @Test
  void aFaultEndsWhenItsTimeIsUp() {
    faults.begin(Map.of(Fault.DRAIN, true, Fault.HEALTH_STATUS, 503), WHILE);
    assertThat(faults.state().fields()).isEqualTo(Map.of("drain", true, "healthStatus", 503));

    timers.removeFirst().run();
    assertThat(faults.state()).isEqualTo(FaultState.NONE);
  }

  @Test
  void onlyItsOwnTimeEndsAFault() {
    faults.begin(Map.of(Fault.DRAIN, true, Fault.STALL, true), WHILE);
    faults.begin(Fault.STALL, true);
    timers.removeFirst().run();
    assertThat(faults.state().fields()).isEqualTo(Map.of("stall", true));

    faults.begin(Map.of(Fault.STALL, true), WHILE);
    faults.clear();
    faults.begin(Map.of(Fault.STALL, true), WHILE);
    timers.removeFirst().run();
    assertThat(faults.state().is(Fault.STALL)).isTrue();
    timers.removeFirst().run();
    assertThat(faults.state()).isEqualTo(FaultState.NONE);
  }

  @Test
  void aFailureIsAsItWasOrdered() {
    faults.begin(
        Map.of(
            Fault.ERROR_SHARE,
            1,
            Fault.ERROR_STATUS,
            503,
            Fault.ERROR_BODY,
            false,
            Fault.ERROR_AFTER_SECONDS,
            1.5));

    assertThat(faults.next())
        .isEqualTo(new Faults.Verdict.Fail(ApiError.bare(503), Duration.ofMillis(1_500)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ERROR_SHARE | 1.5 | errorShare: 1.5 is not in 0..1",
        "ERROR_STATUS | 404 | errorStatus: 404 is not in 500..599",
        "RESET_NEXT | -1 | resetNext: -1 is not >= 0",
        "SLOWED_BY | 0 | slowedBy: 0.0 is not in 0.01..1000000",
      })
  void aValueOutOfRangeIsToldWithItsField(Fault fault, double value, String message) {
    Object given = fault.none() instanceof Integer ? (Object) (int) value : (Object) value;

    assertThatIllegalArgumentException()
        .isThrownBy(() -> faults.begin(fault, given))
        .withMessage(message);
    assertThat(faults.state()).isEqualTo(FaultState.NONE);
  }

  @Test
  void aValueOfAnotherTypeIsToldWithItsField() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> faults.begin(Fault.REFUSE, 1))
        .withMessage("refuse: true or false is needed");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> faults.begin(Fault.HEALTH_STATUS, 503.5))
        .withMessage("healthStatus: an integer is needed");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> faults.begin(Fault.ERROR_SHARE, "half"))
        .withMessage("errorShare: a number is needed");
  }
}
