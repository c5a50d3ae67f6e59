package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Endpoints of the picker's pool: pods times target ports.
 *
 * @param matching those whose pod matches the selector
 * @param ready those of ready pods
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndpointCounts(@Nullable Integer matching, @Nullable Integer ready) {}
