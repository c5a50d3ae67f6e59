package io.fairlead.crds.config;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whose headers count that say how important a request is, whose it is and how long it may wait: by
 * the frontend that a request comes to.
 *
 * @param extProc behind a gateway that is trusted to have taken out what clients must not say
 * @param gateway from clients themselves
 * @param secretSha256 SHA-256 of the secret in lower-case hexadecimal digits; null where none is
 *     asked for
 */
public record FlowTrust(Mode extProc, Mode gateway, @Nullable String secretSha256) {

  /** As upstream behind a gateway; nobody's where clients come themselves. */
  public static final FlowTrust DEFAULT = new FlowTrust(Mode.ALL, Mode.NONE, null);

  private static final int DIGITS = 64;

  /** Whose headers count. */
  public enum Mode {
    /** Nobody's. */
    NONE("None"),
    /** Everybody's. */
    ALL("All"),
    /** Those of requests that bring the secret. */
    SECRET("Secret");

    private final String wireName;

    Mode(String wireName) {
      this.wireName = wireName;
    }

    /** The spelling used in resources and config documents. */
    public String wireName() {
      return wireName;
    }
  }

  public FlowTrust {
    boolean asked = extProc == Mode.SECRET || gateway == Mode.SECRET;
    if (asked && secretSha256 == null) {
      throw new IllegalArgumentException("a secret is asked for, and there is none");
    }
    if (secretSha256 != null) {
      secretSha256 = secretSha256.toLowerCase(Locale.ROOT);
      if (secretSha256.length() != DIGITS) {
        throw new IllegalArgumentException("not the digits of a SHA-256");
      }
    }
  }
}
