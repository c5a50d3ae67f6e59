package io.fairlead.epp.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.crds.report.PickerReport.SchedulerOff;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SchedulerWatchTest {

  private static final SchedulerOff GONE = new SchedulerOff(null, false, "it is gone");
  private static final SchedulerOff LATE = new SchedulerOff(null, true, "it is late");

  private final SchedulerWatch watch = new SchedulerWatch();

  private List<SchedulerOff> look(SchedulerOff... off) {
    return watch.look(Map.of("", off.length == 0 ? Optional.empty() : Optional.of(off[0])));
  }

  @Test
  void aStumbleIsNotToldAndWhatLastsIs() {
    assertThat(look(GONE)).isEmpty();
    assertThat(look()).isEmpty();
    assertThat(look(GONE)).isEmpty();
    assertThat(look(GONE)).containsExactly(GONE);
  }

  @Test
  void itStaysToldUntilAllHasBeenWellForAWhile() {
    look(GONE);
    look(GONE);
    for (int round = 0; round < 3; round++) {
      for (int i = 0; i < 4; i++) {
        assertThat(look()).containsExactly(GONE);
      }
      assertThat(look(LATE)).as("another reason, once").containsExactly(GONE);
    }
    assertThat(look(LATE)).containsExactly(LATE);
    for (int i = 0; i < 4; i++) {
      assertThat(look()).containsExactly(LATE);
    }
    assertThat(look()).isEmpty();
  }

  @Test
  void eachIsWatchedByItselfAndOneThatIsGoneIsForgotten() {
    SchedulerOff tried = new SchedulerOff("tried", false, "it is gone");
    Map<String, Optional<SchedulerOff>> both = new LinkedHashMap<>();
    both.put("", Optional.of(LATE));
    both.put("tried", Optional.of(tried));
    watch.look(both);
    assertThat(watch.look(both)).containsExactly(LATE, tried);
    assertThat(watch.look(Map.of())).isEmpty();
    assertThat(watch.look(both)).isEmpty();
  }
}
