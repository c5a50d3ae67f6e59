package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The object that a pool's status entry speaks for.
 *
 * @param group API group, {@code gateway.networking.k8s.io} by default
 * @param kind {@code Gateway} by default
 * @param namespace the pool's namespace when absent
 * @param name required by the schema
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ParentReference(
    @Nullable String group,
    @Nullable String kind,
    @Nullable String namespace,
    @Nullable String name) {}
