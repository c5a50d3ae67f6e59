package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * How a pool treats requests, whatever endpoint they go to; checked when it is compiled.
 *
 * @param unconfiguredModels {@code Critical}, {@code Standard} or {@code Sheddable}: how requests
 *     fare whose model no InferenceModel names; Standard when absent
 * @param timeouts of requests whose model says nothing else
 * @param trustTimeoutHeaders whether a request's own headers may set its timeouts; no when absent
 * @param retryBudgetPercent how many requests may be sent again, in per cent of those that arrive;
 *     20 when absent
 * @param trustFlowHeaders whose headers count for flow control
 * @param receipts of how many requests it is kept why they went where they did
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RequestsSpec(
    @Nullable String unconfiguredModels,
    @Nullable TimeoutsSpec timeouts,
    @Nullable Boolean trustTimeoutHeaders,
    @Nullable Integer retryBudgetPercent,
    @Nullable TrustFlowHeadersSpec trustFlowHeaders,
    @Nullable ReceiptsSpec receipts) {}
