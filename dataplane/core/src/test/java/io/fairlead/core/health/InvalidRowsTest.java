package io.fairlead.core.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import io.fairlead.core.Failure;
import io.fairlead.core.HealthChange;
import io.fairlead.core.HealthState;
import io.fairlead.core.PoolListener;
import io.fairlead.core.Probe;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * One that is out for calling all invalid is back once another shows that it was a client's
 * mistake: unless there is more to be said against it by then.
 */
class InvalidRowsTest {

  private static final long MILLI = 1_000_000;
  private static final String MODEL = "m";

  private final PoolHealth health =
      new PoolHealth(
          new PoolListener() {
            @Override
            public boolean probe(Probe probe) {
              return true;
            }

            @Override
            public void healthChanged(HealthChange change) {}
          });

  private final EndpointHealth out = endpoint("out");
  private final EndpointHealth asked = endpoint("asked");
  private final EndpointHealth serves = endpoint("serves");
  private long now = MILLI;

  private static EndpointHealth endpoint(String name) {
    return new EndpointHealth(new EndpointSpec(name, "1", "10.0.0.1", 8000, Map.of()), 0);
  }

  @BeforeEach
  void oneCallsAllInvalid() {
    health.replace(new EndpointHealth[] {out, asked, serves});
    for (int i = 0; i < 200; i++) {
      isServed(serves);
    }
    for (int i = 0; i < 10 && out.state() != HealthState.OUT; i++) {
      isInvalid(out);
    }
    assertThat(out.state()).isEqualTo(HealthState.OUT);
  }

  private void isServed(EndpointHealth endpoint) {
    long sentAt = now += MILLI;
    health.serves(now += MILLI, endpoint, MODEL, sentAt);
    health.answered(now, endpoint, sentAt, 0);
    health.completed(now, endpoint, sentAt, 0);
  }

  private void isInvalid(EndpointHealth endpoint) {
    health.answered(now += MILLI, endpoint, now - MILLI, 0);
    health.invalid(now, endpoint, now - MILLI, 0);
    isServed(serves);
  }

  /** The client has moved there, and what others ask is served. */
  private void itWasTheClient() {
    for (int i = 0; i < 4; i++) {
      isInvalid(asked);
    }
    isServed(asked);
  }

  @Test
  void itIsBackWhenItWasTheClient() {
    itWasTheClient();
    assertThat(out.state()).isEqualTo(HealthState.IN_USE);
  }

  @Test
  void itIsNotWhereNobodyListensThereByThen() {
    health.unreachable(now, out, Failure.REFUSED);
    itWasTheClient();
    assertThat(out.state()).isEqualTo(HealthState.OUT);
  }

  @Test
  void itIsNotWhereItAnswersNoProbe() {
    now = out.nextProbe;
    health.check(now, out, 0, 0);
    now = out.probeBy;
    health.check(now, out, 0, 0);
    itWasTheClient();
    assertThat(out.state()).isEqualTo(HealthState.OUT);
  }

  /** The new one is to answer a probe first. */
  @Test
  void itIsNotWhereAnotherProcessIsThere() {
    health.restarted(now, out);
    itWasTheClient();
    assertThat(out.state()).isEqualTo(HealthState.OUT);
  }
}
