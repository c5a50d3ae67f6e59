package io.fairlead.crds;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The pool, in the namespace of the object that holds the reference, that an object belongs to.
 *
 * @param group API group of the pool; each kind's CRD has a default of its own
 * @param kind kind of the pool; {@code InferencePool} by default
 * @param name name of the pool; required by the schema, null only in an object that never met it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record PoolReference(@Nullable String group, @Nullable String kind, @Nullable String name) {}
