package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Bounds in time on requests, as Go writes durations.
 *
 * @param firstByte from being sent to the first byte of the answer
 * @param silence between two bytes of the answer
 * @param total from arrival to the end of the answer
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TimeoutsSpec(
    @Nullable String firstByte, @Nullable String silence, @Nullable String total) {}
