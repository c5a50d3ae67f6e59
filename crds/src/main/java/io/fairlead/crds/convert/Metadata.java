package io.fairlead.crds.convert;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;

/** What of an object's head comes along. */
final class Metadata {
  private static final List<String> COME_ALONG =
      List.of("name", "generateName", "namespace", "labels", "ownerReferences");
  private static final String APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

  /** Annotations with which an InferenceModel sets what its kind has no fields for. */
  private static final String OURS = "fairlead.io/";

  private Metadata() {}

  /**
   * Begins an object with the head of another.
   *
   * @param model whether the other is an InferenceModel, whose annotations of ours count
   */
  static ObjectNode begin(Fields from, String apiVersion, String kind, boolean model) {
    ObjectNode made = JsonNodeFactory.instance.objectNode();
    made.put("apiVersion", apiVersion).put("kind", kind);
    from.take("apiVersion");
    from.take("kind");
    Fields metadata = from.below("metadata");
    ObjectNode head = made.putObject("metadata");
    COME_ALONG.forEach(field -> metadata.move(field, head, field));
    if (head.has("ownerReferences")) {
      metadata.lost(
          "ownerReferences",
          "is copied: in another cluster, or where the owner is gone, take it out, or the object is deleted");
    }
    if (!metadata.take("finalizers").isMissingNode()) {
      metadata.lost(
          "finalizers",
          "is left out: whoever set it may not know the new kind, and would keep the object for ever");
    }
    annotations(metadata, head, model);
    metadata.rest("is the API server's, which sets it anew");
    if (!from.take("status").isMissingNode()) {
      from.lost("status", "is a controller's, which writes it anew");
    }
    return made;
  }

  private static void annotations(Fields metadata, ObjectNode head, boolean model) {
    JsonNode annotations = metadata.take("annotations");
    if (!annotations.isObject()) {
      metadata.move("annotations", head, "annotations");
      return;
    }
    Fields fields = metadata.below("annotations");
    ObjectNode kept = annotations.deepCopy();
    if (kept.remove(APPLIED) != null) {
      fields.lost(APPLIED, "is kubectl's, which writes it anew");
    }
    kept.fieldNames()
        .forEachRemaining(
            name -> {
              if (model && name.startsWith(OURS)) {
                fields.lost(name, "is copied, but counts on an InferenceModel alone");
              }
            });
    if (!kept.isEmpty()) {
      head.set("annotations", kept);
    }
  }
}
