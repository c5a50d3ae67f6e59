package io.fairlead.core.health;

import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who refuses what, by model and endpoint: only of what was refused of late, and no more than a
 * bounded number of pairs.
 */
final class ModelRefusals {

  /** Pairs of a model and an endpoint that are kept: some megabyte. */
  private static final int MOST = 10_000;

  private final Map<String, Refusers> models = new HashMap<>();
  private final int most;
  private int count;

  ModelRefusals() {
    this(MOST);
  }

  ModelRefusals(int most) {
    this.most = most;
  }

  /** Those that refuse the model; null where nobody does. */
  @Nullable Refusers of(String model) {
    return models.isEmpty() ? null : models.get(model);
  }

  /**
   * The endpoint refused the model.
   *
   * @param begun whether {@link #served} was told of the same request
   * @return false if there is no room to remember it
   */
  boolean refused(long now, EndpointHealth endpoint, String model, boolean begun) {
    Refusers those = models.get(model);
    if (those == null || !those.has(endpoint)) {
      if (count == most) {
        return false;
      }
      count++;
    }
    if (those == null) {
      those = new Refusers();
      models.put(model, those);
    }
    those.refused(now, endpoint, begun);
    return true;
  }

  /** The endpoint serves the model. */
  void served(long now, EndpointHealth endpoint, String model) {
    Refusers those = of(model);
    if (those != null) {
      those.served(now, endpoint);
    }
  }

  /** All that the endpoint refused was of a former life. */
  void forget(EndpointHealth endpoint) {
    models.values().forEach(those -> those.forget(endpoint));
    recount();
  }

  /** Time has passed. */
  void age(long now) {
    if (!models.isEmpty()) {
      models.values().forEach(those -> those.age(now));
      recount();
    }
  }

  /** The pool's endpoints are others, or have other places. */
  void replaced() {
    models.values().forEach(Refusers::replaced);
    recount();
  }

  private void recount() {
    count = 0;
    for (Iterator<Refusers> each = models.values().iterator(); each.hasNext(); ) {
      Refusers those = each.next();
      count += those.count();
      if (those.count() == 0) {
        each.remove();
      }
    }
  }
}
