package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fairlead.crds.Lenient;
import io.fairlead.crds.Nesting;
import io.fairlead.crds.PoolReference;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the author of an endpoint picker wants.
 *
 * @param poolRef the pool that it picks for
 * @param frontend what it is to those who send requests, see {@link Frontend}; ext_proc when absent
 * @param image container image; the operator's own default when absent
 * @param replicas 0 to 1,000; absent leaves the number to an autoscaler
 * @param resources of the picker's container; the operator's defaults when absent
 * @param autoscaling how many pods run, in the place of {@code replicas}
 * @param disruptionBudget how many pods may be taken away at once; one when absent
 * @param podTemplate what pods have beyond what the operator gives them
 * @param allowedOrigins whose pages a browser lets call a gateway; everybody's when absent
 * @param tls the certificate that the port shows
 * @param endpointTls how model servers are spoken to; in plain text when absent
 * @param tracing where spans of requests go; nowhere when absent
 * @param capture what is kept of requests; nothing when absent
 * @param handOver how pods that start learn what others know; when absent, as with {@link
 *     HandOverSpec#OWN} where there may be several, and else not at all
 * @param paused whether the operator leaves the picker's objects as they are; no when absent
 * @param console the page that shows people what it does; none when absent
 * @param requests how requests are treated; the defaults when absent
 * @param pluginTypes types of plugins that the image has beyond the shipped ones
 * @param scheduling an object in the shape of upstream's EndpointPickerConfig, checked when it is
 *     compiled; must not be modified
 * @param shadows schedulings that are tried beside it
 * @param schedulingFrom where the scheduling is, in the place of {@code scheduling}
 * @param networkPolicy who may reach the pods; anybody when absent
 * @param monitoring how metrics are found; nothing is made for it when absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndpointPickerSpec(
    @Nullable PoolReference poolRef,
    @Nullable String frontend,
    @Nullable String image,
    @Nullable Integer replicas,
    @Nullable ResourceRequirements resources,
    @Nullable AutoscalingSpec autoscaling,
    @Nullable DisruptionBudgetSpec disruptionBudget,
    @Nullable PodTemplateSpec podTemplate,
    @Nullable List<String> allowedOrigins,
    @Nullable TlsSpec tls,
    @Nullable EndpointTlsSpec endpointTls,
    @Nullable TracingSpec tracing,
    @Nullable CaptureSpec capture,
    @Nullable HandOverSpec handOver,
    @Nullable Boolean paused,
    @Nullable ConsoleSpec console,
    @Nullable RequestsSpec requests,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> pluginTypes,
    @Nullable JsonNode scheduling,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ShadowSpec> shadows,
    @Nullable SchedulingFromSpec schedulingFrom,
    @Nullable NetworkPolicySpec networkPolicy,
    @Nullable MonitoringSpec monitoring) {

  /** What a pool has that no picker's author has said anything of. */
  public static final EndpointPickerSpec DEFAULT =
      new EndpointPickerSpec(
          null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
          null, null, List.of(), null, List.of(), null, null, null);

  public EndpointPickerSpec {
    scheduling = Nesting.cut(scheduling);
    allowedOrigins = allowedOrigins == null ? null : Lenient.list(allowedOrigins);
    shadows = Lenient.list(shadows);
    pluginTypes = Lenient.list(pluginTypes);
  }

  /** The same, and pods begin with nothing. */
  public EndpointPickerSpec withoutHandOver() {
    return new EndpointPickerSpec(
        poolRef,
        frontend,
        image,
        replicas,
        resources,
        autoscaling,
        disruptionBudget,
        podTemplate,
        allowedOrigins,
        tls,
        endpointTls,
        tracing,
        capture,
        HandOverSpec.NONE,
        paused,
        console,
        requests,
        pluginTypes,
        scheduling,
        shadows,
        schedulingFrom,
        networkPolicy,
        monitoring);
  }

  /** The same with other pods. */
  public EndpointPickerSpec withPodTemplate(PodTemplateSpec other) {
    return new EndpointPickerSpec(
        poolRef,
        frontend,
        image,
        replicas,
        resources,
        autoscaling,
        disruptionBudget,
        other,
        allowedOrigins,
        tls,
        endpointTls,
        tracing,
        capture,
        handOver,
        paused,
        console,
        requests,
        pluginTypes,
        scheduling,
        shadows,
        schedulingFrom,
        networkPolicy,
        monitoring);
  }
}
