package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.fairlead.crds.Lenient;
import java.util.Map;

/**
 * Selects pods that carry every one of these labels.
 *
 * @param matchLabels 1–64 labels; the schema checks the values' syntax but not the keys'
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PoolSelector(
    @JsonInclude(JsonInclude.Include.NON_EMPTY) Map<String, String> matchLabels) {
  public PoolSelector {
    matchLabels = Lenient.map(matchLabels);
  }
}
