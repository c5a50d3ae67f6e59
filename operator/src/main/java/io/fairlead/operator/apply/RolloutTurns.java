package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whose pods may be replaced now, where an upgrade of the operator would replace all pickers' at
 * once. A rollout keeps its place until it has ended, or until Kubernetes gives it up: what fails
 * reaches so many pools per deadline, and old pods serve there, but one pool that is broken for a
 * reason of its own must not hold the others for ever.
 *
 * <p>Safe to use from any thread.
 */
public final class RolloutTurns {
  private static final String REVISION = "deployment.kubernetes.io/revision";

  private final int most;

  /** Generations at which Deployments were when their turns began, by UID. */
  private final Map<String, Long> begun = new HashMap<>();

  /**
   * @param most how many at a time; at least 1
   */
  public RolloutTurns(int most) {
    this.most = most;
  }

  /**
   * Takes a turn, unless all are taken by others.
   *
   * @param all the operator's Deployments as they were seen last
   */
  public synchronized boolean take(Deployment one, List<Deployment> all) {
    Set<String> busy = new HashSet<>();
    Set<String> there = new HashSet<>();
    for (Deployment other : all) {
      String uid = other.getMetadata().getUid();
      there.add(uid);
      Long from = begun.get(uid);
      // Between the write and its sight it still looks finished.
      boolean unseen = from != null && other.getMetadata().getGeneration() <= from;
      if (unseen || isReplacing(other)) {
        busy.add(uid);
      } else {
        begun.remove(uid);
      }
    }
    begun.keySet().retainAll(there);
    String own = one.getMetadata().getUid();
    busy.remove(own);
    if (busy.size() >= most) {
      return false;
    }
    begun.put(own, one.getMetadata().getGeneration());
    return true;
  }

  /** Whether older pods give way to newer ones; the first pods of a Deployment replace none. */
  private static boolean isReplacing(Deployment deployment) {
    Map<String, String> annotations = deployment.getMetadata().getAnnotations();
    String revision = annotations == null ? null : annotations.get(REVISION);
    DeploymentStatus status = deployment.getStatus();
    Long seen = status == null ? null : status.getObservedGeneration();
    if (status == null || seen == null || deployment.isMarkedForDeletion()) {
      return false;
    }
    if (seen < deployment.getMetadata().getGeneration()) {
      return true;
    }
    if (revision == null || revision.equals("1") || givenUp(deployment, status)) {
      return false;
    }
    int wanted = orZero(deployment.getSpec().getReplicas());
    int updated = orZero(status.getUpdatedReplicas());
    return updated < wanted
        || orZero(status.getReplicas()) > updated
        || orZero(status.getAvailableReplicas()) < updated;
  }

  /** Whether nothing more is to be expected of it by waiting. */
  private static boolean givenUp(Deployment deployment, DeploymentStatus status) {
    // Stopped by hand, which has no deadline.
    return Boolean.TRUE.equals(deployment.getSpec().getPaused())
        || status.getConditions().stream()
            .anyMatch(
                condition ->
                    "Progressing".equals(condition.getType())
                        && "False".equals(condition.getStatus()));
  }

  private static int orZero(@Nullable Integer number) {
    return number == null ? 0 : number;
  }
}
