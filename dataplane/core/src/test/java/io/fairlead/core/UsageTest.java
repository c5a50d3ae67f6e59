package io.fairlead.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class UsageTest {

  private static Usage told(int prompt, int completion, int cached, int events, int most) {
    return new Usage(prompt, completion, cached, events).plausible(most);
  }

  @Test
  void whatMayBeStaysAsItIs() {
    Usage usage = new Usage(120_000, 4_000, 100_000, 4_002);
    assertThat(usage.plausible(-1)).isSameAs(usage);
    assertThat(usage.plausible(4_000)).isSameAs(usage);
    assertThat(Usage.UNKNOWN.plausible(1)).isSameAs(Usage.UNKNOWN);
    assertThat(told(100, 800, 0, 0, 100).completionTokens()).as("eight answers").isEqualTo(800);
    assertThat(told(5_000, 8_000, 0, 0, 16).completionTokens()).as("500 prompts").isEqualTo(8_000);
  }

  @Test
  void whatCannotBeIsUnknown() {
    assertThat(told(100, 2_000_000_000, 0, 0, -1)).isEqualTo(new Usage(100, -1, 0));
    assertThat(told(100, 100_000, 0, 3, -1)).isEqualTo(new Usage(100, -1, 0, 3));
    assertThat(told(100, 100_000, 0, 0, 16)).isEqualTo(new Usage(100, -1, 0));
    assertThat(told(2_000_000_000, 10, 50, 0, -1)).isEqualTo(new Usage(-1, 10, -1));
    assertThat(told(100, 10, 101, 0, -1)).isEqualTo(new Usage(100, 10, -1));
  }
}
