package io.fairlead.operator.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OrphanLooksTest {
  private static final ConfigMap LEAVING = leaving("chat");
  private static final ConfigMap OTHER = leaving("other");
  private static final ConfigMap STAYING =
      new ConfigMapBuilder(LEAVING)
          .editMetadata()
          .withDeletionTimestamp(null)
          .endMetadata()
          .build();

  private final AtomicReference<@Nullable ConfigMap> there = new AtomicReference<>();
  private final AtomicBoolean hasPool = new AtomicBoolean();
  private final List<Boolean> stills = new CopyOnWriteArrayList<>();
  private final AtomicInteger fences = new AtomicInteger();
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger told = new AtomicInteger();
  private final AtomicLong nanos = new AtomicLong();

  @Test
  void oneOfTheSameNameIsGivenItsMomentTooWhenItIsBeingDeleted() {
    try (OrphanLooks<String, ConfigMap> orphans =
        new OrphanLooks<>(
            map -> map.getMetadata().getName(),
            this::find,
            map -> "pool",
            new OnePool(),
            (map, still) -> {
              told.incrementAndGet();
              return Optional.empty();
            },
            Duration.ofSeconds(1),
            nanos::get)) {
      there.set(LEAVING);
      orphans.changed(LEAVING);
      awaitTold(1);

      hasPool.set(true);
      there.set(null);
      orphans.changed(LEAVING);
      hasPool.set(false);
      // All are looked at in turn.
      orphans.changed(OTHER);
      await().until(() -> fences.get() == 1);
      there.set(LEAVING);
      looks.set(0);
      orphans.changed(LEAVING);
      awaitTold(2);
      assertThat(looks).as("not told at the first look").hasValueGreaterThan(1);
    }
  }

  /** To find out why pools are not known takes long: the pool's own look may have told since. */
  @Test
  void whosePoolIsFoundMeanwhileIsKnownToHaveOne() {
    try (OrphanLooks<String, ConfigMap> orphans =
        new OrphanLooks<>(
            map -> map.getMetadata().getName(),
            this::find,
            map -> "pool",
            new OnePool(),
            (map, still) -> {
              if (told.getAndIncrement() > 0) {
                hasPool.set(true);
              }
              stills.add(still.getAsBoolean());
              return Optional.of(Duration.ofMillis(1));
            },
            Duration.ofSeconds(1),
            nanos::get)) {
      there.set(STAYING);
      orphans.changed(STAYING);
      await().until(() -> stills.size() == 2);
      assertThat(stills).containsExactly(true, false);
    }
  }

  /** While time passes: when a look reads the clock is not known here. */
  private void awaitTold(int times) {
    await()
        .until(
            () -> {
              nanos.addAndGet(Duration.ofSeconds(2).toNanos());
              return told.get() == times;
            });
  }

  private static ConfigMap leaving(String name) {
    return new ConfigMapBuilder()
        .withNewMetadata()
        .withName(name)
        .withNamespace("a")
        .withDeletionTimestamp("2026-01-01T00:00:00Z")
        .endMetadata()
        .build();
  }

  private Optional<ConfigMap> find(String name) {
    if (name.equals("other")) {
      fences.incrementAndGet();
      return Optional.empty();
    }
    looks.incrementAndGet();
    return Optional.ofNullable(there.get());
  }

  private final class OnePool implements Pools {
    @Override
    public boolean known(@Nullable String namespace) {
      return true;
    }

    @Override
    public boolean has(@Nullable String namespace, String name) {
      return hasPool.get();
    }

    @Override
    public void listen(Consumer<ResourceID> listener) {}
  }
}
