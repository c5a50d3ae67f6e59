package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Where spans of requests go.
 *
 * @param endpoint URL of a collector
 * @param samplingPercent of requests whose callers don't trace them, 0 to 100; none when absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record TracingSpec(@Nullable String endpoint, @Nullable Integer samplingPercent) {}
