package io.fairlead.epp.director;

import io.fairlead.core.RequestHeaders;
import io.fairlead.crds.config.FlowTrust;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Whose headers count for flow control, as a config says it. Only a digest of the secret is known
 * here; digests are compared in a time that tells nothing of them.
 */
final class HeaderTrust {

  /** Holds the secret; for the picker alone: no endpoint gets it, no plugin sees it. */
  static final String SECRET = "x-fairlead-trust-secret";

  /** As long as nothing else is configured. */
  static final HeaderTrust DEFAULT = new HeaderTrust(FlowTrust.DEFAULT);

  private static final int LONGEST_SECRET = 1_024;

  private final FlowTrust config;
  private final byte @Nullable [] digest;

  HeaderTrust(FlowTrust config) {
    this.config = config;
    String digits = config.secretSha256();
    digest = digits == null ? null : HexFormat.of().parseHex(digits);
  }

  /** Whether a request of this origin is believed. */
  boolean trusts(Origin origin, RequestHeaders headers) {
    FlowTrust.Mode mode =
        switch (origin) {
          case EXT_PROC -> config.extProc();
          case GATEWAY -> config.gateway();
        };
    return switch (mode) {
      case ALL -> true;
      case NONE -> false;
      case SECRET -> bringsSecret(headers);
    };
  }

  private boolean bringsSecret(RequestHeaders headers) {
    String secret = headers.first(SECRET);
    return secret != null
        && digest != null
        && secret.length() <= LONGEST_SECRET
        && MessageDigest.isEqual(digest, sha256(secret));
  }

  private static byte[] sha256(String secret) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(secret.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
