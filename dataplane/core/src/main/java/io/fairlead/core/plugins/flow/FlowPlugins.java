package io.fairlead.core.plugins.flow;

import io.fairlead.plugin.Parameters;
import io.fairlead.plugin.Plugin;
import io.fairlead.plugin.PluginFactory;
import java.util.List;
import java.util.function.Function;

/** The types of this package. */
public final class FlowPlugins {

  private static final int MANY = 1 << 30;

  private FlowPlugins() {}

  private record Type(String type, Function<Parameters, Plugin> make) implements PluginFactory {
    @Override
    public Plugin create(Parameters parameters) {
      return make.apply(parameters);
    }
  }

  /** A factory of each. */
  public static List<PluginFactory> factories() {
    return List.of(
        new Type("fcfs-ordering-policy", parameters -> Orderings.FIRST_COME),
        new Type("conversation-ordering-policy", parameters -> Orderings.CONVERSATIONS),
        new Type("edf-ordering-policy", parameters -> Orderings.EARLIEST_DEADLINE),
        new Type("slo-deadline-ordering-policy", FlowPlugins::byObjective),
        new Type("global-strict-fairness-policy", parameters -> new StrictFairness()),
        new Type("round-robin-fairness-policy", parameters -> new RoundRobinFairness()),
        new Type("work-fairness-policy", parameters -> new WorkFairness()),
        new Type("program-aware-fairness", FlowPlugins::programAware),
        new Type("static-usage-limit-policy", FlowPlugins::staticLimit),
        new Type("priority-holdback-policy", FlowPlugins::holdback),
        new Type("soft-reflective-ceiling-policy", parameters -> new SoftReflectiveLimit()));
  }

  private static Plugin byObjective(Parameters parameters) {
    return parameters.choice("late", "wait", List.of("wait", "refuse")).equals("refuse")
        ? Orderings.LATENCY_OBJECTIVE_OR_NOT_AT_ALL
        : Orderings.LATENCY_OBJECTIVE;
  }

  private static Plugin programAware(Parameters parameters) {
    parameters.choice("strategy", "las", List.of("las"));
    // What isn't used any more is forgotten with the flow itself.
    parameters.number("evictionTtlSeconds", 3600, 1, MANY);
    parameters.number("evictionSweepSeconds", 300, 1, MANY);
    return new ProgramFairness(
        parameters.number("lasWeightService", 0.8, 0, 1),
        parameters.number("lasWeightHeadWait", 0.2, 0, 1),
        parameters.number("lasHalfLifeSeconds", 60, 0.001, MANY));
  }

  private static Plugin staticLimit(Parameters parameters) {
    return new StaticLimit(parameters.number("threshold", 1, 0, 1));
  }

  private static Plugin holdback(Parameters parameters) {
    parameters.choice("shape", "linear", List.of("linear"));
    String domain = parameters.choice("domain", "rank", List.of("rank", "value"));
    double least = parameters.number("minCeiling", 0, 0, 1);
    double most = parameters.number("maxCeiling", 1, 0, 1);
    if (!parameters.has("minCeiling")) {
      throw parameters.invalid("minCeiling", "is missing; set a number from 0 to 1");
    }
    if (least > most) {
      throw parameters.invalid(
          "minCeiling", "is " + least + ", above maxCeiling; set no more than " + most);
    }
    double overShare = parameters.number("overShare", 1, 0.01, 1);
    return new HoldbackLimit(domain.equals("value"), least, most, overShare);
  }
}
