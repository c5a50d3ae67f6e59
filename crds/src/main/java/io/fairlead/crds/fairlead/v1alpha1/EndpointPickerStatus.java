package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.Lenient;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the operator says about an endpoint picker.
 *
 * @param observedGeneration generation of the spec that the rest speaks of
 * @param replicas pods that exist
 * @param readyReplicas pods that are ready
 * @param selector label selector of the pods as text, for the scale subresource
 * @param configHash hash of the config that every ready replica runs
 * @param models how many InferenceModels the config took
 * @param endpoints how many endpoints the pool has
 * @param image the image that the pods run
 * @param conditions one per type
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndpointPickerStatus(
    @Nullable Long observedGeneration,
    @Nullable Integer replicas,
    @Nullable Integer readyReplicas,
    @Nullable String selector,
    @Nullable String configHash,
    @Nullable ModelCounts models,
    @Nullable EndpointCounts endpoints,
    @Nullable String image,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {
  public EndpointPickerStatus {
    conditions = Lenient.list(conditions);
  }
}
