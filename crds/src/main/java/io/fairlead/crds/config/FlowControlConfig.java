package io.fairlead.crds.config;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Upstream's {@code flowControl} section: what is held back when the pool is full. A null says
 * nothing, and the default holds.
 *
 * @param maxBytes most bytes of request bodies queued, over all bands; 0 for no limit
 * @param maxRequests most requests queued, over all bands; 0 for no limit
 * @param defaultRequestTtl longest time in the queue; zero for no limit
 * @param noEndpointRequestTtl longest time in the queue while there is no endpoint
 * @param enableEviction whether sheddable requests that were sent are ended for more important ones
 *     that wait, as long as no byte of their answer has come
 * @param saturationDetector name of the plugin that says when an endpoint is full
 * @param usageLimitPolicy name of the plugin that says how full the pool may be for a band
 * @param defaultPriorityBand bands that are not listed
 * @param defaultNegativePriorityBand those of them with a priority below 0, where it is set
 * @param priorityBands bands by unique priority
 */
public record FlowControlConfig(
    @Nullable Long maxBytes,
    @Nullable Long maxRequests,
    @Nullable Duration defaultRequestTtl,
    @Nullable Duration noEndpointRequestTtl,
    @Nullable Boolean enableEviction,
    @Nullable String saturationDetector,
    @Nullable String usageLimitPolicy,
    @Nullable Band defaultPriorityBand,
    @Nullable Band defaultNegativePriorityBand,
    List<Band> priorityBands) {

  public FlowControlConfig {
    priorityBands = List.copyOf(priorityBands);
  }

  /**
   * Requests of one priority.
   *
   * @param priority higher goes first; null in the defaults
   * @param maxBytes most bytes of request bodies queued; 0 for the default
   * @param maxRequests most requests queued; 0 for the default
   * @param fairnessPolicy name of the plugin that says whose turn it is
   * @param orderingPolicy name of the plugin that orders the requests of one flow
   */
  public record Band(
      @Nullable Integer priority,
      @Nullable Long maxBytes,
      @Nullable Long maxRequests,
      @Nullable String fairnessPolicy,
      @Nullable String orderingPolicy) {}
}
