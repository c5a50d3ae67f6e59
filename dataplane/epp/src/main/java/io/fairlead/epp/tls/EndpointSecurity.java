package io.fairlead.epp.tls;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** How endpoints are spoken to. */
public sealed interface EndpointSecurity {

  /** In plain text. */
  record PlainText() implements EndpointSecurity {}

  /** Over TLS, with whoever answers. */
  record Unverified() implements EndpointSecurity {}

  /**
   * Over TLS, with who has a certificate.
   *
   * @param authorities PEM file of those whose certificates count; null for those that the machine
   *     trusts
   * @param name that certificates must be for, and which is asked for; null for each endpoint's
   *     address
   */
  record Verified(@Nullable Path authorities, @Nullable String name) implements EndpointSecurity {}
}
