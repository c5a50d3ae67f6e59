package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import org.jspecify.annotations.Nullable;

/**
 * How many pods may be taken away at once; one of the two is set. Numbers, or texts in per cent,
 * such as 50%.
 *
 * @param minAvailable so many stay; must not be modified
 * @param maxUnavailable so many go; must not be modified
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record DisruptionBudgetSpec(
    @Nullable JsonNode minAvailable, @Nullable JsonNode maxUnavailable) {}
