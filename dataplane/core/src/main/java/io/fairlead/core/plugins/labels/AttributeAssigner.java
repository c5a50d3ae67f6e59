package io.fairlead.core.plugins.labels;

import io.fairlead.plugin.Assigner;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.InferenceRequest;
import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * Parts endpoints by one attribute or label and lets each request go to the values that the first
 * rule with matching conditions lists; to all when no rule matches. When nobody has one of those
 * values the request may go to all as well, unless {@code whenEmpty} is {@code none}.
 *
 * <p>Every value that a rule lists is a partition; all other values together are one more, which no
 * rule can ask for.
 */
final class AttributeAssigner implements Assigner {

  private static final long ALL = -1;
  private static final int OTHER = MAX_PARTITIONS - 1;

  private final Function<Endpoint, String> attribute;
  private final List<String> values;
  private final List<Rule> rules;
  private final boolean allWhenEmpty;

  /**
   * A rule with the partitions that it allows.
   *
   * @param condition what the request must be like
   * @param allowed one bit for each partition
   */
  private record Rule(AssignmentCondition condition, long allowed) {}

  private AttributeAssigner(
      Function<Endpoint, String> attribute,
      List<String> values,
      List<Rule> rules,
      boolean allWhenEmpty) {
    this.attribute = attribute;
    this.values = List.copyOf(values);
    this.rules = List.copyOf(rules);
    this.allWhenEmpty = allWhenEmpty;
  }

  @Override
  public int partition(Endpoint endpoint) {
    int listed = values.indexOf(attribute.apply(endpoint));
    return listed < 0 ? OTHER : listed;
  }

  @Override
  public long allowed(InferenceRequest request, String profile, long present) {
    for (int i = 0; i < rules.size(); i++) {
      Rule rule = rules.get(i);
      if (rule.condition().holds(request, profile)) {
        boolean empty = (rule.allowed() & present) == 0;
        return empty && allWhenEmpty ? ALL : rule.allowed();
      }
    }
    return ALL;
  }

  static final class Factory implements PluginFactory {

    private static final List<String> ATTRIBUTES =
        List.of("role", "accelerator", "latencyClass", "zone", "rack", "host");

    @Override
    public String type() {
      return "attribute-assigner";
    }

    @Override
    public Plugin create(Parameters parameters) {
      Function<Endpoint, String> attribute = attribute(parameters);
      Set<String> values = new LinkedHashSet<>();
      List<AssignmentCondition> conditions = new ArrayList<>();
      List<List<String>> wanted = new ArrayList<>();
      for (Parameters rule : parameters.objects("rules")) {
        conditions.add(AssignmentCondition.of(rule));
        List<String> listed = rule.texts("values");
        if (listed.isEmpty()) {
          throw rule.invalid("values", "is empty; set the values that such requests may go to");
        }
        values.addAll(listed);
        wanted.add(listed);
      }
      if (conditions.isEmpty()) {
        throw parameters.invalid("rules", "is empty; set at least one rule");
      }
      if (values.size() > OTHER) {
        throw parameters.invalid(
            "rules", "list " + values.size() + " values; keep " + OTHER + " at most");
      }
      List<String> numbered = List.copyOf(values);
      List<Rule> rules = new ArrayList<>();
      for (int i = 0; i < conditions.size(); i++) {
        long allowed = 0;
        for (String value : wanted.get(i)) {
          allowed |= 1L << numbered.indexOf(value);
        }
        rules.add(new Rule(conditions.get(i), allowed));
      }
      boolean all = parameters.choice("whenEmpty", "all", List.of("all", "none")).equals("all");
      return new AttributeAssigner(attribute, numbered, rules, all);
    }

    private static Function<Endpoint, String> attribute(Parameters parameters) {
      if (parameters.has("attribute") == parameters.has("label")) {
        throw parameters.invalid(
            "attribute", "or label must be set, and not both; set what endpoints are parted by");
      }
      if (parameters.has("label")) {
        String label = parameters.text("label", "");
        return endpoint -> endpoint.labels().getOrDefault(label, "");
      }
      return switch (parameters.choice("attribute", "", ATTRIBUTES)) {
        case "role" -> endpoint -> endpoint.attributes().role();
        case "accelerator" -> endpoint -> endpoint.attributes().accelerator();
        case "latencyClass" -> endpoint -> endpoint.attributes().latencyClass();
        case "zone" -> endpoint -> endpoint.attributes().zone();
        case "rack" -> endpoint -> endpoint.attributes().rack();
        default -> endpoint -> endpoint.attributes().host();
      };
    }
  }
}
