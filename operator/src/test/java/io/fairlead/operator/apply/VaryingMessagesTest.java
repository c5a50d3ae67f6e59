package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VaryingMessagesTest {
  private final AtomicLong nanos = new AtomicLong();
  private final VaryingMessages<String> messages =
      new VaryingMessages<>(Duration.ofMinutes(5), nanos::get);

  @Test
  void otherWordsAreToldTwiceAtOnceThenRarely() {
    Set<String> told = new HashSet<>();
    for (int second = 0; second < 3600; second++) {
      told.add(messages.of("a", 500, "it is " + second));
      pass(Duration.ofSeconds(1));
    }
    assertThat(told).contains("it is 0", "it is 1", "it is 2").hasSize(3 + 11);
  }

  @Test
  void whatStaysIsToldAsItIsAndSpendsNothing() {
    for (int i = 0; i < 100; i++) {
      assertThat(messages.of("a", 500, "it is so")).isEqualTo("it is so");
    }
    assertThat(messages.of("a", 500, "another")).isEqualTo("another");
    assertThat(messages.of("b", 500, "of another")).isEqualTo("of another");
  }

  @Test
  void whatIsSaidAfterItWasWellIsNews() {
    for (int i = 0; i < 10; i++) {
      var _ = messages.of("a", 500, "it is " + i);
    }
    messages.end("a");
    assertThat(messages.of("a", 500, "quite another thing")).isEqualTo("quite another thing");
    assertThat(messages.of("a", 500, "and one more")).isEqualTo("quite another thing");
  }

  /** Such as a quota, after a webhook that failed in other words each time was mended. */
  @Test
  void anotherCauseIsToldAtOnce() {
    for (int i = 0; i < 10; i++) {
      var _ = messages.of("a", 500, "it is " + i);
    }
    assertThat(messages.of("a", 403, "the quota")).isEqualTo("the quota");
    assertThat(messages.of("a", 403, "the quota")).isEqualTo("the quota");
  }

  @Test
  void causesThatComeAndGoAreToldRarely() {
    Set<String> told = new HashSet<>();
    for (int i = 0; i < 100; i++) {
      told.add(messages.of("a", i % 2, "it is " + i));
    }
    assertThat(told).hasSizeLessThan(6);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
