package io.fairlead.crds.v1alpha2;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import io.fairlead.crds.PoolReference;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the author of a model name wants.
 *
 * @param modelName what a request's {@code model} field says; at most 256 characters, storable
 *     empty
 * @param criticality {@code Critical}, {@code Standard} or {@code Sheddable}; absent counts as
 *     Standard
 * @param targetModels at most 10; empty means the model name itself
 * @param poolRef the pool that serves the name
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record InferenceModelSpec(
    @Nullable String modelName,
    @Nullable String criticality,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<TargetModel> targetModels,
    @Nullable PoolReference poolRef) {
  public InferenceModelSpec {
    targetModels = Lenient.list(targetModels);
  }
}
