package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LostEntriesTest {
  private final AtomicLong now = new AtomicLong();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final LostEntries entries = new LostEntries(now::get, meters);

  @Test
  void aPoolIsAmongThemForAsLongAsOthersGoOn() {
    assertThat(lost()).isZero();
    for (int fiveMinutes = 0; fiveMinutes < 12; fiveMinutes++) {
      entries.lost("a");
      later(Duration.ofMinutes(5));
      assertThat(lost()).isEqualTo(1);
      // It is put back once, and others remove it before anybody looks.
      entries.removed();
    }
    later(Duration.ofMinutes(6));
    assertThat(lost()).as("nobody has removed it for eleven minutes").isZero();
    assertThat(meters.get("fairlead.operator.status.entry.removals").counter().count())
        .isEqualTo(12);
  }

  @Test
  void eachPoolCountsOnceAndNoneThatIsGone() {
    entries.lost("a");
    entries.lost("a");
    entries.lost("b");
    assertThat(lost()).isEqualTo(2);
    entries.forget("a");
    assertThat(lost()).isEqualTo(1);
  }

  private double lost() {
    return meters.get("fairlead.operator.status.entries.lost").gauge().value();
  }

  private void later(Duration time) {
    now.addAndGet(time.toNanos());
  }
}
