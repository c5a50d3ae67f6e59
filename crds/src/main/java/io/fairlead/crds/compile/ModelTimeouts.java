package io.fairlead.crds.compile;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
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
 * The timeouts that a model's annotations set, since its kind, which is not ours, has no field for
 * them. A wrong one costs the model that timeout and not its place.
 *
 * @param timeouts those that are right
 * @param findings one for each that is wrong
 */
record ModelTimeouts(TimeoutsConfig timeouts, List<Finding> findings) {

  static final String FIRST_BYTE = "fairlead.io/first-byte-timeout";
  static final String SILENCE = "fairlead.io/silence-timeout";
  static final String TOTAL = "fairlead.io/timeout";

  private static final FieldPath ANNOTATIONS = new FieldPath("metadata.annotations");

  static ModelTimeouts of(InferenceModel model) {
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
    return new ModelTimeouts(timeouts, findings);
  }
}
