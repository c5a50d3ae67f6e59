package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.fairlead.crds.config.LatencyConfig;
import io.fairlead.crds.config.ModelQueueConfig;
import io.fairlead.crds.config.TimeoutsConfig;
import io.fairlead.crds.document.FieldError;
import io.fairlead.crds.document.FieldPath;
import io.fairlead.crds.document.RequestsDocument;
import io.fairlead.crds.document.SourceTree;
import io.fairlead.crds.v1alpha2.InferenceModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a model's annotations set, since its kind, which is not ours, has no fields for it. A wrong
 * one costs the model what it sets and not its place.
 *
 * @param timeouts those that are right
 * @param queue how its requests wait, as far as that is right
 * @param latency what its requests ask for, as far as that is right
 * @param findings one for each that is wrong
 */
record ModelAnnotations(
    TimeoutsConfig timeouts,
    ModelQueueConfig queue,
    LatencyConfig latency,
    List<Finding> findings) {

  static final String FIRST_BYTE = "fairlead.io/first-byte-timeout";
  static final String SILENCE = "fairlead.io/silence-timeout";
  static final String TOTAL = "fairlead.io/timeout";
  static final String WEIGHT = "fairlead.io/fairness-weight";
  static final String TTL = "fairlead.io/queue-ttl";
  static final String FIRST_TOKEN = "fairlead.io/ttft-objective";
  static final String EACH_TOKEN = "fairlead.io/tpot-objective";

  private static final FieldPath ANNOTATIONS = new FieldPath("metadata.annotations");

  static ModelAnnotations of(InferenceModel model) {
    ObjectNode annotations = JsonNodeFactory.instance.objectNode();
    Map<String, String> given = model.getMetadata().getAnnotations();
    if (given != null) {
      given.forEach(annotations::put);
    }
    ObjectRef object = ObjectRef.of(model);
    SourceTree tree = SourceTree.of(object.toString(), annotations);
    TimeoutsConfig timeouts =
        new TimeoutsConfig(
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, FIRST_BYTE),
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, SILENCE),
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, TOTAL));
    ModelQueueConfig queue =
        new ModelQueueConfig(
            weight(tree, annotations),
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, TTL));
    LatencyConfig latency =
        new LatencyConfig(
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, FIRST_TOKEN),
            RequestsDocument.timeout(tree, ANNOTATIONS, annotations, EACH_TOKEN));
    List<Finding> findings = new ArrayList<>();
    for (FieldError error : tree.errors()) {
      findings.add(
          new Finding(
              object,
              error.path(),
              Finding.INVALID_ANNOTATION,
              error.path() + " " + error.message(),
              Finding.Severity.WARNS));
    }
    return new ModelAnnotations(timeouts, queue, latency, findings);
  }

  private static int weight(SourceTree tree, ObjectNode annotations) {
    if (!annotations.has(WEIGHT)) {
      return ModelQueueConfig.DEFAULT.weight();
    }
    String text = annotations.path(WEIGHT).asText();
    // Longer ones would not fit into an int.
    int weight = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : 0;
    if (weight >= 1 && weight <= ModelQueueConfig.MOST_WEIGHT) {
      return weight;
    }
    tree.error(
        ANNOTATIONS.field(WEIGHT),
        "is "
            + FieldPath.quote(text)
            + ", expected a whole number from 1 to "
            + ModelQueueConfig.MOST_WEIGHT);
    return ModelQueueConfig.DEFAULT.weight();
  }
}
