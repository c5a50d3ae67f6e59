package io.fairlead.operator;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord;
import io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.Lock;
import java.net.URI;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import org.junit.jupiter.api.Test;

class ObservedLockTest {
  private static final ZonedDateTime NOW = ZonedDateTime.of(2026, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);
  private static final LeaderElectionRecord RECORD =
      new LeaderElectionRecord("me", Duration.ofSeconds(15), NOW, NOW, 0);

  /** At anything else the elector stops for good, and a standby would look ready for ever. */
  @Test
  void whatALockFailsAtIsWhatTheElectorTriesAgainAfter() {
    ObservedLock lock =
        new ObservedLock(
            new Failing(),
            new Fence(
                URI.create("https://api.test"),
                Duration.ofSeconds(15),
                () -> 0,
                InstantSource.system()),
            () -> 0);
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      assertThatThrownBy(() -> lock.get(client))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("nonsense");
      assertThatThrownBy(() -> lock.create(client, RECORD))
          .isInstanceOf(KubernetesClientException.class);
      assertThatThrownBy(() -> lock.update(client, RECORD))
          .isInstanceOf(KubernetesClientException.class);
    }
  }

  private static final class Failing implements Lock {
    @Override
    public LeaderElectionRecord get(KubernetesClient client) {
      throw new IllegalStateException("nonsense");
    }

    @Override
    public void create(KubernetesClient client, LeaderElectionRecord record) {
      throw new IllegalStateException("nonsense");
    }

    @Override
    public void update(KubernetesClient client, LeaderElectionRecord record) {
      throw new IllegalStateException("nonsense");
    }

    @Override
    public String identity() {
      return "me";
    }

    @Override
    public String describe() {
      return "a lock";
    }
  }
}
