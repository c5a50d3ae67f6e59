package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * How pods of a picker hand over what they know to those that start.
 *
 * @param enabled false for pods that begin with nothing; true when absent
 * @param secretName Secret whose key {@code secret} they share; one that the operator makes when
 *     absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record HandOverSpec(@Nullable Boolean enabled, @Nullable String secretName) {

  /** Pods begin with nothing. */
  public static final HandOverSpec NONE = new HandOverSpec(false, null);

  /** By the Secret that the operator makes. */
  public static final HandOverSpec OWN = new HandOverSpec(null, null);
}
