package io.fairlead.crds.config;

/**
 * How a pool treats requests, whatever endpoint they go to.
 *
 * @param unconfiguredModels how requests fare whose model no {@link ModelConfig} names
 * @param timeouts of requests whose model says nothing else
 * @param trustTimeoutHeaders whether a request's own headers may set its timeouts
 * @param retryBudgetPercent how many requests may be sent again, in per cent of those that arrive;
 *     0 to 100
 * @param trustFlowHeaders whose headers count for flow control
 */
public record RequestsConfig(
    Criticality unconfiguredModels,
    TimeoutsConfig timeouts,
    boolean trustTimeoutHeaders,
    int retryBudgetPercent,
    FlowTrust trustFlowHeaders) {

  /** Nothing set. */
  public static final RequestsConfig DEFAULT =
      new RequestsConfig(Criticality.STANDARD, TimeoutsConfig.UNSET, false, 20);

  /** The usual ones' headers count for flow control. */
  public RequestsConfig(
      Criticality unconfiguredModels,
      TimeoutsConfig timeouts,
      boolean trustTimeoutHeaders,
      int retryBudgetPercent) {
    this(unconfiguredModels, timeouts, trustTimeoutHeaders, retryBudgetPercent, FlowTrust.DEFAULT);
  }
}
