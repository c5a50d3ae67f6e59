package io.fairlead.crds.compile;

import io.fairlead.crds.PoolReference;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import io.fairlead.crds.v1alpha2.OldInferencePool;
import org.jspecify.annotations.Nullable;

/** Which pool a reference means. */
public final class PoolReferences {
  private PoolReferences() {}

  /** What a reference comes to. */
  public sealed interface Resolution {}

  /**
   * A pool of the object's namespace, if it exists: that of v1, or where there is none that of the
   * group before.
   *
   * @param name its name
   * @param group as the object says
   */
  public record Pool(String name, String group) implements Resolution {

    /** How the pool was found, a sentence for a message. */
    String note(InferencePool found) {
      String its = found.getGroup();
      return "InferencePool "
          + name
          + " of "
          + its
          + " serves the model"
          + (group.equals(its) ? "." : "; set poolRef.group to " + its + " to name it exactly.");
    }
  }

  /**
   * Nothing that could be a pool.
   *
   * @param path the field below {@code poolRef} that is wrong, or {@code poolRef} itself
   * @param message what is wrong and what to do
   */
  public record Invalid(String path, String message) implements Resolution {}

  /**
   * A reference of an InferenceModel. Of two pools of one name only that of v1 is served, so the
   * name says which one is meant, in whichever of the two groups.
   */
  public static Resolution resolve(@Nullable PoolReference ref) {
    if (ref == null) {
      return new Invalid(
          "spec.poolRef", "is missing; name the InferencePool that serves the model");
    }
    String name = ref.name();
    if (name == null || name.isEmpty()) {
      return new Invalid(
          "spec.poolRef.name", "is empty; name the InferencePool that serves the model");
    }
    String kind = ref.kind() == null ? "InferencePool" : ref.kind();
    if (!kind.equals("InferencePool")) {
      return new Invalid(
          "spec.poolRef.kind",
          "is " + FieldPath.quote(kind) + "; only an InferencePool can serve a model");
    }
    String group = ref.group() == null ? InferenceModel.GROUP : ref.group();
    return switch (group) {
      case InferencePool.GROUP, OldInferencePool.GROUP -> new Pool(name, group);
      default ->
          new Invalid(
              "spec.poolRef.group",
              "is " + FieldPath.quote(group) + "; set it to " + InferencePool.GROUP);
    };
  }
}
