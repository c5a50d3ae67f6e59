package io.fairlead.operator.observe;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import io.fairlead.operator.children.Labels;
import io.fairlead.operator.children.Names;
import java.util.Map;
import java.util.Optional;

/**
 * Whose an object is: who controls it, as its controller owner reference tells, and whether we made
 * it. Other controllers of InferencePools have the pool control what they make for it, too.
 */
public final class Ownership {
  /** Field manager of the children's fields. */
  public static final String FIELD_MANAGER = "fairlead-epp";

  private Ownership() {}

  /** The pool that controls the object. */
  public static Optional<OwnerReference> pool(HasMetadata object) {
    return object.getMetadata().getOwnerReferences().stream()
        .filter(owner -> Boolean.TRUE.equals(owner.getController()))
        .filter(
            owner ->
                owner.getKind().equals("InferencePool")
                    && (isOf(owner, InferencePool.GROUP) || isOf(owner, OldInferencePool.GROUP)))
        .findFirst();
  }

  private static boolean isOf(OwnerReference owner, String group) {
    return owner.getApiVersion().startsWith(group + "/");
  }

  /**
   * Whether this very pool controls the object, and it was made by us. Somebody may have taken its
   * labels away, or the note of what we applied; not both.
   */
  public static boolean by(InferencePool pool, HasMetadata object) {
    return pool(object)
            .filter(owner -> owner.getUid().equals(pool.getMetadata().getUid()))
            .isPresent()
        && (isLabelled(object) || isApplied(object));
  }

  /** Whether it has our label, which anybody may have copied. */
  public static boolean isLabelled(HasMetadata object) {
    Map<String, String> labels = object.getMetadata().getLabels();
    return labels != null && Labels.MANAGER.equals(labels.get(Labels.MANAGED_BY));
  }

  /** Whether we made it, or took it over: copies of it are somebody else's. */
  public static boolean isApplied(HasMetadata object) {
    return object.getMetadata().getManagedFields().stream()
        .anyMatch(
            fields ->
                FIELD_MANAGER.equals(fields.getManager()) && "Apply".equals(fields.getOperation()));
  }

  /**
   * Whether the object was made by us for a pool of this one's name in the older group, which this
   * one takes the place of: its objects go over to this one as they are.
   */
  public static boolean byOlder(InferencePool pool, HasMetadata object) {
    return !(pool instanceof OldInferencePool)
        && ours(object)
        && pool(object)
            .filter(owner -> isOf(owner, OldInferencePool.GROUP))
            .filter(owner -> owner.getName().equals(pool.getMetadata().getName()))
            .isPresent();
  }

  /**
   * Whether the object was made by us for this pool, and somebody has taken its owner away since:
   * it is still what we applied. Labels alone don't say so, anybody may have copied them.
   */
  public static boolean disowned(InferencePool pool, HasMetadata object) {
    return isLabelled(object)
        && Names.child(pool.getMetadata().getName())
            .equals(object.getMetadata().getLabels().get(Labels.PICKER))
        && object.getMetadata().getOwnerReferences().stream()
            .noneMatch(owner -> Boolean.TRUE.equals(owner.getController()))
        && isApplied(object);
  }

  /** Whether the pool may have the object be what it wants: it is its own, or becomes it. */
  public static boolean isOrBecomes(InferencePool pool, HasMetadata object) {
    return by(pool, object) || byOlder(pool, object) || disowned(pool, object);
  }

  /**
   * Whether the pod is one of the picker's Deployment. One whose labels were changed, to look at it
   * in peace say, is so no more. One of a Deployment that was copied with its labels never is: what
   * controls a pod is a ReplicaSet, whose name begins with that of its Deployment and ends with
   * what the template's hash is.
   */
  static boolean byDeployment(Pod pod, String picker) {
    Map<String, String> labels = pod.getMetadata().getLabels();
    String replicaSet = picker + "-" + labels.get(Labels.TEMPLATE);
    return labels.entrySet().containsAll(Labels.selector(picker).entrySet())
        && pod.getMetadata().getOwnerReferences().stream()
            .filter(owner -> Boolean.TRUE.equals(owner.getController()))
            .anyMatch(
                owner ->
                    owner.getKind().equals("ReplicaSet") && owner.getName().equals(replicaSet));
  }

  /** Whether the object was made by us, for any pool. */
  public static boolean ours(HasMetadata object) {
    return isLabelled(object) && pool(object).isPresent();
  }

  /**
   * Whether the object was made by us for a pool that was deleted and had this pool's name. The
   * garbage collector will remove it; until then its name is taken.
   */
  public static boolean byPredecessor(InferencePool pool, HasMetadata object) {
    return ours(object)
        && !byOlder(pool, object)
        && pool(object)
            .filter(owner -> owner.getName().equals(pool.getMetadata().getName()))
            .filter(owner -> !owner.getUid().equals(pool.getMetadata().getUid()))
            .isPresent();
  }
}
