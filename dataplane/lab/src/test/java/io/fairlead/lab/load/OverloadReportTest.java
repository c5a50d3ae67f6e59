package io.fairlead.lab.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fairlead.crds.config.Criticality;
import io.fairlead.lab.Way;
import io.fairlead.lab.load.Answered.Outcome;
import io.fairlead.lab.load.OverloadReport.Phase;
import io.fairlead.lab.load.OverloadReport.Served;
import io.fairlead.lab.workload.RequestShape;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OverloadReportTest {

  private static final String GOOD =
      "--way ours,http://a --way theirs,http://b --servers http://c,http://d --rate 18 --factors"
          + " 0.5,1,2 --seconds 60 --stream-share 1 --seed 7 --report r.json";

  private static Answered answer(boolean stream, Outcome outcome, int millis) {
    return new Answered(
        new RequestShape("critical", "", new long[0], 10, 10),
        stream,
        Duration.ZERO,
        Duration.ZERO,
        outcome,
        "",
        Duration.ofMillis(millis),
        "",
        "");
  }

  private static Served served(long good, long refused, long failed) {
    return new Served(100, good, good, refused, failed, 100, 200);
  }

  private static Phase phase(double factor, String way, Served critical, Served sheddable) {
    return new Phase(
        factor,
        way,
        Map.of(Criticality.CRITICAL, critical, Criticality.SHEDDABLE, sheddable),
        new EngineQueues.Waiting(10, 1, 2));
  }

  private static OverloadReport of(Phase... phases) {
    return new OverloadReport(18, 10, 1, 7, List.of(phases));
  }

  @Test
  void answersAreGoodThatBeginSoonAndWholeOnesThatMayHave() {
    Served served =
        Served.of(
            List.of(
                answer(true, Outcome.SUCCEEDED, 1_000),
                answer(true, Outcome.SUCCEEDED, 1_001),
                answer(false, Outcome.SUCCEEDED, 2_000),
                answer(false, Outcome.SUCCEEDED, 2_001),
                answer(true, Outcome.REJECTED, 1),
                answer(true, Outcome.FAILED, 0)));
    assertThat(served)
        .returns(6L, Served::sent)
        .returns(4L, Served::served)
        .returns(2L, Served::good)
        .returns(1L, Served::refused)
        .returns(1L, Served::failed);
    assertThat(served.p99Millis()).isBetween(1_000.0, 1_002.0);
  }

  @Test
  void overloadMayTakeFivePercentOfWhatIsGoodAtCapacity() {
    Phase atCapacity = phase(1, "ours", served(100, 0, 0), served(100, 0, 0));
    assertThat(of(atCapacity, phase(2, "ours", served(100, 0, 0), served(90, 10, 0))).problems())
        .isEmpty();
    assertThat(of(atCapacity, phase(2, "ours", served(100, 0, 0), served(89, 11, 0))).problems())
        .containsExactly("ours at 2.0 ×: 189 good answers, 200 at capacity");
  }

  @Test
  void noCriticalRequestIsRefusedAndNoneFails() {
    Phase atCapacity = phase(1, "ours", served(99, 1, 0), served(98, 0, 2));
    assertThat(of(atCapacity).problems())
        .containsExactly(
            "ours at 1.0 ×: 2 requests failed", "ours at 1.0 ×: 1 critical requests were refused");
  }

  @Test
  void theOtherWaysAreNotJudged() {
    Phase atCapacity = phase(1, "ours", served(100, 0, 0), served(100, 0, 0));
    assertThat(of(atCapacity, phase(2, "theirs", served(1, 9, 9), served(0, 0, 0))).problems())
        .isEmpty();
  }

  @Test
  void theTableHasALineForEachCriticality() {
    assertThat(OverloadReport.lines(phase(2, "ours", served(50, 25, 3), served(40, 60, 0)), 10))
        .contains(
            "| 2.00 × | ours | Critical | 10.0 | 5.0 | 50.0 % | 25.0 % | 3 | 100 | 200 | 1 | 2 |");
  }

  @Test
  void readsItsOptions() {
    OverloadOptions options = OverloadOptions.parse(GOOD.split(" "));
    assertThat(options.ways()).extracting(Way::name).containsExactly("ours", "theirs");
    assertThat(options.servers()).hasSize(2);
    assertThat(options.factors()).containsExactly(0.5, 1.0, 2.0);
  }

  @Test
  void refusesWhatCantBeJudged() {
    assertThatThrownBy(() -> OverloadOptions.parse(GOOD.replace("0.5,1,2", "0.5,2").split(" ")))
        .hasMessageContaining("--factors needs a 1");
    assertThatThrownBy(() -> OverloadOptions.parse(GOOD.replace("0.5,1,2", "1,x").split(" ")))
        .hasMessageContaining("--factors must be numbers");
    assertThatThrownBy(() -> OverloadOptions.parse(GOOD.replace("ours,", "").split(" ")))
        .hasMessageContaining("expected NAME,URL,PROCESS=PID..., got http://a");
    assertThatThrownBy(
            () -> OverloadOptions.parse(GOOD.replace("--rate 18", "--rate 0").split(" ")))
        .hasMessageContaining("--rate and --factors must be above 0");
  }
}
