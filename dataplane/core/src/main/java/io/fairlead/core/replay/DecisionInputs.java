package io.fairlead.core.replay;

import io.fairlead.core.receipt.Decision;
import io.fairlead.core.receipt.EndpointFacts;
import io.fairlead.core.receipt.RequestInputs;
import io.fairlead.crds.config.PluginConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All that a receipt knows of what a decision was made from, and what its plugins said then. Plain
 * values: it can be written down and read again.
 *
 * @param at when, in nanoseconds of the pool's clock
 * @param endpoints that the scheduler chose among
 * @param plugins that were listed
 * @param runs what the profiles came to, in order
 */
public record DecisionInputs(
    long at,
    RequestInputs request,
    List<EndpointInputs> endpoints,
    List<PluginConfig> plugins,
    List<RunOutputs> runs) {

  public DecisionInputs {
    endpoints = List.copyOf(endpoints);
    plugins = List.copyOf(plugins);
    runs = List.copyOf(runs);
  }

  /**
   * An endpoint.
   *
   * @param labels of its pod then
   * @param facts what was known of it; null where that isn't kept
   */
  public record EndpointInputs(
      String name,
      String address,
      int port,
      Map<String, String> labels,
      @Nullable EndpointFacts facts) {

    public EndpointInputs {
      labels = Map.copyOf(labels);
    }
  }

  /** Those of a decision. */
  public static DecisionInputs of(Decision decision) {
    List<EndpointInputs> endpoints = new ArrayList<>();
    for (int i = 0; i < decision.candidates(); i++) {
      var spec = decision.spec(i);
      endpoints.add(
          new EndpointInputs(
              spec.name(), spec.address(), spec.port(), spec.labels(), decision.facts(i)));
    }
    return new DecisionInputs(
        decision.at(),
        decision.request(),
        endpoints,
        PluginsByName.listed(decision.config()),
        decision.runs().stream().map(run -> RunOutputs.of(run, decision.candidates())).toList());
  }

  /** The same without the endpoints of which nothing is known: in a large pool, most. */
  public DecisionInputs known() {
    if (endpoints.stream().allMatch(endpoint -> endpoint.facts() != null)) {
      return this;
    }
    Map<Integer, Integer> places = new HashMap<>();
    List<EndpointInputs> known = new ArrayList<>();
    for (int i = 0; i < endpoints.size(); i++) {
      if (endpoints.get(i).facts() != null) {
        places.put(i, known.size());
        known.add(endpoints.get(i));
      }
    }
    return new DecisionInputs(
        at, request, known, plugins, runs.stream().map(run -> run.only(places)).toList());
  }
}
