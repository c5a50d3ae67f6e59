package io.fairlead.lab.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.workload.Arrival;
import io.fairlead.lab.workload.Traffic;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class ScenariosTest {

  private static final List<Scenario> ALL = new Scenarios(50, 3, 20, 12).all();

  @Test
  void eachHasANameOfItsOwnAndGoesOnAfterItIsOver() {
    assertThat(ALL).extracting(Scenario::name).doesNotHaveDuplicates();
    assertThat(ALL)
        .allSatisfy(
            scenario -> {
              assertThat(scenario.what()).isNotBlank();
              assertThat(scenario.bars()).flatExtracting(Bar::ways).contains("gateway", "extproc");
              assertThat(scenario.sick()).allMatch(server -> server < scenario.servers());
              assertThat(scenario.onset()).isLessThan(scenario.well());
              assertThat(scenario.well()).isLessThanOrEqualTo(scenario.end());
              assertThat(scenario.steps()).allMatch(step -> step.at() <= scenario.well());
            });
  }

  /** In two servers, all of what happens takes some ten minutes. */
  @Test
  void theyTakeAboutAQuarterOfAnHour() {
    assertThat(ALL.stream().mapToDouble(Scenario::end).sum()).isBetween(600.0, 900.0);
  }

  @Test
  void burstsComeTogetherAndAtTheSameRate() {
    Scenario burst =
        ALL.stream().filter(each -> each.name().equals("burst")).findFirst().orElseThrow();
    Traffic traffic = burst.load().start(1);
    List<Arrival> arrivals = new ArrayList<>();
    for (int i = 0; i < 150; i++) {
      arrivals.add(Objects.requireNonNull(traffic.next()));
    }

    for (int i = 0; i < 3; i++) {
      long begin = arrivals.get(50 * i).atNanos();
      assertThat(begin).isEqualTo(4_000_000_000L * (i + 1));
      assertThat(arrivals.get(50 * i + 49).atNanos() - begin).isEqualTo(122_500_000);
    }
  }
}
