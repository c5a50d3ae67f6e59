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
 * @param receipts of how many requests it is kept why they went where they did
 */
public record RequestsConfig(
    Criticality unconfiguredModels,
    TimeoutsConfig timeouts,
    boolean trustTimeoutHeaders,
    int retryBudgetPercent,
    FlowTrust trustFlowHeaders,
    ReceiptsConfig receipts) {

  /** Nothing set. */
  public static final RequestsConfig DEFAULT =
      new RequestsConfig(Criticality.STANDARD, TimeoutsConfig.UNSET, false, 20);

  /** What is said of flow control's headers and of receipts is the default. */
  public RequestsConfig(
      Criticality unconfiguredModels,
      TimeoutsConfig timeouts,
      boolean trustTimeoutHeaders,
      int retryBudgetPercent) {
    this(
        unconfiguredModels,
        timeouts,
        trustTimeoutHeaders,
        retryBudgetPercent,
        FlowTrust.DEFAULT,
        ReceiptsConfig.DEFAULT);
  }

  /** The same, but that these headers count for flow control. */
  public RequestsConfig withTrustFlowHeaders(FlowTrust trust) {
    return new RequestsConfig(
        unconfiguredModels, timeouts, trustTimeoutHeaders, retryBudgetPercent, trust, receipts);
  }

  /** The same, but for receipts. */
  public RequestsConfig withReceipts(ReceiptsConfig wanted) {
    return new RequestsConfig(
        unconfiguredModels,
        timeouts,
        trustTimeoutHeaders,
        retryBudgetPercent,
        trustFlowHeaders,
        wanted);
  }
}
