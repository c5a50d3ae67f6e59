package io.fairlead.operator.apply;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes that do not depend on each other: one that the API server refuses keeps none of the others
 * back.
 */
public final class Attempts {
  private @Nullable KubernetesClientException first;
  private @Nullable Duration putOff;
  private boolean begun;

  /** Runs it now. */
  public void attempt(Runnable write) {
    begun = true;
    try {
      write.run();
    } catch (KubernetesClientException e) {
      if (first == null) {
        first = e;
      } else {
        first.addSuppressed(e);
      }
    }
  }

  /**
   * Runs it now.
   *
   * @param write says how long it is put off; empty when it is done
   */
  public void attemptOrPutOff(Supplier<Optional<Duration>> write) {
    attempt(
        () ->
            write
                .get()
                .filter(left -> putOff == null || left.compareTo(putOff) < 0)
                .ifPresent(left -> putOff = left));
  }

  /** Whether there was any. */
  public boolean areBegun() {
    return begun;
  }

  /** How long until the first of those that were put off is to be tried; empty when none was. */
  public Optional<Duration> putOff() {
    return Optional.ofNullable(putOff);
  }

  /**
   * To be called after the last attempt.
   *
   * @throws KubernetesClientException the first refusal, so that the framework tries again
   */
  public void rethrow() {
    if (first != null) {
      throw first;
    }
  }
}
