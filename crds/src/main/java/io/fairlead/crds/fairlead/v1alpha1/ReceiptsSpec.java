package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Of how many requests it is kept why they went where they did.
 *
 * @param keep the newest so many; 0 for none
 * @param every one in so many requests
 * @param responseHeader whether clients that are trusted, and ask, are told in their responses
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ReceiptsSpec(
    @Nullable Integer keep, @Nullable Integer every, @Nullable Boolean responseHeader) {}
