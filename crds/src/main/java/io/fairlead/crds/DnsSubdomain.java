package io.fairlead.crds;

import java.util.regex.Pattern;

/** The syntax of names that are a DNS subdomain (RFC 1123), as those of Secrets are. */
public final class DnsSubdomain {
  private static final int LONGEST = 253;
  private static final Pattern SUBDOMAIN =
      Pattern.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");

  private DnsSubdomain() {}

  /** Whether the name is one: up to 253 characters, lower-case letters, digits, dashes and dots. */
  public static boolean isOne(String name) {
    return name.length() <= LONGEST && SUBDOMAIN.matcher(name).matches();
  }
}
