package io.fairlead.core.plugins.labels;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import java.util.List;

/**
 * Which requests a rule of assignment is about; what is empty says nothing.
 *
 * @param profile name of the profile that is run
 * @param header name of a request header that must be there
 * @param is what that header must say, if not just anything
 * @param model what the client asks for
 * @param targetModel what the model servers are asked for
 * @param criticality {@code Critical}, {@code Standard} or {@code Sheddable}
 */
record AssignmentCondition(
    String profile,
    String header,
    String is,
    String model,
    String targetModel,
    String criticality) {

  private static final List<String> CRITICALITIES = List.of("Critical", "Standard", "Sheddable");

  static AssignmentCondition of(Parameters parameters) {
    String header = Texts.header(parameters, "header", "");
    String is = parameters.text("is", "");
    if (header.isEmpty() && !is.isEmpty()) {
      throw parameters.invalid("header", "is not set, but is is; set the header that says it");
    }
    return new AssignmentCondition(
        parameters.text("profile", ""),
        header,
        is,
        parameters.text("model", ""),
        parameters.text("targetModel", ""),
        parameters.choice("criticality", "", CRITICALITIES));
  }

  boolean holds(InferenceRequest request, String current) {
    return says(profile, current)
        && says(model, request.model())
        && says(targetModel, request.targetModel())
        && (header.isEmpty() || hasHeader(request))
        && hasCriticality(request);
  }

  private static boolean says(String wanted, String value) {
    return wanted.isEmpty() || wanted.equals(value);
  }

  private boolean hasHeader(InferenceRequest request) {
    String value = request.header(header);
    return value != null && says(is, value);
  }

  private boolean hasCriticality(InferenceRequest request) {
    return switch (criticality) {
      case "Critical" -> request.critical();
      case "Sheddable" -> request.sheddable();
      case "Standard" -> !request.critical() && !request.sheddable();
      default -> true;
    };
  }
}
