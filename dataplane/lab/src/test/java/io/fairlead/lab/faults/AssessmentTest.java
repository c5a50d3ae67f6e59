package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.faults.Finding.Part;
import io.fairlead.lab.load.Answered;
import io.fairlead.lab.load.Answered.Outcome;
import io.fairlead.lab.workload.RequestShape;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class AssessmentTest {

  private static final RequestShape SHAPE = new RequestShape("m", "", new long[0], 4, 4);

  /** Server a is sick from 10 s to 40 s. */
  private static final Scenario SCENARIO =
      new Scenario(
          "s", "w", 2, Set.of(0), Load.of(1), 10, 40, 60, List.of(), List.of(Bar.USED_AGAIN));

  private final List<Answered> answers = new ArrayList<>();
  private final Sends sent = new Sends(2);
  private final Sends heard = new Sends(2);

  private void answer(double at, Outcome outcome, String kind, String endpoint, long millis) {
    answers.add(
        new Answered(
            SHAPE,
            false,
            Duration.ofMillis((long) (at * 1e3) - 30),
            Duration.ofMillis((long) (at * 1e3)),
            outcome,
            kind,
            Duration.ofMillis(millis),
            endpoint,
            ""));
  }

  private Finding finding(Scenario scenario) {
    return new Assessment(scenario, "gateway", List.of("a", "b"), answers, sent, heard).finding();
  }

  @Test
  void tellsThePartsOfTheTimeApart() {
    answer(9, Outcome.FAILED, "incomplete", "", 5);
    answer(10, Outcome.FAILED, "500", "a", 0);
    answer(12, Outcome.SUCCEEDED, "", "b", 20);
    answer(25, Outcome.FAILED, "503", "", 0);
    answer(26, Outcome.SUCCEEDED, "", "b", 40);
    answer(27, Outcome.REJECTED, "429", "", 0);
    answer(39, Outcome.SUCCEEDED, "", "b", 60);
    answer(41, Outcome.FAILED, "500", "a", 0);
    answer(50, Outcome.SUCCEEDED, "", "a", 1_000);

    Finding found = finding(SCENARIO);
    assertThat(found.requests()).isEqualTo(9);
    assertThat(found.failed()).isEqualTo(4);
    assertThat(found.cut()).isEqualTo(1);
    assertThat(found.rejected()).isEqualTo(1);
    assertThat(found.kinds()).isEqualTo(Map.of("500", 2L, "503", 1L, "incomplete", 1L, "429", 1L));
    assertThat(found.first()).isEqualTo(new Part(2, 1));
    assertThat(found.later()).isEqualTo(new Part(4, 1));
    assertThat(found.after()).isEqualTo(new Part(2, 1));
    assertThat(found.failedLongAfter()).isZero();
    assertThat(found.firstByteP50Ms()).isEqualTo(40);
    assertThat(found.firstByteP99Ms()).isEqualTo(60);
    assertThat(found.secondsUntilRight()).isEqualTo(31);
    assertThat(found.usedAgainSeconds()).isEqualTo(10);
    assertThat(found.busiestShare()).isEqualTo(0.75);
    assertThat(found.leastSickShare()).isEqualTo(1);
    assertThat(found.clientLagMs()).isEqualTo(30);
    assertThat(found.problems()).isEmpty();
  }

  @Test
  void aClientThatFallsBehindIsAProblem() {
    answers.add(
        new Answered(
            SHAPE,
            false,
            Duration.ofSeconds(44),
            Duration.ofMillis(45_200),
            Outcome.SUCCEEDED,
            "",
            Duration.ofMillis(10),
            "a",
            ""));

    assertThat(finding(SCENARIO).problems()).containsExactly("the client was late by 1200 ms");
  }

  @Test
  void aServerThatFailsSomeMayCostExtprocTwoPercent() {
    Scenario some = SCENARIO.holdingTo(Bar.EXTPROC_FAILS_FEW);
    for (int i = 0; i < 100; i++) {
      boolean fails = i < 2;
      answer(11 + i / 5.0, fails ? Outcome.FAILED : Outcome.SUCCEEDED, fails ? "500" : "", "a", 9);
    }
    answer(45, Outcome.SUCCEEDED, "", "a", 9);
    assertThat(extproc(some).missed()).isEmpty();

    answer(39, Outcome.FAILED, "500", "a", 9);
    assertThat(extproc(some).missed()).containsExactly("<= 2 % failed while it lasted");
    assertThat(finding(some).missed()).as("of the gateway").isEmpty();
  }

  private Finding extproc(Scenario scenario) {
    return new Assessment(scenario, "extproc", List.of("a", "b"), answers, sent, heard).finding();
  }

  @Test
  void aServerThatIsNeverUsedAgainIsTold() {
    answer(50, Outcome.SUCCEEDED, "", "b", 10);

    Finding found = finding(SCENARIO);
    assertThat(found.usedAgainSeconds()).isNull();
    assertThat(found.secondsUntilRight()).isNull();
    assertThat(found.missed()).containsExactly("used again within 10 s");
  }

  @Test
  void countsWhatIsSentToTheSick() {
    for (int second = 0; second <= 60; second++) {
      boolean known = second > 12;
      sent.look(second, new long[] {known ? 12 : second, second});
      heard.look(second, new long[] {known ? 12 + second / 10 : second, second});
    }

    Finding found = finding(SCENARIO);
    assertThat(found.sentToSick()).isZero();
    assertThat(found.heardBySick()).isEqualTo(4);
    assertThat(found.leastInUse()).isEqualTo(1);
    assertThat(found.sent().get("a"))
        .startsWith(1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 1L, 0L, 0L);
  }

  @Test
  void whoNobodyIsSentToWhileAllAreSickIsLockedOut() {
    Scenario all =
        new Scenario(
            "all",
            "w",
            2,
            Set.of(0, 1),
            Load.of(1),
            10,
            40,
            60,
            List.of(),
            List.of(Bar.HALF_IN_USE, Bar.WELL_AGAIN));
    sent.look(0, new long[2]);
    sent.look(60, new long[2]);
    answer(46, Outcome.FAILED, "503", "", 0);

    assertThat(finding(all).missed())
        .containsExactly("half in use at any time", "0 failed from 5 s after it was well");
  }
}
