package io.fairlead.core.health;

import static org.assertj.core.api.Assertions.assertThat;

import io.fairlead.core.EndpointSpec;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ModelRefusalsTest {

  private static final long SECOND = 1_000_000_000;

  private final ModelRefusals refusals = new ModelRefusals(2);

  private static EndpointHealth endpoint(String name) {
    return new EndpointHealth(new EndpointSpec(name, "1", "10.0.0.1", 8000, Map.of()), 0);
  }

  @Test
  void noMorePairsAreKeptThanThereIsRoomFor() {
    EndpointHealth a = endpoint("a");
    EndpointHealth b = endpoint("b");
    assertThat(refusals.refused(0, a, "m", false)).isTrue();
    assertThat(refusals.refused(0, b, "m", false)).isTrue();
    assertThat(refusals.refused(0, a, "n", false)).as("a third pair").isFalse();
    assertThat(refusals.of("n")).isNull();
    assertThat(refusals.refused(0, a, "m", false)).as("one that is there").isTrue();
    refusals.forget(b);
    assertThat(refusals.refused(0, a, "n", false)).as("there is room again").isTrue();
  }

  @Test
  void whatWasRefusedIsForgottenInTime() {
    EndpointHealth a = endpoint("a");
    for (int i = 0; i < 1_000; i++) {
      refusals.refused(0, a, "m", false);
    }
    refusals.age(60 * SECOND);
    assertThat(refusals.of("m")).isNotNull();
    refusals.age(240 * SECOND);
    assertThat(refusals.of("m")).isNull();
    assertThat(refusals.refused(240 * SECOND, a, "n", false)).isTrue();
    assertThat(refusals.refused(240 * SECOND, a, "o", false)).as("m takes no room").isTrue();
  }

  @Test
  void whoHasLeftIsForgotten() {
    EndpointHealth a = endpoint("a");
    refusals.refused(0, a, "m", false);
    a.leaves();
    refusals.replaced();
    assertThat(refusals.of("m")).isNull();
  }
}
