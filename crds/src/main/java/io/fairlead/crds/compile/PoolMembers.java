package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.v1.InferencePool;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Objects of upstream's that name the pool that they are for. */
public final class PoolMembers {

  private static final JsonMapper JSON = new JsonMapper();

  /** A second is the finest grain of a time of creation: ties are decided by the name's bytes. */
  private static final Comparator<GenericKubernetesResource> OLDEST_FIRST =
      Comparator.<GenericKubernetesResource, String>comparing(
              object -> String.valueOf(object.getMetadata().getCreationTimestamp()))
          .thenComparing(
              object -> object.getMetadata().getName().getBytes(StandardCharsets.UTF_8),
              Arrays::compareUnsigned);

  private PoolMembers() {}

  /** Those of {@code objects} that are for the pool and are not being deleted, oldest first. */
  static List<GenericKubernetesResource> of(
      List<GenericKubernetesResource> objects, InferencePool pool) {
    return objects.stream()
        .filter(object -> object.getMetadata().getDeletionTimestamp() == null)
        .filter(
            object ->
                Objects.equals(
                    object.getMetadata().getNamespace(), pool.getMetadata().getNamespace()))
        .filter(object -> pool.getMetadata().getName().equals(pool(object)))
        .sorted(OLDEST_FIRST)
        .toList();
  }

  /**
   * The name of the pool that an object names, which may not be there; null when it names none. The
   * server fills in the settled group, also where the pool is of the old one.
   */
  public static @Nullable String pool(GenericKubernetesResource object) {
    // Asked of every object for every pool, so without a tree of its own.
    if (!(object.get("spec", "poolRef") instanceof Map<?, ?> ref)) {
      return null;
    }
    Object group = Objects.requireNonNullElse(ref.get("group"), InferencePool.GROUP);
    Object kind = Objects.requireNonNullElse(ref.get("kind"), "InferencePool");
    boolean pool =
        kind.equals("InferencePool")
            && (group.equals(InferencePool.GROUP) || group.equals(InferenceModel.GROUP));
    return pool && ref.get("name") instanceof String name && !name.isEmpty() ? name : null;
  }

  /** Its spec; of one without any, an object without fields. */
  public static JsonNode spec(GenericKubernetesResource object) {
    JsonNode all = JSON.valueToTree(object.getAdditionalProperties());
    return all.path("spec");
  }
}
