package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.Failure;
import io.fairlead.lab.simulator.ServerCondition.Answer;
import io.fairlead.lab.simulator.ServerEvent.Kind;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ServerConditionTest {

  private static final long TIMEOUT = 2_000_000_000;

  /** What each kind of fault does to a completion, a scrape, a probe and a look at its health. */
  @ParameterizedTest
  @CsvSource({
    "REFUSE, REFUSED, REFUSED, REFUSED, REFUSED",
    "RESTART, REFUSED, REFUSED, REFUSED, REFUSED",
    "SWALLOW, UNREACHABLE, UNREACHABLE, UNREACHABLE, UNREACHABLE",
    "FAIL_FAST, ERROR, , ERROR, ",
    "FAIL_LATE, ERROR, , ERROR, ",
    "FREEZE, , FIRST_BYTE_LATE, FIRST_BYTE_LATE, FIRST_BYTE_LATE",
    "FREEZE_LIVE, , , FIRST_BYTE_LATE, ",
    "SLOW, , , , ",
    "DRAIN, UNAVAILABLE, , UNAVAILABLE, ",
    "METRICS_GONE, , ERROR, , ",
    "UNHEALTHY, , , , UNAVAILABLE",
    "LEAVE, , , , ",
  })
  void whatTurnsOutHow(
      Kind kind,
      @Nullable Failure completion,
      @Nullable Failure scrape,
      @Nullable Failure probe,
      @Nullable Failure health) {
    ServerCondition condition = new ServerCondition();
    ServerEvent event = kind.of(0, 0, 1);
    condition.begin(event);

    assertThat(failure(condition.completion())).isEqualTo(completion);
    assertThat(failure(condition.scrape())).isEqualTo(scrape);
    assertThat(failure(condition.probe(true, TIMEOUT))).isEqualTo(probe);
    assertThat(failure(condition.probe(false, TIMEOUT))).isEqualTo(health);
    assertThat(condition.stopped()).isEqualTo(kind.word().matches("freeze.*|swallow"));
    assertThat(condition.slowness()).isEqualTo(kind == Kind.SLOW ? 10 : 1);

    condition.end(event);
    assertThat(failure(condition.completion())).isNull();
    assertThat(failure(condition.scrape())).isNull();
    assertThat(failure(condition.probe(true, TIMEOUT))).isNull();
    assertThat(failure(condition.probe(false, TIMEOUT))).isNull();
    assertThat(condition.stopped()).isFalse();
    assertThat(condition.slowness()).isEqualTo(1);
  }

  @Test
  void faultsOfOneKindEndOneByOne() {
    ServerCondition condition = new ServerCondition();
    ServerEvent twice = Kind.SLOW.of(0, 0, 5, 2);
    ServerEvent thrice = Kind.SLOW.of(0, 1, 1, 3);
    condition.begin(twice);
    condition.begin(thrice);
    assertThat(condition.slowness()).isEqualTo(3);
    condition.end(thrice);
    assertThat(condition.slowness()).isEqualTo(2);
    condition.end(twice);
    assertThat(condition.slowness()).isEqualTo(1);
  }

  private static @Nullable Failure failure(Answer answer) {
    return answer instanceof Answer.Failed(Failure failure, long _) ? failure : null;
  }
}
