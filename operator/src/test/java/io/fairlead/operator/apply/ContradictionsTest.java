package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ContradictionsTest {
  private static final HasMetadata OBJECT =
      new ConfigMapBuilder().withNewMetadata().withName("a").withUid("u").endMetadata().build();

  private final AtomicLong nanos = new AtomicLong();
  private final List<String> told = new ArrayList<>();
  private final Contradictions contradictions =
      new Contradictions(Duration.ofMinutes(1), nanos::get, (object, message) -> told.add(message));

  @Test
  void theSameIsSaidAgainSixTimesAtOnceThenOnceAMinute() {
    say("ready");
    for (int i = 0; i < Budget.REPAIRS; i++) {
      say("ready");
    }
    assertThat(told).isEmpty();
    assertThat(contradictions.left(OBJECT, "ready")).hasValue(Duration.ofMinutes(1));
    assertThat(contradictions.left(OBJECT, "ready")).isPresent();
    assertThat(told).singleElement().asString().startsWith("Another controller changes");
    pass(Duration.ofMinutes(1));
    say("ready");
    assertThat(contradictions.left(OBJECT, "ready")).hasValue(Duration.ofMinutes(1));
  }

  @Test
  void whatIsNewIsSaidAtOnce() {
    for (int i = 0; i < 100; i++) {
      say(i % 2 == 0 ? "ready" : "not ready");
    }
  }

  private void say(String what) {
    assertThat(contradictions.left(OBJECT, what)).isEmpty();
    contradictions.said(OBJECT, what);
  }

  private void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }
}
