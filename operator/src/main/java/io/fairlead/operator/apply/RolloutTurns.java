package io.fairlead.operator.apply;

import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatus;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
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

  /**
   * In nanoseconds. A write is seen by then; one that was refused, or that changed nothing since a
   * webhook undoes it, holds its turn no longer.
   */
  private static final long UNSEEN = 10_000_000_000L;

  private final LongSupplier clock;

  /** Turns whose rollouts have not been seen to begin, by UID of the Deployment. */
  private final Map<String, Turn> begun = new HashMap<>();

  /**
   * @param generation at which the Deployment was when its turn began
   * @param at when that was
   */
  private record Turn(long generation, long at) {}

  /**
   * @param most how many at a time; at least 1
   * @param clock monotonic nanoseconds
   */
  public RolloutTurns(int most, LongSupplier clock) {
    this.most = most;
    this.clock = clock;
  }

  /**
   * Takes a turn, unless all are taken by others.
   *
   * @param all the operator's Deployments as they were seen last
   */
  public synchronized boolean take(Deployment one, List<Deployment> all) {
    long now = clock.getAsLong();
    Set<String> busy = new HashSet<>();
    Set<String> there = new HashSet<>();
    for (Deployment other : all) {
      String uid = other.getMetadata().getUid();
      there.add(uid);
      Turn turn = begun.get(uid);
      // Between the write and its sight it still looks finished.
      boolean unseen =
          turn != null
              && other.getMetadata().getGeneration() <= turn.generation()
              && now - turn.at() < UNSEEN;
      if (unseen || isReplacing(other)) {
        busy.add(uid);
      } else if (turn != null && other.getMetadata().getGeneration() > turn.generation()) {
        begun.remove(uid);
      }
    }
    String own = one.getMetadata().getUid();
    // Who does not see the one that asks does not see the others either, as in a shutdown.
    if (!there.contains(own)) {
      return false;
    }
    begun.keySet().retainAll(there);
    busy.remove(own);
    if (busy.size() >= most) {
      return false;
    }
    long generation = one.getMetadata().getGeneration();
    Turn before = begun.get(own);
    // One that asks again and again, and whose rollout never begins, does not keep it by that.
    if (before == null || before.generation() != generation || now - before.at() >= UNSEEN) {
      begun.put(own, new Turn(generation, now));
    }
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
    if (revision == null || revision.equals("1") || isOver(deployment, status)) {
      return false;
    }
    int wanted = orZero(deployment.getSpec().getReplicas());
    int updated = orZero(status.getUpdatedReplicas());
    return updated < wanted
        || orZero(status.getReplicas()) > updated
        || orZero(status.getAvailableReplicas()) < updated;
  }

  /**
   * Whether nothing more is to be expected of it by waiting: it was stopped by hand, which has no
   * deadline, Kubernetes has given it up, or it had ended, and its pods were lost since.
   */
  private static boolean isOver(Deployment deployment, DeploymentStatus status) {
    boolean onlyNew = orZero(status.getReplicas()) == orZero(status.getUpdatedReplicas());
    return Boolean.TRUE.equals(deployment.getSpec().getPaused())
        || status.getConditions().stream()
            .filter(condition -> "Progressing".equals(condition.getType()))
            .anyMatch(
                condition ->
                    "False".equals(condition.getStatus())
                        || (onlyNew && "NewReplicaSetAvailable".equals(condition.getReason())));
  }

  private static int orZero(@Nullable Integer number) {
    return number == null ? 0 : number;
  }
}
