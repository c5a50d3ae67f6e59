package io.fairlead.lab.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class PoolSpecTest {

  @Test
  void readsGroups() {
    assertThat(PoolSpec.parse("2xh100-8b+1xl40s-8b").engines())
        .extracting(engine -> engine.name())
        .containsExactly("h100-8b", "h100-8b", "l40s-8b");
  }

  @Test
  void saysWhatAGroupIsThereFor() {
    PoolSpec pool = PoolSpec.parse("1xh100-8b*1.5:prefill+1xh100-8b:decode+1xh100-8b");

    assertThat(pool.sites()).extracting(Site::role).containsExactly("prefill", "decode", "");
    assertThat(pool.hasRoles()).isTrue();
    assertThat(PoolSpec.parse("2xh100-8b").hasRoles()).isFalse();
  }

  @Test
  void slowsAGroupDown() {
    PoolSpec pool = PoolSpec.parse("1xh100-8b*1.5+1xh100-8b");

    assertThat(pool.engines().get(0).b()).isEqualTo(1.5 * pool.engines().get(1).b());
    assertThat(pool.text()).isEqualTo("1xh100-8b*1.5+1xh100-8b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "h100-8b",
        "xh100-8b",
        "0xh100-8b",
        "2xh100-8b+",
        "99999xh100-8b",
        "1xh100-8b*1.2.3",
        "1xh100-8b:cook",
        "1xh100-8b*0"
      })
  void refusesWhatIsNone(String text) {
    assertThatThrownBy(() -> PoolSpec.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("pool: ");
  }

  @Test
  void namesTheEnginesThereAre() {
    assertThatThrownBy(() -> PoolSpec.parse("2xgpu"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("h100-8b, ");
  }
}
