package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A metric of pods by which they are scaled.
 *
 * @param name what an adapter of custom metrics calls it
 * @param averageValue what it is to be on average of all pods; a quantity
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record PodMetricSpec(@Nullable String name, @Nullable String averageValue) {}
