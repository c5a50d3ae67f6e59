package io.fairlead.operator.apply;

import io.fabric8.kubernetes.client.KubernetesClientException;
import org.jspecify.annotations.Nullable;

/**
 * Writes that do not depend on each other: one that the API server refuses keeps none of the others
 * back.
 */
public final class Attempts {
  private @Nullable KubernetesClientException first;

  /** Runs it now. */
  public void attempt(Runnable write) {
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
