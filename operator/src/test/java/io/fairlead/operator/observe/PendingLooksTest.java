package io.fairlead.operator.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PendingLooksTest {
  private static final Duration SOON = Duration.ofMillis(1);

  private final AtomicInteger looks = new AtomicInteger();
  private final CountDownLatch go = new CountDownLatch(1);

  @Test
  void howeverOftenItIsAskedForThereIsOneToCome() {
    try (PendingLooks<String> pending = new PendingLooks<>(this::blocking, SOON)) {
      pending.ask("first");
      await().until(() -> looks.get() == 1);
      for (int i = 0; i < 1_000; i++) {
        pending.ask("object");
      }
      go.countDown();
      pending.ask("last");
      await().until(() -> looks.get() >= 3);
      assertThat(looks).as("of the first, the object, and the last").hasValue(3);
    }
  }

  private @Nullable Duration blocking(String uid) {
    looks.incrementAndGet();
    try {
      go.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return null;
  }

  @Test
  void oneThatFailsIsFollowedByAnother() {
    try (PendingLooks<String> pending = new PendingLooks<>(this::failingTwice, SOON)) {
      pending.ask("object");
      await().until(() -> looks.get() == 4);
    }
  }

  /** What is put off for long is looked at again as soon as it changes. */
  @Test
  void oneThatWaitsIsBroughtForwardWhenItIsAskedFor() {
    try (PendingLooks<String> pending =
        new PendingLooks<>(
            object -> looks.incrementAndGet() == 1 ? Duration.ofHours(1) : null, SOON)) {
      pending.ask("object");
      await().until(() -> looks.get() == 1);
      pending.ask("object");
      await().until(() -> looks.get() == 2);
    }
  }

  /** Else what the API server refuses would be tried as often as others change it. */
  @Test
  void oneThatFailedIsNotBroughtForward() {
    try (PendingLooks<String> pending = new PendingLooks<>(this::failing, Duration.ofHours(1))) {
      pending.ask("object");
      pending.ask("other");
      // One comes after the other: what failed first has been put off by then.
      await().until(() -> looks.get() == 2);
      pending.ask("object");
      pending.ask("last");
      await().until(() -> looks.get() >= 3);
      assertThat(looks).as("of the object, the other, and the last").hasValue(3);
    }
  }

  private @Nullable Duration failing(String uid) {
    looks.incrementAndGet();
    throw new IllegalStateException("nobody thought of it");
  }

  private @Nullable Duration failingTwice(String uid) {
    return switch (looks.incrementAndGet()) {
      case 1, 2 -> throw new IllegalStateException("nobody thought of it");
      case 3 -> SOON;
      default -> null;
    };
  }
}
