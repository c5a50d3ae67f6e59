package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.JsonNode;
import io.fairlead.crds.Nesting;
import org.jspecify.annotations.Nullable;

/**
 * A scheduling that is tried beside the one in force.
 *
 * @param name unique in the list
 * @param scheduling in the shape of the spec's own; must not be modified
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ShadowSpec(@Nullable String name, @Nullable JsonNode scheduling) {
  public ShadowSpec {
    scheduling = Nesting.cut(scheduling);
  }
}
