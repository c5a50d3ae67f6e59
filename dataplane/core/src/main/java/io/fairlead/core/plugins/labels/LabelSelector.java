package io.fairlead.core.plugins.labels;

import io.fairlead.core.plugins.compat.Texts;
import io.fairlead.plugin.InvalidParameterException;
import io.fairlead.plugin.Parameters;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A label selector as Kubernetes has them: all of its requirements must be met.
 *
 * @param wanted whether labels meet them
 * @param text the requirements, for people, much as {@code kubectl get --selector} has them
 */
record LabelSelector(Predicate<Map<String, String>> wanted, String text) {

  /**
   * Reads {@code matchLabels} and {@code matchExpressions}.
   *
   * @throws InvalidParameterException if there is no requirement at all, or one is wrong
   */
  static LabelSelector of(Parameters parameters) {
    List<LabelSelector> requirements = new ArrayList<>();
    parameters
        .textsByText("matchLabels")
        .forEach(
            (key, value) ->
                requirements.add(
                    new LabelSelector(labels -> value.equals(labels.get(key)), key + "=" + value)));
    for (Parameters expression : parameters.objects("matchExpressions")) {
      requirements.add(expression(expression));
    }
    if (requirements.isEmpty()) {
      throw parameters.invalid(
          "matchLabels", "is empty, as is matchExpressions; set a label that is asked for");
    }
    return new LabelSelector(
        labels -> requirements.stream().allMatch(requirement -> requirement.matches(labels)),
        requirements.stream().map(LabelSelector::text).collect(Collectors.joining(",")));
  }

  boolean matches(Map<String, String> labels) {
    return wanted.test(labels);
  }

  /** That a label has one of these values, in words. */
  static String oneOf(String key, Set<String> values) {
    return listed(key, "in", values);
  }

  private static String listed(String key, String operator, Set<String> values) {
    return key + " " + operator + " (" + String.join(",", new TreeSet<>(values)) + ")";
  }

  private static LabelSelector expression(Parameters parameters) {
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
      case "In" ->
          new LabelSelector(
              labels -> values.contains(labels.getOrDefault(key, NO_VALUE)), oneOf(key, values));
      case "NotIn" ->
          new LabelSelector(
              labels -> !values.contains(labels.getOrDefault(key, NO_VALUE)),
              listed(key, "notin", values));
      case "Exists" -> new LabelSelector(labels -> labels.containsKey(key), key);
      default -> new LabelSelector(labels -> !labels.containsKey(key), "!" + key);
    };
  }

  /** What no label can have for a value. */
  private static final String NO_VALUE = "\0";
}
