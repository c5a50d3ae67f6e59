package io.fairlead.crds.fairlead.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * The page that shows people what a picker does.
 *
 * @param enabled whether there is one; no when absent
 * @param tokenSecretRef where the token is that clients of other hosts must bring; absent shows the
 *     page to clients of a forwarded port alone
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ConsoleSpec(@Nullable Boolean enabled, @Nullable SecretKeyRef tokenSecretRef) {

  /** Whether there is one. */
  public boolean isEnabled() {
    return Boolean.TRUE.equals(enabled);
  }
}
