package io.fairlead.core.view;

import io.fairlead.plugin.Endpoint;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A plugin that can tell one of the same settings in another picker what it has learned, in
 * numbers. It takes what it is told for a beginning, and passes over what makes no sense.
 */
public interface Teachable {

  /** Tells all that is of no single endpoint, by keys of its own. */
  void tell(BiConsumer<String, double[]> to);

  /**
   * What it has learned of an endpoint; null for nothing.
   *
   * @param now in nanoseconds of the pool's clock, which is another in another picker
   */
  double @Nullable [] tell(Endpoint endpoint, long now);

  /** Another has learned this, of no single endpoint. */
  void learn(String key, double[] values);

  /** Another has learned this of the endpoint. */
  void learn(Endpoint endpoint, long now, double[] values);
}
