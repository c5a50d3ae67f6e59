package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.lab.simulator.Membership.Change;
import io.fairlead.lab.simulator.Membership.Member;
import io.fairlead.stub.engine.EngineProfile;
import io.fairlead.stub.profile.EngineProfiles;
import java.util.List;
import org.junit.jupiter.api.Test;

final class MembershipTest {

  private static final PoolSpec POOL = PoolSpec.parse("2xh100-8b+1xl40s-8b");
  private static final EngineProfile H100 = EngineProfiles.shipped().named("h100-8b");
  private static final EngineProfile L40S = EngineProfiles.shipped().named("l40s-8b");

  private static Membership of(String events) {
    return Membership.of(POOL, Scenario.line(events).events(100));
  }

  @Test
  void newServersGetTheNextNumbers() {
    Membership membership =
        of("kind=join,at=9s,engine=l40s-8b;kind=join,at=3s,count=2,firstRequest=5s");

    assertThat(membership.members())
        .containsExactly(
            new Member(H100, Site.ANY, 0, 0),
            new Member(H100, Site.ANY, 0, 0),
            new Member(L40S, Site.ANY, 0, 0),
            new Member(H100, Site.ANY, 3, 5),
            new Member(H100, Site.ANY, 3, 5),
            new Member(L40S, Site.ANY, 9, 0));
    assertThat(membership.changes())
        .containsExactly(new Change(3, 3, true), new Change(3, 4, true), new Change(9, 5, true));
  }

  @Test
  void oneThatLeavesComesBackWhenNothingKeepsItAwayAnyMore() {
    assertThat(of("kind=leave,server=1,at=2s,for=4s").changes())
        .containsExactly(new Change(2, 1, false), new Change(6, 1, true));
    assertThat(of("kind=leave,server=1,at=2s,for=4s;kind=leave,server=1,at=3s,for=8s").changes())
        .containsExactly(new Change(2, 1, false), new Change(11, 1, true));
    assertThat(of("kind=leave,server=1,at=2s").changes()).containsExactly(new Change(2, 1, false));
  }

  @Test
  void scalingCountsThoseThatAreThereAndTakesTheLatest() {
    Membership membership =
        of("kind=leave,server=1,at=1s;kind=scale,servers=4,at=2s;kind=scale,servers=1,at=3s");

    assertThat(membership.changes())
        .isEqualTo(
            List.of(
                new Change(1, 1, false),
                new Change(2, 3, true),
                new Change(2, 4, true),
                new Change(3, 4, false),
                new Change(3, 3, false),
                new Change(3, 2, false)));
  }

  @Test
  void whereNobodyComesOrGoesNothingChanges() {
    Membership membership = of("kind=slow,server=0;kind=restart-picker,picker=0");

    assertThat(membership.members()).hasSize(3);
    assertThat(membership.changes()).isEmpty();
  }
}
