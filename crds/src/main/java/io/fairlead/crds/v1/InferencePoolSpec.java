package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the author of a pool wants.
 *
 * @param selector which pods of the namespace are the pool's
 * @param targetPorts 1–8 distinct ports; every port of every pod is an endpoint of its own
 * @param appProtocol {@code http} (default) or {@code kubernetes.io/h2c}
 * @param endpointPickerRef the Service of the endpoint picker that gateways ask
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record InferencePoolSpec(
    @Nullable PoolSelector selector,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Port> targetPorts,
    @Nullable String appProtocol,
    @Nullable EndpointPickerRef endpointPickerRef) {
  public InferencePoolSpec {
    targetPorts = Lenient.list(targetPorts);
  }
}
