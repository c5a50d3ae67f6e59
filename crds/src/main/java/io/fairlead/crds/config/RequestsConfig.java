package io.fairlead.crds.config;

/**
 * How a pool treats requests, whatever endpoint they go to.
 *
 * @param unconfiguredModels how requests fare whose model no {@link ModelConfig} names
 * @param timeouts of requests whose model says nothing else
 * @param trustTimeoutHeaders whether a request's own headers may set its timeouts
 * @param retryBudgetPercent how many requests may be sent again, in per cent of those that arrive;
 *     0 to 100
 */
public record RequestsConfig(
    Criticality unconfiguredModels,
    TimeoutsConfig timeouts,
    boolean trustTimeoutHeaders,
    int retryBudgetPercent) {

  /** Nothing set. */
  public static final RequestsConfig DEFAULT =
      new RequestsConfig(Criticality.STANDARD, TimeoutsConfig.UNSET, false, 20);
}
