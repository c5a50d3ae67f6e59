package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import java.util.List;

/**
 * What controllers say about a pool; one entry per parent. The list is atomic and shared: write it
 * back whole with the resourceVersion that it was read at, or the entries of others are lost.
 *
 * @param parents at most 32 entries
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record InferencePoolStatus(
    @JsonInclude(JsonInclude.Include.NON_EMPTY) List<ParentStatus> parents) {
  public InferencePoolStatus {
    parents = Lenient.list(parents);
  }
}
