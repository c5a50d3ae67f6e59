package io.fairlead.crds.v1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Where gateways reach the pool's endpoint picker.
 *
 * @param group API group; empty (the default) is the core group
 * @param kind {@code Service} by default
 * @param name name in the pool's namespace; the schema sets no syntax
 * @param port the <em>Service</em> port; required when {@code kind} is {@code Service}
 * @param failureMode {@code FailOpen} or {@code FailClose} (default): what a gateway does when the
 *     picker does not answer
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndpointPickerRef(
    @Nullable String group,
    @Nullable String kind,
    @Nullable String name,
    @Nullable Port port,
    @Nullable String failureMode) {}
