package io.fairlead.core.plugins.labels;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/** Label selectors as Kubernetes has them: all of their requirements must be met. */
final class LabelSelector {

  private LabelSelector() {}

  /**
   * Reads {@code matchLabels} and {@code matchExpressions}.
   *
   * @throws InvalidParameterException if there is no requirement at all, or one is wrong
   */
  static Predicate<Map<String, String>> of(Parameters parameters) {
    List<Predicate<Map<String, String>>> requirements = new ArrayList<>();
    parameters
        .textsByText("matchLabels")
        .forEach((key, value) -> requirements.add(labels -> value.equals(labels.get(key))));
    for (Parameters expression : parameters.objects("matchExpressions")) {
      requirements.add(expression(expression));
    }
    if (requirements.isEmpty()) {
      throw parameters.invalid(
          "matchLabels", "is empty, as is matchExpressions; set a label that is asked for");
    }
    return labels -> requirements.stream().allMatch(requirement -> requirement.test(labels));
  }

  private static Predicate<Map<String, String>> expression(Parameters parameters) {
    String key = Texts.required(parameters, "key");
    Texts.required(parameters, "operator");
    String operator =
        parameters.choice("operator", "", List.of("In", "NotIn", "Exists", "DoesNotExist"));
    Set<String> values = Set.copyOf(parameters.texts("values"));
    boolean listed = operator.equals("In") || operator.equals("NotIn");
    if (listed == values.isEmpty()) {
      throw parameters.invalid(
          "values",
          listed
              ? "is empty; set the values that operator " + operator + " asks for"
              : "has no meaning for operator " + operator + "; remove it");
    }
    return switch (operator) {
      case "In" -> labels -> values.contains(labels.getOrDefault(key, NO_VALUE));
      case "NotIn" -> labels -> !values.contains(labels.getOrDefault(key, NO_VALUE));
      case "Exists" -> labels -> labels.containsKey(key);
      default -> labels -> !labels.containsKey(key);
    };
  }

  /** What no label can have for a value. */
  private static final String NO_VALUE = "\0";
}
