package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Where a picker's scheduling is, if not in its own spec.
 *
 * @param configMapKeyRef a key of a ConfigMap of the namespace
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SchedulingFromSpec(@Nullable ConfigMapKeyRef configMapKeyRef) {

  /**
   * A key of a ConfigMap.
   *
   * @param name of the ConfigMap
   * @param key under which the document is
   */
  @JsonIgnoreProperties(ignoreUnknown = true)
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record ConfigMapKeyRef(@Nullable String name, @Nullable String key) {}
}
