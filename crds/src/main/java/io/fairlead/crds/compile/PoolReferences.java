package io.fairlead.crds.compile;

import io.fairlead.crds.PoolReference;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import org.jspecify.annotations.Nullable;

/** Which pool a reference means. */
public final class PoolReferences {
  private PoolReferences() {}

  /** What a reference comes to. */
  public sealed interface Resolution {}

  /**
   * A v1 pool of the object's namespace, if it exists.
   *
   * @param name its name
   * @param note how it was found, a sentence for a message
   */
  public record Pool(String name, String note) implements Resolution {}

  /**
   * Nothing that could be a pool.
   *
   * @param path the field below {@code poolRef} that is wrong, or {@code poolRef} itself
   * @param message what is wrong and what to do
   */
  public record Invalid(String path, String message) implements Resolution {}

  /**
   * A reference of an InferenceModel. The exact group comes first; the group that the server
   * defaults finds a v1 pool, too.
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
      case InferencePool.GROUP ->
          new Pool(
              name, "InferencePool " + name + " of " + InferencePool.GROUP + " serves the model.");
      case InferenceModel.GROUP ->
          new Pool(
              name,
              "InferencePool "
                  + name
                  + " of "
                  + InferencePool.GROUP
                  + " serves the model; set poolRef.group to "
                  + InferencePool.GROUP
                  + " to name it exactly.");
      default ->
          new Invalid(
              "spec.poolRef.group",
              "is " + FieldPath.quote(group) + "; set it to " + InferencePool.GROUP);
    };
  }
}
