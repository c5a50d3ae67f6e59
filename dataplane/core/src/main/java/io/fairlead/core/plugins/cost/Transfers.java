package io.fairlead.core.plugins.cost;

import io.fairlead.core.view.Location;
import io.fairlead.core.view.Memo;
import io.fairlead.plugin.Endpoint;
import io.fairlead.plugin.EndpointAttributes;
import org.jspecify.annotations.Nullable;

/**
 * What it takes to get the keys and values of a prompt from the endpoint that computed it to the
 * one that answers: so much per token, by how near the two are to one another. What is assumed of a
 * network is corrected by first tokens that had nothing else to wait for.
 */
final class Transfers {

  private static final int PREFILL = 0;
  private static final int TRANSFER = 1;

  private final Memo<EndpointAttributes, Location> locations = Memo.ofAttributes(Location::of);
  private final TermFactors[] byNearness = new TermFactors[Location.SAME_HOST + 1];
  private final double[] terms = new double[2];

  Transfers() {
    for (int i = 0; i < byNearness.length; i++) {
      byNearness[i] = new TermFactors(2);
    }
  }

  /**
   * Milliseconds that so many tokens take to an endpoint.
   *
   * @param engine of who takes them
   * @param from who sends them; null for one that isn't known yet, which is as far as can be
   */
  double millis(double tokens, EngineClass engine, Endpoint to, @Nullable Endpoint from) {
    return tokens * engine.transfer() * factor(to, from).factor(TRANSFER);
  }

  /**
   * Somebody's first token had to wait for a prefill and a transfer, and for nobody else.
   *
   * @param prefill milliseconds that the prefill is believed to take
   * @param millis that both took
   */
  void observe(
      double prefill,
      double tokens,
      EngineClass engine,
      Endpoint to,
      Endpoint from,
      double millis) {
    terms[PREFILL] = prefill;
    terms[TRANSFER] = tokens * engine.transfer();
    if (millis > 0 && terms[PREFILL] + terms[TRANSFER] > 0) {
      factor(to, from).observe(terms, millis);
    }
  }

  private TermFactors factor(Endpoint to, @Nullable Endpoint from) {
    int nearness = from == null ? Location.APART : locations.of(to).nearness(locations.of(from));
    return byNearness[nearness];
  }
}
