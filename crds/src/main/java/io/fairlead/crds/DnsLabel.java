package io.fairlead.crds;

import java.util.regex.Pattern;

/** The syntax of names that are one label of a DNS name (RFC 1123), as those of namespaces are. */
public final class DnsLabel {
  private static final Pattern LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

  private DnsLabel() {}

  /** Whether the name is one: up to 63 lower-case letters, digits and dashes. */
  public static boolean isOne(String name) {
    return LABEL.matcher(name).matches();
  }
}
