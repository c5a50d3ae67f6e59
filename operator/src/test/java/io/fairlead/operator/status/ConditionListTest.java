package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.fabric8.kubernetes.api.model.Condition;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConditionListTest {

  /** It would be written anew each time that it is compared with what the API server has. */
  @ParameterizedTest
  @ValueSource(ints = {1021, 1022, 1023, 1024})
  void aLongMessageIsCutBetweenCharacters(int before) {
    String message = "x".repeat(before) + "\uD83D\uDE00" + "y".repeat(50);
    List<Condition> written =
        ConditionList.merge(
            List.of(),
            Map.of(ConditionType.READY, Verdict.no(Reason.EPP_UNAVAILABLE, message)),
            1,
            Instant.EPOCH);
    String told = written.getFirst().getMessage();
    assertThat(told).hasSizeLessThanOrEqualTo(1024).endsWith("…");
    assertThat(new String(told.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8))
        .isEqualTo(told);
  }

  /** Who waits for an edit to be looked at goes by the generation. */
  @Test
  void whatIsKeptStaysOfTheGenerationThatWasLookedAt() {
    List<Condition> before =
        ConditionList.merge(
            List.of(),
            Map.of(ConditionType.ACCEPTED, Verdict.yes(Reason.ACCEPTED, "It is")),
            1,
            Instant.EPOCH);
    Map<ConditionType, Verdict> verdicts = new LinkedHashMap<>(ConditionList.judged(before));
    verdicts.put(ConditionType.READY, Verdict.no(Reason.POOL_TERMINATING, "It goes"));
    List<Condition> after = ConditionList.merge(before, verdicts, 2, Instant.EPOCH);
    assertThat(after)
        .extracting(Condition::getType, Condition::getObservedGeneration)
        .containsExactly(tuple("Accepted", 1L), tuple("Ready", 2L));
    assertThat(ConditionList.same(after, ConditionList.merge(after, verdicts, 2, Instant.EPOCH)))
        .as("written once")
        .isTrue();
  }
}
