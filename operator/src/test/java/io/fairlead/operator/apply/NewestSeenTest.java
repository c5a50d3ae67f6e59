package io.fairlead.operator.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class NewestSeenTest {

  private long now = Long.MAX_VALUE - 5;
  private final NewestSeen seenLast = new NewestSeen(() -> now);

  @Test
  void anAnswerCountsUntilTheCacheHasCaughtUp() {
    ConfigMap left = object("a", "12");
    seenLast.saw(left);

    assertThat(seenLast.newest(object("a", "9"))).as("9 is older than 12").isSameAs(left);
    assertThat(seenLast.newest(object("b", "9")).getMetadata().getUid()).isEqualTo("b");
    for (String version : new String[] {"12", "9"}) {
      ConfigMap cached = object("a", version);
      assertThat(seenLast.newest(cached)).as("once it has, it counts").isSameAs(cached);
    }
  }

  /** A cluster that was restored counts from an earlier version on. */
  @Test
  void anAnswerDoesNotHideForLongWhatIsThere() {
    seenLast.saw(object("a", "2000"));
    now += Duration.ofSeconds(31).toNanos();

    ConfigMap restored = object("a", "1500");
    assertThat(seenLast.newest(restored)).isSameAs(restored);
  }

  @Test
  void versionsThatAreNoNumbersAreLeftToTheApiServer() {
    seenLast.saw(object("a", "x2"));
    ConfigMap cached = object("a", "x1");
    assertThat(seenLast.newest(cached)).isSameAs(cached);
  }

  /** Objects may be deleted before any cache shows our last write. */
  @Test
  void whatNobodyAsksForIsGivenUp() {
    for (int i = 0; i < 10_000; i++) {
      seenLast.saw(object("u" + i, "5"));
    }
    ConfigMap old = object("u0", "1");
    assertThat(seenLast.newest(old)).isSameAs(old);
    assertThat(seenLast.newest(object("u9999", "1")).getMetadata().getResourceVersion())
        .isEqualTo("5");
  }

  /** After a burst these are thousands of whole objects. */
  @Test
  void whatNoCacheCanLackIsHeldNoLongerThoughNothingIsWritten() {
    seenLast.saw(object("a", "5"));
    long written = now;
    now += Duration.ofSeconds(31).toNanos();
    var _ = seenLast.newest(object("b", "1"));
    now = written;
    ConfigMap cached = object("a", "4");
    assertThat(seenLast.newest(cached)).isSameAs(cached);
  }

  private static ConfigMap object(String uid, String version) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withUid(uid)
        .withResourceVersion(version)
        .endMetadata()
        .build();
  }
}
