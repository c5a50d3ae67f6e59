package io.fairlead.epp.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fairlead.crds.v1.InferencePool;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Objects of upstream's that name the pool that they are for. */
final class PoolMembers {

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
      List<GenericKubernetesResource> objects, PoolName pool) {
    return objects.stream()
        .filter(object -> object.getMetadata().getDeletionTimestamp() == null)
        .filter(object -> names(spec(object).path("poolRef"), pool))
        .sorted(OLDEST_FIRST)
        .toList();
  }

  /** Its spec; of one without any, an object without fields. */
  static JsonNode spec(GenericKubernetesResource object) {
    JsonNode all = JSON.valueToTree(object.getAdditionalProperties());
    return all.path("spec");
  }

  /** {@code Kind namespace/name}. */
  static String place(GenericKubernetesResource object) {
    return object.getKind()
        + " "
        + object.getMetadata().getNamespace()
        + "/"
        + object.getMetadata().getName();
  }

  /** The server fills in the settled group, also where the pool is of the old one. */
  private static boolean names(JsonNode ref, PoolName pool) {
    String group = ref.path("group").asText(InferencePool.GROUP);
    return ref.path("name").asText().equals(pool.name())
        && ref.path("kind").asText("InferencePool").equals("InferencePool")
        && (group.equals(InferencePool.GROUP) || group.equals(PoolName.OLD_GROUP));
  }
}
