package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * Whose headers count for flow control, by frontend: {@code All}, {@code None} or {@code Secret}.
 *
 * @param extProc All when absent
 * @param gateway None when absent
 * @param secretSha256 SHA-256 of the secret, 64 hexadecimal digits
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record TrustFlowHeadersSpec(
    @Nullable String extProc, @Nullable String gateway, @Nullable String secretSha256) {}
