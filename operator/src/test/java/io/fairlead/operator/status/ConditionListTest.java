package io.fairlead.operator.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Condition;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
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
}
