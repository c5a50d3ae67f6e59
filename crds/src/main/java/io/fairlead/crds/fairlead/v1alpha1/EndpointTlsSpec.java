package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * How a picker speaks TLS to model servers.
 *
 * @param serverName that certificates must be for; each endpoint's address when absent
 * @param caConfigMap ConfigMap whose key {@code ca.crt} holds the authorities to trust
 * @param caSecret the same of a Secret; of the picker's image where neither is set
 * @param insecureSkipVerify whether any certificate will do; no when absent
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record EndpointTlsSpec(
    @Nullable String serverName,
    @Nullable String caConfigMap,
    @Nullable String caSecret,
    @Nullable Boolean insecureSkipVerify) {

  /** Whether any certificate will do. */
  public boolean isUnverified() {
    return Boolean.TRUE.equals(insecureSkipVerify);
  }
}
