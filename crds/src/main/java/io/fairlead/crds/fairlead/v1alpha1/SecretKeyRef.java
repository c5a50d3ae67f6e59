package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * A key of a Secret of the same namespace.
 *
 * @param name of the Secret
 * @param key its key; the user of the reference has one for when it is absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SecretKeyRef(@Nullable String name, @Nullable String key) {}
