package io.fairlead.crds.v1alpha2;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Condition;
import io.fairlead.crds.Lenient;
import java.util.List;

/**
 * What the operator says about a model.
 *
 * @param conditions at most 8, one per type
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record InferenceModelStatus(
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Condition> conditions) {
  public InferenceModelStatus {
    conditions = Lenient.list(conditions);
  }
}
