package io.fairlead.epp.status;

import io.fairlead.crds.report.PickerReport.SchedulerOff;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which external schedulers are out of use, without every stumble of theirs: told is what was so at
 * two looks in a row, and it stays told until it was not so at {@value #GOOD}.
 */
public final class SchedulerWatch {

  private static final int GOOD = 5;

  /** What was seen at the last look, and is told. */
  private static final class Seen {
    private Optional<SchedulerOff> last = Optional.empty();
    private Optional<SchedulerOff> told = Optional.empty();
    private int good;
  }

  private final Map<String, Seen> byShadow = new HashMap<>();

  /**
   * Looks.
   *
   * @param all every scheduler there is, by its shadow's name or {@code ""}, and how it is out of
   *     use; in the order in which they are to be told
   * @return those to tell of
   */
  public List<SchedulerOff> look(Map<String, Optional<SchedulerOff>> all) {
    byShadow.keySet().retainAll(all.keySet());
    List<SchedulerOff> told = new ArrayList<>();
    all.forEach(
        (shadow, now) -> {
          Seen seen = byShadow.computeIfAbsent(shadow, name -> new Seen());
          if (now.isPresent()) {
            seen.good = 0;
            boolean again = seen.last.isPresent();
            if (again && (seen.told.isEmpty() || seen.last.equals(now))) {
              seen.told = now;
            }
          } else if (++seen.good >= GOOD) {
            seen.told = Optional.empty();
          }
          seen.last = now;
          seen.told.ifPresent(told::add);
        });
    return told;
  }
}
