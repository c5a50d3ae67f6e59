package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TransitionTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
  private static final Verdict YES = Verdict.yes(Reason.PROGRAMMED, "runs");
  private static final Verdict REFUSED = Verdict.no(Reason.CONFIG_REJECTED, "why");

  private static List<Condition> conditions(Verdict programmed, Verdict ready) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.PROGRAMMED, programmed);
    verdicts.put(ConditionType.READY, ready);
    verdicts.put(ConditionType.RECONCILING, Verdict.yes(Reason.PROGRESSING, "m"));
    return ConditionList.merge(List.of(), verdicts, 1, NOW);
  }

  @Test
  void whatIsNotYetKnownOfANewObjectIsNone() {
    Verdict pending = Verdict.pending("wait");
    assertThat(Transition.between(List.of(), conditions(pending, pending))).isEmpty();
  }

  @Test
  void stepsOnTheWayToReadyAreNone() {
    Verdict pending = Verdict.pending("wait");
    Verdict ready = Verdict.yes(Reason.READY, "serves");
    Transition end = new Transition(Reason.READY, "Ready is True: serves");
    assertThat(Transition.between(List.of(), conditions(YES, pending))).isEmpty();
    assertThat(Transition.between(conditions(pending, pending), conditions(YES, pending)))
        .isEmpty();
    assertThat(Transition.between(conditions(YES, pending), conditions(YES, ready)))
        .containsExactly(end);
    assertThat(Transition.between(List.of(), conditions(YES, ready))).containsExactly(end);
    assertThat(Transition.between(conditions(REFUSED, REFUSED), conditions(YES, ready)))
        .containsExactly(end);
  }

  /**
   * Its pods are brought up once: that they are is told when they are, and what keeps them away.
   */
  @Test
  void whatPassesByItselfIsNoneOfANewObject() {
    Verdict rollout = Verdict.no(Reason.ROLLOUT_IN_PROGRESS, "wait");
    Verdict pending = Verdict.pending("wait");
    assertThat(Transition.between(List.of(), conditions(pending, rollout))).isEmpty();
    assertThat(Transition.between(conditions(YES, YES), conditions(YES, rollout)))
        .containsExactly(new Transition(Reason.ROLLOUT_IN_PROGRESS, "Ready is False: wait"));
    assertThat(Transition.between(List.of(), conditions(pending, REFUSED)))
        .containsExactly(new Transition(Reason.CONFIG_REJECTED, "Ready is False: why"));
  }

  @Test
  void whatIsGoodInAnotherWayIsNone() {
    assertThat(
            Transition.between(
                models(Verdict.yes(Reason.NO_MODELS, "none")),
                models(Verdict.yes(Reason.ALL_ACCEPTED, "all"))))
        .isEmpty();
  }

  @Test
  void thatAKindWithoutReadyIsWellIsToldOfWhatItHas() {
    List<Condition> pending = objects(Verdict.pending("wait"));
    List<Condition> accepted = objects(Verdict.yes(Reason.ACCEPTED, "in the config"));
    Transition told = new Transition(Reason.ACCEPTED, "Accepted is True: in the config");
    assertThat(Transition.between(List.of(), accepted)).containsExactly(told);
    assertThat(Transition.between(pending, accepted)).containsExactly(told);
    assertThat(Transition.between(accepted, accepted)).isEmpty();
  }

  private static List<Condition> objects(Verdict accepted) {
    return ConditionList.merge(List.of(), Map.of(ConditionType.ACCEPTED, accepted), 1, NOW);
  }

  @Test
  void whatIsPutRightIsToldWhereReadyDoesNotTellIt() {
    assertThat(
            Transition.between(
                models(Verdict.no(Reason.MODEL_CONFLICTS, "two")),
                models(Verdict.yes(Reason.ALL_ACCEPTED, "all"))))
        .containsExactly(new Transition(Reason.ALL_ACCEPTED, "ModelsAccepted is True: all"));
    Verdict crash = Verdict.no(Reason.CRASH_LOOPING, "see its log");
    assertThat(Transition.between(conditions(REFUSED, crash), conditions(YES, crash)))
        .containsExactly(new Transition(Reason.PROGRAMMED, "Programmed is True: runs"));
  }

  @Test
  void aPauseIsToldAtOnce() {
    assertThat(
            Transition.between(
                List.of(),
                ConditionList.merge(
                    List.of(),
                    Map.of(
                        ConditionType.PAUSED, Verdict.yes(Reason.PAUSED_BY_SPEC, "by its author")),
                    1,
                    NOW)))
        .containsExactly(new Transition(Reason.PAUSED_BY_SPEC, "Paused is True: by its author"));
  }

  private static List<Condition> models(Verdict verdict) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.MODELS_ACCEPTED, verdict);
    verdicts.put(ConditionType.READY, Verdict.pending("wait"));
    return ConditionList.merge(List.of(), verdicts, 1, NOW);
  }

  @Test
  void saturationIsToldWhenItBeginsAndEnds() {
    List<Condition> unknown = saturated(Verdict.pending("wait"));
    List<Condition> room = saturated(Verdict.no(Reason.ROOM_FOR_REQUESTS, "room"));
    List<Condition> full = saturated(Verdict.yes(Reason.EVERY_ENDPOINT_FULL, "full"));
    assertThat(Transition.between(List.of(), room)).isEmpty();
    assertThat(Transition.between(unknown, room)).isEmpty();
    assertThat(Transition.between(List.of(), full)).hasSize(1);
    assertThat(Transition.between(room, full))
        .containsExactly(new Transition(Reason.EVERY_ENDPOINT_FULL, "Saturated is True: full"));
    assertThat(Transition.between(full, room))
        .containsExactly(new Transition(Reason.ROOM_FOR_REQUESTS, "Saturated is False: room"));
  }

  private static List<Condition> saturated(Verdict verdict) {
    return ConditionList.merge(List.of(), Map.of(ConditionType.SATURATED, verdict), 1, NOW);
  }

  @Test
  void nothingIsToldTwice() {
    List<Condition> conditions = conditions(YES, REFUSED);
    assertThat(Transition.between(conditions, conditions)).isEmpty();
    Verdict other = Verdict.no(Reason.CONFIG_REJECTED, "of other words");
    assertThat(Transition.between(conditions, conditions(YES, other))).isEmpty();
  }

  @Test
  void conditionsThatFailTogetherAreToldTogether() {
    Verdict all = Verdict.no(Reason.CONFIG_REJECTED, "why. And more");
    assertThat(Transition.between(conditions(YES, YES), conditions(REFUSED, all)))
        .containsExactly(
            new Transition(Reason.CONFIG_REJECTED, "Programmed, Ready are False: why. And more"));
  }

  @Test
  void anotherReasonIsOneAlsoWhereTheStatusStays() {
    Verdict crash = Verdict.no(Reason.CRASH_LOOPING, "see its log");
    assertThat(Transition.between(conditions(YES, REFUSED), conditions(YES, crash)))
        .containsExactly(new Transition(Reason.CRASH_LOOPING, "Ready is False: see its log"));
  }

  /** Each start of a picker makes what is known of them unknown for a while. */
  @Test
  void onlyThatATargetIsNotServedIsToldAndThatItIsAgain() {
    Verdict served = Verdict.yes(Reason.TARGETS_SERVED, "all");
    Verdict missing = Verdict.no(Reason.TARGET_MODEL_NOT_SERVED, "none");
    Verdict unknown = new Verdict(Verdict.State.UNKNOWN, Reason.NOT_REPORTED, "?", null);
    assertThat(targets(unknown, served)).isEmpty();
    assertThat(targets(served, unknown)).isEmpty();
    assertThat(targets(unknown, Verdict.pending("wait"))).isEmpty();
    assertThat(targets(unknown, missing))
        .containsExactly(
            new Transition(Reason.TARGET_MODEL_NOT_SERVED, "TargetsAvailable is False: none"));
    assertThat(targets(missing, unknown)).isEmpty();
    assertThat(targets(missing, served))
        .containsExactly(new Transition(Reason.TARGETS_SERVED, "TargetsAvailable is True: all"));
  }

  private static List<Transition> targets(Verdict before, Verdict after) {
    return Transition.between(
        ConditionList.merge(List.of(), ofModel(before), 1, NOW),
        ConditionList.merge(List.of(), ofModel(after), 1, NOW));
  }

  private static Map<ConditionType, Verdict> ofModel(Verdict targets) {
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>();
    verdicts.put(ConditionType.TARGETS_AVAILABLE, targets);
    verdicts.put(ConditionType.READY, Verdict.yes(Reason.READY, "serves"));
    return verdicts;
  }
}
