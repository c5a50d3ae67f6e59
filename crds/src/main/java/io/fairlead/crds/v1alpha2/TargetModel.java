package io.fairlead.crds.v1alpha2;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A model or adapter, as the model servers name it, that answers for a model name.
 *
 * @param name at most 253 characters, storable empty
 * @param weight 1–1,000,000, relative to the other targets; on all targets or on none
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TargetModel(@Nullable String name, @Nullable Integer weight) {}
