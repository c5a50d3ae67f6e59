package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * InferenceModels that name the picker's pool.
 *
 * @param accepted those in the config
 * @param rejected those left out; each says why in its own status
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ModelCounts(@Nullable Integer accepted, @Nullable Integer rejected) {}
