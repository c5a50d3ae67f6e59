package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SubsetTest {

  @Test
  void allowsTheNamedPortsOfAnAddressAndAllWhereNoneIsNamed() {
    Subset subset =
        new Subset(
            List.of("10.0.0.1:8000", " 10.0.0.1:8001", "10.0.0.2", "[fd00::1]:8000", "fd00::2"));

    assertThat(subset.allows("10.0.0.1", 8000)).isTrue();
    assertThat(subset.allows("10.0.0.1", 8001)).isTrue();
    assertThat(subset.allows("10.0.0.1", 8002)).isFalse();
    assertThat(subset.allows("10.0.0.2", 1)).isTrue();
    assertThat(subset.allows("fd00::1", 8000)).isTrue();
    assertThat(subset.allows("fd00::1", 8001)).isFalse();
    assertThat(subset.allows("fd00::2", 9)).isTrue();
    assertThat(subset.allows("10.0.0.3", 8000)).isFalse();
  }

  @Test
  void whatNamesNoAddressAllowsNothing() {
    Subset subset = new Subset(List.of("", ":8000", "10.0.0.1:", "10.0.0.1:99999", "10.0.0.1:x"));

    assertThat(subset.allows("10.0.0.1", 8000)).isFalse();
    assertThat(subset.allows("", 8000)).isFalse();
  }

  @Test
  void isTheSameForTheSameEntries() {
    assertThat(new Subset(List.of("a:1", "b:2"))).isEqualTo(new Subset(List.of("a:1", "b:2")));
    assertThat(new Subset(List.of("a:1", "b:2"))).isNotEqualTo(new Subset(List.of("b:2", "a:1")));
    // Texts whose hashes are the same.
    assertThat(new Subset(List.of("Aa"))).isNotEqualTo(new Subset(List.of("BB")));
  }
}
